import { failedOutput, type StepOutput } from '../exec/index.ts'
import type { EngineCore, Entry } from './_journal-entry.ts'

/** The time-out of one step: aborts its controller when it is over. */
export interface TimeLimit {
  seconds: number
  over(): boolean
  clear(): void
}

/** Longest delay a timer of the platform takes; longer limits are no limit in practice. */
const maxTimerMs = 2_147_483_647

export function timeLimit(core: EngineCore, entry: Entry, startedAt: number): TimeLimit {
  const fallback = entry.kind === 'task' ? (core.defaultTimeoutMs ?? 0) : 0
  const ms = Math.min(entry.call.timeoutMs || fallback, maxTimerMs)
  if (ms === 0) return noLimit
  const counts = core.countsAbsence === true && entry.kind === 'chain'
  const left = counts ? ms - (core.clock.now() - startedAt) : ms
  let over = false
  const end = (): void => {
    over = true
    entry.controller.abort()
  }
  // Nothing that was reported since then counts.
  if (left <= 0) end()
  const timer = over ? undefined : setTimeout(end, left)
  return { seconds: ms / 1000, over: () => over, clear: () => clearTimeout(timer) }
}

export const noLimit: TimeLimit = { seconds: 0, over: () => false, clear: () => undefined }

/** The output of a step that was ended by its limit, perhaps while `scripts/verify` ran. */
export function overdue(limit: Pick<TimeLimit, 'seconds'>, inVerification = false): StepOutput {
  const where = inVerification ? ' while scripts/verify ran' : ''
  return failedOutput('timeout', `it took longer than ${limit.seconds} s and was ended${where}`)
}
