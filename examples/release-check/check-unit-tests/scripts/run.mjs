import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const part = process.argv[2] ?? 'trigger'
const report = join(process.env.SKILLRAIL_SCRATCH ?? '.', 'unit-tests.json')
spawnSync(
  process.execPath,
  [
    'node_modules/vitest/vitest.mjs',
    'run',
    `test/${part}/`,
    '--reporter=json',
    '--outputFile',
    report,
  ],
  { stdio: 'ignore' },
)
const { numPassedTests, numFailedTests, success } = JSON.parse(readFileSync(report, 'utf8'))

console.log(`output:
  status: ${success ? 'success' : 'failure'}
  result: ${numPassedTests} tests of ${part} passed, ${numFailedTests} failed
  metrics:
    tests_passed: ${numPassedTests}
    tests_failed: ${numFailedTests}`)
