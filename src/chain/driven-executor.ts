import type { Runtime } from '../base/index.ts'
import { failedOutput, type ReportedError } from '../exec/index.ts'
import type { TaskCall } from './engine.ts'
import type { Executor } from './executor.ts'
import type { RunJournal } from './run-journal.ts'

/**
 * Steps that an agent does while it is driven through a run: handed out, then judged by what it
 * reports. Time-outs hold between the two, however many processes come and go in between.
 */
export function drivenExecutor(
  journal: RunJournal,
  clock: Pick<Runtime, 'now'>,
  onHandOut?: (call: TaskCall) => void,
): Executor {
  return {
    kind: 'driven',
    async execute({ call }) {
      const handed = journal.handed.get(call.key)
      const handedAt = handed === undefined ? clock.now() : Date.parse(handed)
      const report = journal.reports.get(call.key)
      const until = report === undefined ? clock.now() : Date.parse(report.at)
      const workedMs = Math.max(0, until - handedAt)
      const late = lateReport(call, workedMs)
      if (late === undefined && report === undefined) {
        onHandOut?.(call)
        return { kind: 'pending', handedAt }
      }
      const output =
        late === undefined && report !== undefined
          ? report.output
          : failedOutput('timeout', late?.message ?? '')
      return { kind: 'output', output: { ...output, evidence: 'self-reported' }, workedMs }
    },
  }
}

/** What is wrong with a step that an agent has had for so long. */
export function lateReport(
  { timeoutMs }: Pick<TaskCall, 'timeoutMs'>,
  workedMs: number,
): ReportedError | undefined {
  if (timeoutMs === 0 || workedMs <= timeoutMs) return undefined
  return { code: 'timeout', message: `no report came within ${timeoutMs / 1000} s` }
}
