import { setTimeout as sleep } from 'node:timers/promises'
import { acquireFileLock } from '../../core/file-lock.ts'
import type {
  AttemptResult,
  EventListener,
  FinishedOutcome,
  RunResult,
  StepResult,
} from '../engine.ts'
import { RunBusyError, RunStateError } from '../errors.ts'
import {
  type ApprovalRecord,
  type ChainRecord,
  type DoneRecord,
  recordedOutcome,
} from '../journal-records.ts'
import {
  allSteps,
  isChain,
  stepLabel,
  stepOfKey,
  type Plan,
  type PlannedStep,
} from '../plan-model.ts'
import { createRecordWriter, isOpen, type RunJournal } from '../run-journal.ts'
import { runLine } from '../run-line.ts'
import type { RunStore } from '../run-store.ts'
import { emptyState, isFinal } from '../state.ts'
import { finishedEvent } from '../step-result.ts'
import {
  cancelInvocation,
  keyOf,
  lookAtRun,
  select,
  type ServerAddress,
  type SubmittedRun,
} from './client.ts'
import type { RunAnswer } from './protocol.ts'
import {
  lookAtWaiting,
  readServerJournal,
  type ServerEntry,
  type Waiting,
} from './server-journal.ts'

/** How a run that was handed to a server stands there, where its journal does not say it yet. */
export type ServerStanding = 'running' | 'unreachable' | 'forgotten'

/** The run as its server knows it. Every resumption is a further part. */
export function submittedRun(journal: RunJournal): SubmittedRun {
  return { runId: journal.run.runId, part: 1 + journal.resumptions }
}

/** Takes over the results of runs that have ended on servers; returns how the others stand, by run. */
export async function syncServerRuns(
  store: RunStore,
  journals: readonly RunJournal[],
  token?: string,
): Promise<Map<string, ServerStanding>> {
  const standings = new Map<string, ServerStanding>()
  for (const journal of journals) {
    const { server } = journal.run
    if (server === undefined || !isOpen(journal)) continue
    const standing = await sync(store, journal, { ...server, token })
    if (standing !== undefined) standings.set(journal.run.runId, standing)
  }
  return standings
}

async function sync(store: RunStore, journal: RunJournal, address: ServerAddress) {
  let news: ChainRecord[] | Exclude<ServerStanding, 'unreachable'>
  try {
    news = await newsOf(journal, address)
  } catch {
    return 'unreachable'
  }
  if (!Array.isArray(news)) return news
  if (news.length === 0) return undefined
  const { runId } = journal.run
  const lock = acquireFileLock(store.pathOf(runId))
  // The process that waits for it writes it down itself.
  if (!lock.ok) return undefined
  try {
    append(store, runId, news)
  } finally {
    lock.release()
  }
  return undefined
}

async function newsOf(journal: RunJournal, address: ServerAddress) {
  const run = submittedRun(journal)
  const found = await lookAtRun(address, run, journal.plan.digest)
  if (found === 'unknown') return 'forgotten'
  if (found !== 'running') return recordsOfAnswer(journal, found)
  const mayWait = allSteps(journal.plan.root).some((step) => step.gate === true)
  const waiting = mayWait ? await waitingRun(address, run) : undefined
  if (waiting === undefined) return 'running'
  const isKnown = waiting.gates.every(({ key, at }) => journal.gates.get(key)?.at === at)
  return journal.status === 'waiting' && isKnown ? [] : recordsOfWait(waiting)
}

/** What a run on the server waits for; undefined when it waits for nobody. */
export async function waitingRun(
  address: ServerAddress,
  run: SubmittedRun,
): Promise<(Waiting & { id: string }) | undefined> {
  const id = await findInvocation(address, run)
  const waiting = id === undefined ? undefined : await lookAtWaiting(address, id)
  return id === undefined || waiting === undefined ? undefined : { ...waiting, id }
}

/** What the journal has to say when a run came to a stand. */
export function recordsOfWait({ result, gates }: Waiting, now: Date = new Date()): ChainRecord[] {
  const records = recordsOf({ ...result, status: 'waiting' }, now)
  return [...records.slice(0, -1), ...gates, ...records.slice(-1)]
}

/** What the journal has to say when a run has ended, without the decisions that it has. */
export function recordsOfAnswer(
  { approvals: known }: Pick<RunJournal, 'approvals'>,
  { result, approvals = [] }: RunAnswer,
  now: Date = new Date(),
): ChainRecord[] {
  const unknown = approvals.filter(({ key, at }) => known.get(key)?.at !== at)
  return [...unknown, ...recordsOf(result, now, approvals)]
}

/** Ends a run on its server. Throws {@link RunStateError} when the server does not execute it. */
export async function cancelServerRun(journal: RunJournal, address: ServerAddress): Promise<void> {
  const id = await findInvocation(address, submittedRun(journal))
  if (id === undefined) {
    throw new RunStateError({
      code: 'run-ended',
      message: `the server at ${address.url} does not execute the run ${journal.run.runId}`,
      hint: `${runLine('runs show', journal.run.runId)} shows it.`,
    })
  }
  await cancelInvocation(address, id)
}

async function findInvocation(address: ServerAddress, run: SubmittedRun) {
  const query =
    `select id from sys_invocation where target_service_name = 'skillrail' ` +
    `and idempotency_key = '${keyOf(run)}' and status <> 'completed'`
  const [row] = await select(address, query)
  const id = row?.['id']
  return typeof id === 'string' ? id : undefined
}

/** Opens the journal of a run under its lock, for as long as `work` takes. */
export async function alone<T>(
  store: RunStore,
  runId: string,
  work: (append: (...records: ChainRecord[]) => void) => Promise<T>,
): Promise<T> {
  const lock = acquireFileLock(store.pathOf(runId))
  if (!lock.ok) {
    throw new RunBusyError({
      code: 'run-busy',
      message: `process ${lock.holder.pid} on ${lock.holder.host} waits for the run ${runId}`,
      hint: `End the run with: ${runLine('runs cancel', runId)}`,
    })
  }
  try {
    return await work((...records) => append(store, runId, records))
  } finally {
    lock.release()
  }
}

function append(store: RunStore, runId: string, records: readonly ChainRecord[]): void {
  const file = store.open(runId)
  try {
    createRecordWriter(file).append(...records)
  } finally {
    file.close()
  }
}

/**
 * The records that a run on a server leaves in its journal when it has ended, as if it had been
 * executed here. Results are in the order in which they came.
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
  open: boolean
}

/** A step that a user rejected, or a chain around it. */
function endedBy(rejected: readonly string[], { record }: Written): boolean {
  const { key } = record
  return rejected.some((gate) => gate === key || gate.startsWith(`${key}/`))
}

function withRejection({ record, open }: Written): Written {
  const { outcome } = record
  if (outcome.kind !== 'finished') return { record, open }
  return { open, record: { ...record, outcome: { ...outcome, rejected: true } } }
}

function below(attempt: AttemptResult, prefix: string): Written[] {
  const ended = attempt.status === 'cancelled' || attempt.status === 'interrupted'
  const { attempt: number } = attempt
  const tried = attempt.steps.flatMap(({ tries = [], ...step }) =>
    [...tries, step].map((one, index) => ({
      step: one,
      again: index === 0 ? '' : `.${index + 1}`,
    })),
  )
  return tried.flatMap(({ step, again }) => {
    const key = `${prefix}${number}${again}:${stepLabel(step)}`
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
  const ended = { status: isFinal(status) ? status : ('cancelled' as const), attempts }
  const left = { startedAt, durationMs, chain: attempts.length === 0 ? undefined : ended }
  if (!isFinal(status)) return { kind: 'cancelled', ...left }
  const { result, errors, metrics, artifacts, shown, log } = step
  const evidence = step.evidence ?? 'exit-code'
  const output = { status, result, errors, metrics, evidence, artifacts }
  return { kind: 'finished', output, shown, log, ...left }
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

const intervalMs = 250

/**
 * Emits the steps of a run on a server as they begin and end, from the server's own journal,
 * beginning with the entry `from`. Errors end this, not the run.
 */
export async function followRun(
  address: ServerAddress,
  { id, from }: { id: string; from: number },
  plan: Plan,
  listener: EventListener,
  over: AbortSignal,
): Promise<void> {
  const steps = new Map(allSteps(plan.root).map((step) => [step.step, step]))
  const root = { id, next: from, open: new Map() }
  try {
    for (;;) {
      // Once more when it is over, for what ended in between.
      const last = over.aborted
      await advance(root, { address, steps, listener })
      if (last) return
      await sleep(intervalMs, undefined, { signal: over }).catch(() => undefined)
    }
  } catch {
    // The result of the run says everything again.
  }
}

interface Followed {
  id: string
  next: number
  open: Map<number, Open>
}

interface Open {
  key: string
  step: PlannedStep
  nested: Followed | undefined
}

interface Telling {
  address: ServerAddress
  steps: ReadonlyMap<string, PlannedStep>
  listener: EventListener
}

async function advance(followed: Followed, telling: Telling): Promise<void> {
  const { entries, next } = await readServerJournal(telling.address, followed.id, followed.next)
  followed.next = next
  for (const entry of entries) {
    if (entry.kind === 'started') begin(followed, entry, telling)
    else await end(followed, entry, telling)
  }
  for (const { nested } of followed.open.values()) {
    if (nested !== undefined) await advance(nested, telling)
  }
}

function begin(
  followed: Followed,
  { key, completion, nested, at }: ServerEntry & { kind: 'started' },
  { steps, listener }: Telling,
): void {
  const step = steps.get(stepOfKey(key))
  if (step === undefined) return
  followed.open.set(completion, {
    key,
    step,
    nested: nested === undefined ? undefined : { id: nested, next: 0, open: new Map() },
  })
  const chain = isChain(step)
  listener({ type: 'step-started', key, step: step.step, skill: step.skill, chain, at })
}

async function end(
  followed: Followed,
  entry: ServerEntry & { kind: 'ended' },
  telling: Telling,
): Promise<void> {
  const open = followed.open.get(entry.completion)
  if (open === undefined) return
  followed.open.delete(entry.completion)
  const { step, key, nested } = open
  if (nested !== undefined) await advance(nested, telling)
  telling.listener(finishedEvent(key, step, entry.value ?? {}, entry.at))
}
