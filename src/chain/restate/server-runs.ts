import { setTimeout as sleep } from 'node:timers/promises'
import type { EventListener, RunResult } from '#chain/engine'
import { RunBusyError, RunStateError } from '#chain/errors'
import {
  approvedInAdvance,
  type ChainRecord,
  type DoneRecord,
  isOpen,
  recordedOutcome,
  type RunJournal,
} from '#chain/run-journal'
import {
  allSteps,
  isChain,
  type Plan,
  type PlannedStep,
  requiresVerified,
  stepOfKey,
} from '#chain/plan-model'
import { acceptedPlan, type Resumption } from '#chain/continuation'
import { headerOf, type NewRun, readResult, type RunSetup } from '#chain/run-chain'
import { argumentsOf, runLine } from '#chain/run-line'
import { type RunStore, withRunLock } from '#chain/run-store'
import { finishedEvent } from '#chain/step-result'
import {
  answerWaiting,
  awaitRun,
  cancelInvocation,
  findInvocation,
  lookAtRun,
  lookAtWaiting,
  readServerJournal,
  requireAnswer,
  requireVersion,
  RestateServerError,
  type ServerAddress,
  submitRun,
  type SubmittedRun,
  untilWaiting,
  type Waiting,
  wasNotTaken,
} from './client.ts'
import {
  emptyPass,
  type Pass,
  protocolVersion,
  type RunAnswer,
  type RunRequest,
} from './protocol.ts'

export async function startServerRun(
  run: NewRun,
  setup: RunSetup,
  address: ServerAddress,
): Promise<RunResult> {
  const { runtime, store } = setup
  await refuseWrongServer(address)
  const runId = runtime.id()
  const { plan, arguments: words, reused = [], requireVerified } = run
  return await withRunLock(store, runId, async () => {
    const { url, adminUrl } = address
    const server = { engine: 'restate', url, adminUrl } as const
    store.append(runId, { ...headerOf(runId, run, setup), server }, ...reused)
    const facts = {
      plan,
      arguments: words,
      requireVerified: requireVerified || requiresVerified(plan),
      pass: startingPass(reused),
    }
    const yesGates = setup.yesGates
    const submission = { run: { runId, part: 1 }, plan }
    let id: string
    try {
      id = await submit(submission.run, { ...facts, yesGates }, setup, address)
    } catch (error) {
      // The server has not received the run, so nothing is kept.
      if (wasNotTaken(error)) store.remove(runId)
      throw error
    }
    return await follow({ ...submission, id }, setup, address)
  })
}

/**
 * Continues a run: submits a cancelled run as a further part, or answers a waiting run with the decision
 * that `prepare` records. Throws {@link RunStateError} if the run has ended or already continues, or if
 * its plan changed without `force`.
 */
export async function resumeServerRun(
  resumption: Resumption,
  setup: RunSetup,
  address: ServerAddress,
): Promise<RunResult> {
  const { runId, plan } = resumption
  const { store, line } = setup
  const journal = store.read(runId)
  const { status } = journal
  if (status === 'waiting') return await answerRun(resumption, setup, address)
  if (status === undefined) {
    throw new RunStateError(
      'run-unknown',
      `the server does not know the run ${runId}`,
      `${line('runs retry', runId)} makes a new run.`,
    )
  }
  const planChange = acceptedPlan(journal, resumption, line)
  const words = argumentsOf(journal, resumption.arguments ?? [])
  await refuseWrongServer(address)
  return await withRunLock(store, runId, async () => {
    const at = new Date(setup.runtime.now()).toISOString()
    store.append(runId, { type: 'resumed', at, ...planChange })
    const facts = {
      plan,
      arguments: words,
      requireVerified: journal.run.requireVerified,
      pass: startingPass(journal.done.values()),
      approvals: [...journal.approvals.values()],
      yesGates: approvedInAdvance({ run: journal.run, plan }),
    }
    // Reads the journal again: each record of a resumption counts as a part on the server.
    const run = submittedRun(store.read(runId))
    const id = await submit(run, facts, setup, address)
    return await follow({ run, id, plan }, setup, address)
  })
}

/** Returns the ID of the invocation that executes the run. */
async function submit(
  run: SubmittedRun,
  facts: Pick<
    RunRequest,
    'plan' | 'arguments' | 'requireVerified' | 'pass' | 'approvals' | 'yesGates'
  >,
  setup: RunSetup,
  address: ServerAddress,
): Promise<string> {
  const request: RunRequest = {
    ...facts,
    version: protocolVersion,
    runId: run.runId,
    defaultTimeoutMs: setup.settings.timeout * 1000,
    planDigest: facts.plan.digest,
  }
  return await submitRun(address, request, run.part)
}

async function answerRun(
  { runId, plan, prepare, command }: Resumption,
  setup: RunSetup,
  address: ServerAddress,
): Promise<RunResult> {
  const { store, line } = setup
  return await withRunLock(store, runId, async () => {
    const journal = store.read(runId)
    acceptedPlan(journal, { runId, plan, command }, line)
    const run = submittedRun(journal)
    const waiting = await waitingRun(address, run)
    if (waiting === undefined) {
      throw new RunStateError(
        'no-gate-waits',
        `the run ${runId} no longer waits for an approval`,
        `Look again: ${line('runs show', runId)}`,
      )
    }
    // `prepare` compares these gates with the gates that the user saw.
    for (const gate of waiting.gates) journal.gates.set(gate.key, gate)
    const records: ChainRecord[] = []
    await prepare?.(journal, (record) => void records.push(record))
    const approvals = records.filter((record) => record.type === 'approval')
    const { id, awakeable, next: from } = waiting
    if (approvals.length === 0) return await follow({ run, id, plan, from }, setup, address)
    await answerWaiting(address, awakeable, { approvals })
    store.append(runId, ...records)
    return await follow({ run, id, plan, from, answered: awakeable }, setup, address)
  })
}

interface RunToFollow {
  run: SubmittedRun
  id: string
  plan: Plan
  from?: number | undefined
  answered?: string
}

async function follow(
  runToFollow: RunToFollow,
  setup: RunSetup,
  address: ServerAddress,
): Promise<RunResult> {
  const { runtime, store, onEvent } = setup
  const { plan, id, from = 0 } = runToFollow
  const { runId } = runToFollow.run
  const at = (): string => new Date(runtime.now()).toISOString()
  const steps = allSteps(plan.root).length
  onEvent?.({ type: 'run-started', runId, skill: plan.skill, steps, at: at() })
  const over = new AbortController()
  const following = onEvent && followRun(address, { id, from }, plan, onEvent, over.signal)
  let end: RunAnswer | Waiting
  try {
    end = await endOrWait(runToFollow, address, setup)
  } finally {
    over.abort()
    await following
  }
  store.append(runId, ...recordsOf(store.read(runId), end, new Date(runtime.now())))
  const { gates = [] }: Partial<Waiting> = end
  for (const { key, step } of gates) {
    onEvent?.({ type: 'step-suspended', key, step, why: 'approval', at: at() })
  }
  onEvent?.({ type: 'run-finished', runId, status: end.status, at: at() })
  return await readResult(store.read(runId), runtime)
}

async function endOrWait(runToFollow: RunToFollow, address: ServerAddress, { signal }: RunSetup) {
  const { id, plan, answered } = runToFollow
  const over = new AbortController()
  const hasGates = allSteps(plan.root).some((step) => step.gate && !step.excluded)
  const end = endOfRun(runToFollow, address, signal, over.signal)
  if (!hasGates) return await end
  try {
    return await Promise.race([end, untilWaiting(address, id, answered, over.signal)])
  } finally {
    over.abort()
  }
}

/** The time for a cancelled run to end its steps. */
const patienceMs = 15_000

async function endOfRun(
  { run, id, plan }: RunToFollow,
  address: ServerAddress,
  signal: AbortSignal | undefined,
  over: AbortSignal,
): Promise<RunAnswer> {
  try {
    const scope = signal ? AbortSignal.any([signal, over]) : over
    return await awaitRun(address, run, plan.digest, scope)
  } catch (error) {
    if (!signal?.aborted) throw error
    await cancelInvocation(address, id)
    const answer = await awaitRun(address, run, plan.digest, AbortSignal.timeout(patienceMs))
    // Ctrl-C interrupts a run on this machine in the same way.
    return answer.status === 'cancelled' ? { ...answer, status: 'interrupted' } : answer
  }
}

/**
 * Refuses a server that does not answer or is too old, before anything is recorded. Accepts an unreachable
 * admin interface: not every user of the ingress reaches it.
 */
async function refuseWrongServer(address: ServerAddress): Promise<void> {
  await requireAnswer(address)
  try {
    await requireVersion(address)
  } catch (error) {
    if (error instanceof RestateServerError && error.code !== 'restate-away') throw error
  }
}

/** The status of a run on its server, if the journal does not have the status yet. */
type ServerStatus = 'running' | 'unreachable' | 'forgotten'

/** Returns the current part of a run on its server. Every resumption is a further part. */
function submittedRun(journal: RunJournal): SubmittedRun {
  return { runId: journal.run.runId, part: 1 + journal.resumptions }
}

/** Records the results of runs that have ended on servers. Returns the status of the others by run ID. */
export async function syncServerRuns(
  store: RunStore,
  journals: readonly RunJournal[],
  token?: string,
): Promise<Map<string, ServerStatus>> {
  const statuses = new Map<string, ServerStatus>()
  for (const journal of journals) {
    const { server } = journal.run
    if (!server || !isOpen(journal)) continue
    const status = await sync(store, journal, { ...server, token })
    if (status !== undefined) statuses.set(journal.run.runId, status)
  }
  return statuses
}

async function sync(store: RunStore, journal: RunJournal, address: ServerAddress) {
  let news: ChainRecord[] | Exclude<ServerStatus, 'unreachable'>
  try {
    news = await newsOf(journal, address)
  } catch {
    return 'unreachable'
  }
  if (!Array.isArray(news)) return news
  if (news.length === 0) return undefined
  const { runId } = journal.run
  try {
    await withRunLock(store, runId, () => store.append(runId, ...news))
  } catch (error) {
    // The process that waits for the run records the results itself.
    if (!(error instanceof RunBusyError)) throw error
  }
  return undefined
}

async function newsOf(journal: RunJournal, address: ServerAddress) {
  const run = submittedRun(journal)
  const state = await lookAtRun(address, run, journal.plan.digest)
  if (state === 'unknown') return 'forgotten'
  if (state !== 'running') return recordsOf(journal, state)
  const mayWait = allSteps(journal.plan.root).some((step) => step.gate)
  const waiting = mayWait ? await waitingRun(address, run) : undefined
  if (waiting === undefined) return 'running'
  const isRecorded = waiting.gates.every(({ key, at }) => journal.gates.get(key)?.at === at)
  return journal.status === 'waiting' && isRecorded ? [] : recordsOf(journal, waiting)
}

async function waitingRun(
  address: ServerAddress,
  run: SubmittedRun,
): Promise<(Waiting & { id: string }) | undefined> {
  const id = await findInvocation(address, run)
  const waiting = id === undefined ? undefined : await lookAtWaiting(address, id)
  return id === undefined || !waiting ? undefined : { ...waiting, id }
}

/** Ends a run on its server. Throws {@link RunStateError} if the server does not execute the run. */
export async function cancelServerRun(journal: RunJournal, address: ServerAddress): Promise<void> {
  const id = await findInvocation(address, submittedRun(journal))
  if (id === undefined) {
    throw new RunStateError(
      'run-ended',
      `the server at ${address.url} does not execute the run ${journal.run.runId}`,
      `${runLine('runs show', journal.run.runId)} shows it.`,
    )
  }
  await cancelInvocation(address, id)
}

/** Returns the records that the journal lacks of a run that has ended or waits. */
export function recordsOf(
  journal: RunJournal,
  { status, pass, approvals = [], gates = [] }: RunAnswer & Partial<Waiting>,
  now: Date = new Date(),
): ChainRecord[] {
  // A resume repeats the steps that were running when the run was ended.
  const isOver = status !== 'cancelled' && status !== 'interrupted'
  const cancellations = Object.entries(pass.left).map(
    ([key, one]) => [key, { kind: 'cancelled', ...one }] as const,
  )
  const starts = new Map(Object.entries(pass.begun))
  const dones: DoneRecord[] = []
  for (const [key, outcome] of [...Object.entries(pass.answered), ...cancellations]) {
    const { startedAt } = outcome
    if (startedAt !== undefined) starts.set(key, startedAt)
    if (outcome.kind === 'suspended' || journal.done.has(key)) continue
    const counts = outcome.kind === 'finished' || (isOver && startedAt !== undefined)
    if (counts) dones.push({ type: 'done', key, outcome })
  }
  const began = [...starts].filter(([key]) => !journal.started.has(key))
  return [
    ...approvals.filter(({ key, at }) => journal.approvals.get(key)?.at !== at),
    ...began.map(([key, at]) => ({ type: 'start', key, at: new Date(at).toISOString() }) as const),
    ...dones,
    ...gates,
    { type: 'status', status, at: now.toISOString() },
  ]
}

/** Returns the results with which a further part of a run, or its repetition, starts. */
function startingPass(records: Iterable<DoneRecord>): Pass {
  const answered: Pass['answered'] = {}
  for (const record of records) {
    const outcome = recordedOutcome(record)
    // The result of a chain is built again from its steps.
    if (outcome.kind === 'finished' && !outcome.chain) answered[record.key] = outcome
  }
  return emptyPass(answered)
}

const intervalMs = 250

/** Emits the steps of a run from the server's journal. An error stops the events, not the run. */
async function followRun(
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
      // Reads once more after the end, for the steps that ended in between.
      const last = over.aborted
      await advance(root, { address, steps, listener })
      if (last) return
      await sleep(intervalMs, undefined, { signal: over }).catch(() => undefined)
    }
  } catch {
    // The result of the run has all of this again.
  }
}

interface FollowedRun {
  id: string
  next: number
  open: Map<number, { key: string; step: PlannedStep; nested: FollowedRun | undefined }>
}

interface FollowContext {
  address: ServerAddress
  steps: ReadonlyMap<string, PlannedStep>
  listener: EventListener
}

async function advance(followedRun: FollowedRun, context: FollowContext): Promise<void> {
  const { address, steps, listener } = context
  const { entries, next } = await readServerJournal(address, followedRun.id, followedRun.next)
  followedRun.next = next
  for (const entry of entries) {
    const { completion, at } = entry
    if (entry.kind === 'started') {
      const { key, nested: id } = entry
      const step = steps.get(stepOfKey(key))
      if (!step) continue
      const nested = id === undefined ? undefined : { id, next: 0, open: new Map() }
      followedRun.open.set(completion, { key, step, nested })
      const { skill } = step
      listener({ type: 'step-started', key, step: step.step, skill, chain: isChain(step), at })
      continue
    }
    const open = followedRun.open.get(completion)
    if (!open) continue
    followedRun.open.delete(completion)
    if (open.nested) await advance(open.nested, context)
    listener(finishedEvent(open.key, open.step, entry.value ?? {}, at))
  }
  for (const { nested } of followedRun.open.values()) {
    if (nested) await advance(nested, context)
  }
}
