import type { Runtime } from '../base/index.ts'
import { failedOutput } from '../exec/index.ts'
import type { Executor } from './executor.ts'
import type { RunJournal } from './run-journal.ts'

/**
 * Steps that an agent does while it is driven through a run: handed out, then judged by what it
 * reports. Time-outs hold between the two, however many processes come and go in between.
 */
export function drivenExecutor(journal: RunJournal, clock: Pick<Runtime, 'now'>): Executor {
  return {
    kind: 'driven',
    async execute({ call }) {
      const handed = journal.handed.get(call.key)
      const handedAt = handed === undefined ? clock.now() : Date.parse(handed)
      const report = journal.reports.get(call.key)
      const until = report === undefined ? clock.now() : Date.parse(report.at)
      if (call.timeoutMs > 0 && until - handedAt > call.timeoutMs) {
        const message = `no report came within ${call.timeoutMs / 1000} s`
        return {
          kind: 'output',
          output: { ...failedOutput('timeout', message), evidence: 'self-reported' },
        }
      }
      if (report === undefined) return { kind: 'pending', handedAt }
      return { kind: 'output', output: { ...report.output, evidence: 'self-reported' } }
    },
  }
}
