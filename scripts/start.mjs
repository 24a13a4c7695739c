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
  npx skillrail runs list                what has run here
  npx skillrail runs show <id>           one run, step by step
  npx skillrail chain plan ${chain}
  npx skillrail validate examples/release-check
  npx skillrail --help`)
process.exitCode = status ?? 1
