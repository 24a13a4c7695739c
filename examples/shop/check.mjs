// The four patterns of chains over a small shop, and a fast audit: what ran, in which order, and
// what the last steps learned from those before them.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'

const skills = 'examples/shop/skills'

const tests = run('chain-test')
assert.deepEqual(names(tests), [
  'test-smoke',
  'test-unit',
  'test-contract',
  'test-e2e',
  'test-integration',
  'test-regression',
  'test-load',
  'audit-qos',
])
assert.match(tests.at(-1).result, /^101 orders in the tests/)

const security = run('chain-security')
assert.deepEqual(names(security), [
  'hat-white',
  'audit-security',
  'review-code',
  'audit-reliability',
])

const deploy = run('chain-deploy')
assert.equal(deploy.at(-1).result, 'deploy')
assert.equal(deploy.at(-1).metrics.steps, 3)

const audit = run('chain-audit')
assert.deepEqual(names(audit), ['audit-general', 'audit-qc', 'chain-security', 'chain-test'])
assert.equal(audit.at(-1).steps.length, 8)

const fast = run('audit-fast')
assert.deepEqual(names(fast), ['audit-security', 'audit-qc', 'audit-ops'])

function run(chain) {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['dist/cli/bin.cjs', 'run', `${skills}/${chain}`, '--trust-workspace', '--json', '--quiet'],
    { encoding: 'utf8' },
  )
  assert.equal(status, 0, stderr + stdout)
  const { steps } = JSON.parse(stdout).attempts.at(-1)
  assert.deepEqual(
    steps.filter((step) => step.status !== 'success'),
    [],
  )
  return steps
}

function names(steps) {
  return steps.map((step) => step.step)
}
