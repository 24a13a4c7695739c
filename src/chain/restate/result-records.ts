import type { FinishedOutcome } from '../engine.ts'
import {
  type ApprovalRecord,
  type ChainRecord,
  type DoneRecord,
  recordedOutcome,
} from '../journal-records.ts'
import type { AttemptResult, RunResult, StepResult } from '../result.ts'
import { emptyState } from '../state.ts'

/**
 * The records that a run on a server leaves in its journal when it has ended, as if it had been
 * executed here: what shows, repeats or continues a run needs to know of one kind only. Results are
 * in the order in which they came.
 */
export function recordsOf(
  result: RunResult,
  now: Date,
  approvals: readonly ApprovalRecord[] = [],
): ChainRecord[] {
  const decided = new Map(approvals.map(({ key, approved }) => [key, approved]))
  const rejected = [...decided.keys()].filter((key) => decided.get(key) === false)
  const dones = result.attempts
    .flatMap((attempt) => below(attempt, ''))
    .map((written) => (endedBy(rejected, written) ? withRejection(written) : written))
    .toSorted((a, b) => endOf(a) - endOf(b))
  const starts = dones.flatMap(({ record }) => {
    const { startedAt } = record.outcome
    if (startedAt === undefined) return []
    return [{ type: 'start', key: record.key, at: new Date(startedAt).toISOString() } as const]
  })
  return [
    ...starts,
    ...dones.flatMap(({ record, open }) => (open ? [] : [record])),
    { type: 'status', status: result.status, at: now.toISOString() },
  ]
}

interface Written {
  record: DoneRecord
  /** It was running when the whole run was ended, and has no result that counts. */
  open: boolean
}

/** A step that a person rejected, or a chain around it. */
function endedBy(rejected: readonly string[], { record }: Written): boolean {
  const { key } = record
  return rejected.some((gate) => gate === key || gate.startsWith(`${key}/`))
}

function withRejection(written: Written): Written {
  const { record } = written
  if (record.outcome.kind !== 'finished') return written
  return { ...written, record: { ...record, outcome: { ...record.outcome, rejected: true } } }
}

function below(attempt: AttemptResult, prefix: string): Written[] {
  const ended = attempt.status === 'cancelled' || attempt.status === 'interrupted'
  return attempt.steps.flatMap((step) => {
    const label = step.step.slice(step.step.lastIndexOf('/') + 1)
    const key = `${prefix}${attempt.attempt}:${label}`
    const inner = attemptsOf(step).flatMap((below_) => below(below_, `${key}/`))
    const outcome = outcomeOf(step)
    if (outcome === undefined) return inner
    const open = (ended || step.status === 'waiting') && outcome.kind === 'cancelled'
    return [...inner, { record: { type: 'done', key, outcome }, open }]
  })
}

function attemptsOf(step: StepResult): readonly AttemptResult[] {
  if (step.attempts !== undefined) return step.attempts
  if (step.steps === undefined) return []
  const status = step.status === 'cancelled' ? 'cancelled' : 'success'
  return [{ attempt: 1, status, steps: step.steps, chain_state: emptyState }]
}

function outcomeOf(step: StepResult): DoneRecord['outcome'] | undefined {
  if (step.startedAt === null) return undefined
  const startedAt = Date.parse(step.startedAt)
  const attempts = attemptsOf(step)
  const { status, durationMs } = step
  const isFinal = status === 'success' || status === 'failure' || status === 'critical'
  const chain =
    attempts.length === 0
      ? {}
      : { chain: { status: isFinal ? status : ('cancelled' as const), attempts } }
  if (!isFinal) return { kind: 'cancelled', startedAt, durationMs, ...chain }
  const { result, errors, metrics, log } = step
  const evidence = step.evidence ?? 'exit-code'
  const output = { status, result, errors, metrics, evidence }
  return { kind: 'finished', output, startedAt, durationMs, log, ...chain }
}

function endOf({ record }: Written): number {
  const { startedAt = 0, durationMs = 0 } = record.outcome
  return startedAt + durationMs
}

/** What a further part of a run, or a repetition of it, starts with. */
export function knownResults(
  records: Iterable<DoneRecord>,
): Readonly<Record<string, FinishedOutcome>> {
  const known: Record<string, FinishedOutcome> = {}
  for (const record of records) {
    const outcome = recordedOutcome(record)
    // A chain is put together again from what is below it.
    if (outcome.kind === 'finished' && outcome.chain === undefined) known[record.key] = outcome
  }
  return known
}
