// Exits with 0 if a new version is prepared: in package.json, in the changelog, and committed.
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
const pushed = execFileSync('git', ['show', 'origin/main:package.json'], { encoding: 'utf8' })
const isCommitted = spawnSync('git', ['diff', '--quiet', 'HEAD']).status === 0
const headings = readFileSync('CHANGELOG.md', 'utf8').split('\n')

const problems = [
  JSON.parse(pushed).version === version && `package.json still has the version ${version}`,
  !headings.includes(`## ${version}`) && `CHANGELOG.md has no section "## ${version}"`,
  !isCommitted && 'there are changes that are not committed',
].filter(Boolean)

for (const problem of problems) console.error(problem)
process.exitCode = problems.length === 0 ? 0 : 1
