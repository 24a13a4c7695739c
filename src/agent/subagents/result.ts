import type { JsonValue } from '../../skill/index.ts'
import { maxTurnsExceeded } from '../loop/limits.ts'
import type { LoopOutcome, RunStatus, TokenUsage } from '../model.ts'

/** Why a delegation is over. */
export type EndReason =
  | 'done'
  /** Its turns were used up, or it repeated itself. */
  | 'capped'
  | 'cancelled'
  /** The run that waited for it was cancelled. */
  | 'parent-cancelled'
  | 'timeout'
  | 'failed'

/** What a delegation came to. There is one however it ended. */
export interface SubagentResult {
  /** The delegation; `resume` takes it. */
  id: string
  subagentName: string
  task: string
  success: boolean
  status: RunStatus
  endReason: EndReason
  /** The final answer; what was written until then where there is none; the summary where capped. */
  output: string
  /** The final answer as JSON, where a schema was asked for. */
  structured?: JsonValue | undefined
  /** Of this delegation, and of all its model calls however it ended. */
  usage: TokenUsage
  durationMs: number
  /** The run of the tool loop; undefined where the model was never asked. */
  result: LoopOutcome | undefined
  error?: string | undefined
  /** What was asked for and could not be given, such as tools that are not there. */
  notices: readonly string[]
}

export interface EndedRun {
  id: string
  subagentName: string
  task: string
  outcome: LoopOutcome | undefined
  /** Why it was stopped, where it was. */
  stopped: Extract<EndReason, 'cancelled' | 'parent-cancelled' | 'timeout'> | undefined
  /** What was thrown, where something was. */
  failure: string | undefined
  usage: TokenUsage
  durationMs: number
  notices: readonly string[]
}

/** Puts a run, or what was thrown in place of one, into the form that every caller gets. */
export function resultOf(run: EndedRun): SubagentResult {
  const { id, subagentName, task, outcome, usage, durationMs, notices } = run
  const endReason = reasonOf(run)
  const { status, told, fallback } = endings[endReason]
  return {
    id,
    subagentName,
    task,
    success: endReason === 'done',
    status,
    endReason,
    output: outcome?.text ?? '',
    ...(outcome?.output === undefined ? {} : { structured: outcome.output }),
    usage,
    durationMs,
    result: outcome,
    ...(endReason === 'done' ? {} : { error: told ?? run.failure ?? outcome?.error ?? fallback }),
    notices,
  }
}

/** A run that was done when it was stopped is done. */
function reasonOf({ outcome, stopped, failure }: EndedRun): EndReason {
  if (outcome?.status === 'completed') return 'done'
  if (outcome?.status === 'capped') return 'capped'
  if (stopped !== undefined) return stopped
  return outcome?.status === 'cancelled' && failure === undefined ? 'cancelled' : 'failed'
}

/** `told` is said whatever else is known; `fallback` where nothing is. */
const endings: Readonly<
  Record<EndReason, { status: RunStatus; told?: string; fallback?: string | undefined }>
> = {
  done: { status: 'completed' },
  capped: { status: 'capped', fallback: maxTurnsExceeded },
  cancelled: { status: 'cancelled', told: 'The delegation was cancelled.' },
  'parent-cancelled': {
    status: 'cancelled',
    told: 'The delegation was cancelled with the run that waited for it.',
  },
  timeout: { status: 'failed', told: 'The delegation took longer than it may.' },
  failed: { status: 'failed', fallback: 'The delegation failed.' },
}
