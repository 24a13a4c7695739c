import type { Reporter, TestCase, TestModule, TestSuite } from 'vitest/node'
import { prdSections, rowId } from '../../scripts/prd-rows.mjs'

/** A test about rows, by its name or that of a block around it. */
export const rowName: RegExp = new RegExp(`(?:^| )${rowId}(?:[,:]|$)`)

const named = new RegExp(`^${rowId}(?:, ${rowId})*(?=:|$)`)

/** Prints every row of the requirements with its verdict; one without a run or a reason fails. */
export class RowsReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const states = new Map<string, string[]>()
    for (const test of modules.flatMap((module) => [...module.children.allTests()])) {
      const { state } = test.result()
      for (const row of rowsOf(test)) states.set(row, [...(states.get(row) ?? []), state])
    }
    const verdicts = prdSections
      .flatMap(({ rows }) => rows)
      .map(([row, asks, { differs, bench } = {}]) => {
        const reason = differs ?? (bench && `A time, which ${bench} measures.`)
        const verdict = verdictOf(states.get(row) ?? [], reason !== undefined)
        const why =
          reason === undefined ? '' : ` (${verdict === 'passed' ? 'differs: ' : ''}${reason})`
        return { verdict, line: `${verdict.padEnd(14)} ${row}: ${asks}${why}` }
      })
    const count = (wanted: Verdict): number =>
      verdicts.filter(({ verdict }) => verdict === wanted).length
    const [passed, failed] = [count('passed'), count('failed') + count('not run')]
    const others = count('does not apply')
    process.stdout.write(
      `\n${verdicts.map(({ line }) => line).join('\n')}\n\n${verdicts.length} rows; ${others} do not apply\n${passed} passed, ${failed} failed\n`,
    )
    if (failed > 0) process.exitCode = 1
  }
}

type Verdict = 'passed' | 'failed' | 'not run' | 'does not apply'

function verdictOf(states: readonly string[], hasReason: boolean): Verdict {
  const ran = states.filter((state) => state !== 'skipped')
  if (ran.length === 0) return hasReason ? 'does not apply' : 'not run'
  return ran.every((state) => state === 'passed') ? 'passed' : 'failed'
}

/** The rows that a test and the blocks around it are named for. */
function rowsOf(test: TestCase | TestSuite): string[] {
  const [own = ''] = named.exec(test.name) ?? []
  const outer = test.parent.type === 'suite' ? rowsOf(test.parent) : []
  return [...(own === '' ? [] : own.split(', ')), ...outer]
}
