// Runs the tests of the skill in this folder, as an author of skills would.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

const vitest = join(import.meta.dirname, '../../node_modules/vitest/vitest.mjs')
const { status } = spawnSync(process.execPath, [vitest, 'run', '--root', import.meta.dirname], {
  stdio: 'inherit',
})
process.exitCode = status ?? 1
