// The chain over this repository succeeds, in order, and its last step saw the others' results.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'

const plan = ['chain', 'plan', 'examples/release-check/pull-request', '--trust-workspace']
assert.equal(spawnSync(process.execPath, ['dist/cli/bin.cjs', ...plan]).status, 0)
const chain = 'examples/release-check/release-check'
const { status, stdout, stderr } = spawnSync(
  process.execPath,
  ['dist/cli/bin.cjs', 'run', chain, '--trust-workspace', '--json'],
  { encoding: 'utf8' },
)
assert.equal(status, 0, stderr + stdout)
const result = JSON.parse(stdout)
const [attempt] = result.attempts
assert.deepEqual(
  attempt.steps.map((step) => [step.skill, step.status]),
  [
    ['check-types', 'success'],
    ['check-unit-tests', 'success'],
    ['check-licences', 'success'],
    ['check-changelog', 'success'],
    ['check-secrets', 'success'],
    ['summarise-checks', 'success'],
  ],
)
assert.equal(attempt.steps[5].metrics.checks, 5)
assert.match(attempt.steps[5].result, /ready for a release: the sources type-check/)
