// Everything that must hold before a change lands, in one command. Every step runs even when an
// earlier one failed; the last line counts steps and tests together.
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'

const scratch = mkdtempSync(join(tmpdir(), 'skillrail-check-'))
const report = join(scratch, 'tests.json')
const sources = ['src', 'test', 'dev', 'examples', 'skills']

/** Groups in order; the steps of a group run beside each other. A name, then the command from node_modules/.bin. */
const groups = [
  [['build', ['node', 'dev/build.mjs']]],
  [
    ['format', ['oxfmt', '--check', '.']],
    ['lint', ['oxlint', '--type-aware', '--deny-warnings', ...sources]],
    ['types', ['tsc', '-p', 'tsconfig.json']],
    ['types of the page', ['tsc', '-p', 'src/view/page/tsconfig.json']],
    ['unused code', ['knip', '--no-progress']],
    ['generated files', ['node', 'dev/generate.mjs', '--check']],
  ],
  [
    [
      'tests',
      ['vitest', 'run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`],
    ],
  ],
  [['examples', ['node', 'examples/run-all.mjs']]],
]

let passed = 0
let failed = 0
for (const group of groups) {
  const runs = group.map((step) => run(step, group.length > 1))
  // Each prints its whole output when those before it have printed theirs.
  for (const ended of runs) count((await ended)())
}
countTests()
rmSync(scratch, { recursive: true, force: true })
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1

/** Runs a step, then returns a function that prints its result and returns whether it succeeded. */
async function run([name, [program, ...rest]], isCaptured) {
  const title = `\n> ${name}: ${[program, ...rest].join(' ')}`
  if (!isCaptured) console.log(title)
  const started = performance.now()
  const path = [resolve('node_modules/.bin'), process.env.PATH].join(delimiter)
  const output = isCaptured ? 'pipe' : 'inherit'
  const child = spawn(program, rest, {
    stdio: ['ignore', output, output],
    env: { ...process.env, PATH: path },
    shell: process.platform === 'win32',
  })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (part) => (text += part))
  }
  const status = await new Promise((resolved) => {
    child.on('error', (error) => {
      text += `${error.message}\n`
      resolved(undefined)
    })
    child.on('close', resolved)
  })
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  return () => {
    if (isCaptured) console.log(title)
    process.stdout.write(text)
    console.log(`${status === 0 ? 'ok' : 'FAILED'} ${name} (${seconds} s)`)
    return status === 0
  }
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
