// What `npm start` shows a newcomer: a real chain of skills over this very repository.
import { spawnSync } from 'node:child_process'

const chain = 'examples/release-check/release-check'
const { status } = spawnSync(
  process.execPath,
  ['dist/cli/bin.cjs', 'run', chain, '--trust-workspace'],
  { stdio: 'inherit' },
)

console.error(`
That was a chain of six skills, declared in ${chain}/SKILL.md. Try next:
  npm run -s skillrail                        how this project stands, and what to fix
  npm run -s skillrail -- runs show latest    the run, step by step
  npm run -s skillrail -- chain plan ${chain} --trust-workspace
  npm run -s skillrail -- validate examples/release-check
  npm run -s skillrail -- --help`)
process.exitCode = status ?? 1
