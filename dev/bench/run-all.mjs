// Runs every benchmark of this folder, one after the other; each prints its own table of ratios.
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'

const benches = readdirSync(import.meta.dirname)
  .filter((file) => /^[a-z]\S*\.mjs$/.test(file) && file !== 'run-all.mjs')
  .toSorted()

// It makes a start of Node 20 three times as slow, which would flatter every ratio.
const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env

for (const file of benches) {
  console.log(`\n# ${file}`)
  const { status } = spawnSync(process.execPath, [join(import.meta.dirname, file)], {
    stdio: 'inherit',
    env,
  })
  if (status !== 0) process.exitCode = 1
}
