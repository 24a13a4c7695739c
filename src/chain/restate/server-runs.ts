import { setTimeout as sleep } from 'node:timers/promises'
import type { EventListener } from '../engine.ts'
import { RunBusyError, RunStateError } from '../errors.ts'
import { type ChainRecord, type DoneRecord, recordedOutcome } from '../journal-records.ts'
import { allSteps, isChain, stepOfKey, type Plan, type PlannedStep } from '../plan-model.ts'
import { isOpen, type RunJournal } from '../run-journal.ts'
import { runLine } from '../run-line.ts'
import { alone, type RunStore } from '../run-store.ts'
import { finishedEvent } from '../step-result.ts'
import {
  cancelInvocation,
  findInvocation,
  lookAtRun,
  lookAtWaiting,
  readServerJournal,
  type ServerAddress,
  type ServerEntry,
  type SubmittedRun,
  type Waiting,
} from './client.ts'
import { emptyPass, type Pass, type RunAnswer } from './protocol.ts'

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
  try {
    await alone(store, runId, () => store.append(runId, ...news))
  } catch (error) {
    // The process that waits for it writes it down itself.
    if (!(error instanceof RunBusyError)) throw error
  }
  return undefined
}

async function newsOf(journal: RunJournal, address: ServerAddress) {
  const run = submittedRun(journal)
  const found = await lookAtRun(address, run, journal.plan.digest)
  if (found === 'unknown') return 'forgotten'
  if (found !== 'running') return recordsOf(journal, found)
  const mayWait = allSteps(journal.plan.root).some((step) => step.gate === true)
  const waiting = mayWait ? await waitingRun(address, run) : undefined
  if (waiting === undefined) return 'running'
  const isKnown = waiting.gates.every(({ key, at }) => journal.gates.get(key)?.at === at)
  return journal.status === 'waiting' && isKnown ? [] : recordsOf(journal, waiting)
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

/**
 * What the journal has to say of a run that has ended or waits, without what it has: as if the run
 * had been executed here.
 */
export function recordsOf(
  journal: Pick<RunJournal, 'approvals' | 'done' | 'started'>,
  { status, pass, approvals = [], gates = [] }: RunAnswer & Partial<Waiting>,
  now: Date = new Date(),
): ChainRecord[] {
  // What was running when the run itself was ended is repeated by a resume.
  const isOver = status !== 'cancelled' && status !== 'interrupted'
  const left = Object.entries(pass.left).map(
    ([key, one]) => [key, { kind: 'cancelled', ...one }] as const,
  )
  const ends = [...Object.entries(pass.answered), ...left]
  const began = [
    ...Object.entries(pass.begun),
    ...ends.flatMap(([key, { startedAt }]) =>
      startedAt === undefined ? [] : [[key, startedAt] as const],
    ),
  ]
  const starts = new Map(began.filter(([key]) => !journal.started.has(key)))
  const dones = ends.flatMap(([key, outcome]): DoneRecord[] => {
    if (outcome.kind === 'suspended' || journal.done.has(key)) return []
    const counts = outcome.kind === 'finished' || (isOver && outcome.startedAt !== undefined)
    return counts ? [{ type: 'done', key, outcome }] : []
  })
  return [
    ...approvals.filter(({ key, at }) => journal.approvals.get(key)?.at !== at),
    ...[...starts].map(
      ([key, at]) => ({ type: 'start', key, at: new Date(at).toISOString() }) as const,
    ),
    ...dones,
    ...gates,
    { type: 'status', status, at: now.toISOString() },
  ]
}

/** What a further part of a run, or a repetition of it, starts with. */
export function knownResults(records: Iterable<DoneRecord>): Pass {
  const answered: Pass['answered'] = {}
  for (const record of records) {
    const outcome = recordedOutcome(record)
    // A chain is put together again from what is below it.
    if (outcome.kind === 'finished' && outcome.chain === undefined) answered[record.key] = outcome
  }
  return emptyPass(answered)
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
