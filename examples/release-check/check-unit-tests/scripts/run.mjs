import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const room = process.argv[2] ?? 'base'
const report = join(process.env.SKILLRAIL_SCRATCH ?? '.', 'unit-tests.json')
spawnSync(
  process.execPath,
  [
    'node_modules/vitest/vitest.mjs',
    'run',
    `test/${room}/`,
    '--reporter=json',
    '--outputFile',
    report,
  ],
  { stdio: 'ignore' },
)
const { numPassedTests, numFailedTests, success } = JSON.parse(readFileSync(report, 'utf8'))

console.log(`output:
  status: ${success ? 'success' : 'failure'}
  result: ${numPassedTests} tests of ${room} passed, ${numFailedTests} failed
  metrics:
    tests_passed: ${numPassedTests}
    tests_failed: ${numFailedTests}`)
