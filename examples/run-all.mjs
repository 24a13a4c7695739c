// Runs every example of this folder; each one checks its own result and fails when it is wrong.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'

const examples = readdirSync(import.meta.dirname, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map((entry) => entry.name)
  .toSorted()

const readme = readFileSync(new URL('README.md', import.meta.url), 'utf8')

let failed = 0
for (const name of examples) {
  const check = `examples/${name}/check.mjs`
  if (!existsSync(check)) throw new Error(`examples/${name} has no check.mjs`)
  if (!readme.includes(`[${name}](`)) throw new Error(`README.md does not name ${name}`)
  const { status } = spawnSync(process.execPath, [check], { stdio: 'inherit' })
  console.log(`${status === 0 ? 'ok' : 'FAILED'} examples/${name}`)
  if (status !== 0) failed++
}
process.exitCode = failed === 0 ? 0 : 1
