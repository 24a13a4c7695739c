import { relative } from 'node:path'
import type { Reporter, TestCase, TestModule, TestSuite } from 'vitest/node'
import { type Row, sections } from './rows.ts'
import { titlePattern } from './titles.ts'

type Verdict = 'passed' | 'failed' | 'not run' | 'does not apply'

/** A test that ran: its file, its titles from the outermost block inwards, and how it ended. */
interface Outcome {
  readonly file: string
  readonly titles: readonly string[]
  readonly state: string
}

/** Prints the verdict of every row; a row with a test that fails or does not run fails. */
export class RowsReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const outcomes = modules.flatMap(outcomesOf)
    const verdicts = sections
      .flatMap(({ rows }) => rows)
      .map((row) => {
        const verdict = verdictOf(row, outcomes)
        return { verdict, line: `${verdict.padEnd(14)} ${row.id}: ${row.asks}${reasonOf(row)}` }
      })
    const count = (wanted: Verdict): number =>
      verdicts.filter(({ verdict }) => verdict === wanted).length
    const [passed, failed] = [count('passed'), count('failed') + count('not run')]
    process.stdout.write(
      `\n${verdicts.map(({ line }) => line).join('\n')}\n\n${verdicts.length} rows; ${count('does not apply')} do not apply\n${passed} passed, ${failed} failed\n`,
    )
    if (failed > 0) process.exitCode = 1
  }
}

function outcomesOf(module: TestModule): Outcome[] {
  const file = relative(process.cwd(), module.moduleId).replaceAll('\\', '/')
  return [...module.children.allTests()]
    .map((test) => ({ file, titles: titlesOf(test), state: test.result().state }))
    .filter(({ state }) => state !== 'skipped')
}

function titlesOf(test: TestCase | TestSuite): string[] {
  const outer = test.parent.type === 'suite' ? titlesOf(test.parent) : []
  return [...outer, test.name]
}

/** Each test that a row names has to run: one test that passes does not make up for another one. */
function verdictOf({ tests = {}, differs, bench }: Row, outcomes: readonly Outcome[]): Verdict {
  const expected = Object.entries(tests).flatMap(([file, titles]) =>
    titles.map((title) => ({ file, pattern: new RegExp(`^${titlePattern(title)}$`) })),
  )
  if (expected.length === 0) {
    return differs === undefined && bench === undefined ? 'not run' : 'does not apply'
  }
  const states = expected.map(({ file, pattern }) =>
    outcomes
      .filter(
        (outcome) => outcome.file === file && outcome.titles.some((name) => pattern.test(name)),
      )
      .map(({ state }) => state),
  )
  if (states.some((ran) => ran.length === 0)) return 'not run'
  return states.flat().every((state) => state === 'passed') ? 'passed' : 'failed'
}

function reasonOf({ differs, bench }: Row): string {
  if (bench !== undefined) return ` (a time, which ${bench} measures)`
  return differs === undefined ? '' : ` (differs: ${differs})`
}
