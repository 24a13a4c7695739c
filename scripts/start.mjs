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
  npm run -s skillrail -- runs list           what has run here
  npm run -s skillrail -- runs show <id>      one run, step by step
  npm run -s skillrail -- chain plan ${chain} --trust-workspace
  npm run -s skillrail -- validate examples/release-check
  npm run -s skillrail -- --help`)
process.exitCode = status ?? 1
