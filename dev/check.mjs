// Everything that must hold before a change lands, in one command. Every step runs even when an
// earlier one failed; the last line counts steps and tests together.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'

const scratch = mkdtempSync(join(tmpdir(), 'skillrail-check-'))
const report = join(scratch, 'tests.json')
const sources = ['src', 'test', 'dev', 'examples', 'skills']

/** Name, then the command; programs are those in node_modules/.bin. */
const steps = [
  ['build', ['node', 'dev/build.mjs']],
  ['format', ['oxfmt', '--check', '.']],
  ['lint', ['oxlint', '--type-aware', '--deny-warnings', ...sources]],
  ['types', ['tsc', '-p', 'tsconfig.json']],
  ['types of the page', ['tsc', '-p', 'src/view/page/tsconfig.json']],
  ['unused code', ['knip', '--no-progress']],
  ['generated files', ['node', 'dev/generate.mjs', '--check']],
  [
    'tests',
    ['vitest', 'run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`],
  ],
  ['examples', ['node', 'examples/run-all.mjs']],
]

let passed = 0
let failed = 0
for (const [name, command] of steps) count(run(name, command))
countTests()
rmSync(scratch, { recursive: true, force: true })
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1

function run(name, [program, ...rest]) {
  console.log(`\n> ${name}: ${[program, ...rest].join(' ')}`)
  const started = performance.now()
  const path = [resolve('node_modules/.bin'), process.env.PATH].join(delimiter)
  const { status, error } = spawnSync(program, rest, {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, PATH: path },
    shell: process.platform === 'win32',
  })
  if (error !== undefined) console.error(error.message)
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  console.log(`${status === 0 ? 'ok' : 'FAILED'} ${name} (${seconds} s)`)
  return status === 0
}

function count(ok) {
  if (ok) passed++
  else failed++
}

function countTests() {
  try {
    const { numPassedTests, numFailedTests } = JSON.parse(readFileSync(report, 'utf8'))
    passed += numPassedTests
    failed += numFailedTests
  } catch {
    failed++ // The test runner ended without a report.
  }
}
