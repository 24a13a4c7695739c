// Runs every example of this folder, as many at a time as there are cores; each one checks its own result
// and fails when it is wrong.
import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { text } from 'node:stream/consumers'

const examples = readdirSync(import.meta.dirname, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map((entry) => entry.name)
  .toSorted()

const readme = readFileSync(new URL('README.md', import.meta.url), 'utf8')

for (const name of examples) {
  if (!existsSync(checkOf(name))) throw new Error(`examples/${name} has no check.mjs`)
  if (!readme.includes(`[${name}](`)) throw new Error(`README.md does not name ${name}`)
}

const waiting = examples.values()
let failed = 0
await Promise.all(Array.from({ length: availableParallelism() }, runWaiting))
process.exitCode = failed === 0 ? 0 : 1

/** Takes one example after the other, until none is left. */
async function runWaiting() {
  for (const name of waiting) {
    const { status, output } = await run(name)
    process.stdout.write(output)
    console.log(`${status === 0 ? 'ok' : 'FAILED'} examples/${name}`)
    if (status !== 0) failed++
  }
}

async function run(name) {
  const child = spawn(process.execPath, [checkOf(name)], { stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = new Promise((resolve) => child.on('close', resolve))
  const [status, stdout, stderr] = await Promise.all([
    ended,
    text(child.stdout),
    text(child.stderr),
  ])
  return { status, output: stdout + stderr }
}

function checkOf(name) {
  return `examples/${name}/check.mjs`
}
