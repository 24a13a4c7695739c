// Coverage of src/ by lines. Most of the command line runs in processes of its own, which the test
// runner does not see: Node writes their coverage to a folder, and a line counts that either saw.
// A test that fails is told and fails the whole; what was seen is reported all the same.
// Suites that need servers of their own, or a browser, are not part of it, so neither is what only they
// reach.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative, resolve, sep } from 'node:path'

const least = 90
const onlyInServers = ['src/chain/restate/', 'src/view/page/']
const scratch = mkdtempSync(join(tmpdir(), 'skillrail-coverage-'))
const [processes, report, tests] = ['processes', 'report', 'tests'].map((name) =>
  join(scratch, name),
)

const { status } = spawnSync(
  'vitest',
  [
    'run',
    '--reporter=dot',
    '--silent=passed-only',
    '--coverage',
    '--coverage.reportOnFailure',
    '--coverage.reporter=json',
    `--coverage.reportsDirectory=${tests}`,
  ],
  { stdio: 'inherit', env: { ...process.env, SKILLRAIL_TEST_COVERAGE: processes } },
)
execFileSync('c8', [
  'report',
  `--temp-directory=${processes}`,
  `--report-dir=${report}`,
  '--reporter=json',
  '--include=src/**',
])
const seenInTests = linesOf(join(tests, 'coverage-final.json'))
const seenInProcesses = linesOf(join(report, 'coverage-final.json'))
rmSync(scratch, { recursive: true, force: true })

const rooms = new Map()
for (const [file, lines] of seenInTests) {
  if (onlyInServers.some((folder) => file.startsWith(folder))) continue
  const room = file.split('/').slice(0, 2).join('/')
  const count = rooms.get(room) ?? { covered: 0, total: 0 }
  for (const [line, hits] of lines) {
    const elsewhere = seenInProcesses.get(file)?.get(line) ?? 0
    if (hits + elsewhere > 0) count.covered++
    count.total++
  }
  rooms.set(room, count)
}
const all = { covered: 0, total: 0 }
for (const [room, { covered, total }] of [...rooms].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
  if (total > 0) print(room, covered, total)
  all.covered += covered
  all.total += total
}
print('all', all.covered, all.total)
process.exitCode = status === 0 && percent(all.covered, all.total) >= least ? 0 : 1

/** Hits of each line with a statement, by file relative to the root. */
function linesOf(path) {
  const files = Object.values(JSON.parse(readFileSync(path, 'utf8')))
  return new Map(
    files.map((file) => {
      const lines = new Map()
      for (const [id, { start }] of Object.entries(file.statementMap)) {
        lines.set(start.line, Math.max(lines.get(start.line) ?? 0, file.s[id]))
      }
      return [relative(resolve('.'), file.path).split(sep).join('/'), lines]
    }),
  )
}

function print(name, covered, total) {
  console.log(
    `${name.padEnd(16)} ${percent(covered, total).toFixed(1)} %  ${covered} of ${total} lines`,
  )
}

function percent(covered, total) {
  return (100 * covered) / total
}
