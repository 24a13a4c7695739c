import type { RunResult } from '../engine.ts'
import { RunStateError } from '../errors.ts'
import type { ChainRecord } from '../journal-records.ts'
import { allSteps, type Plan } from '../plan-model.ts'
import { argumentsOf, runLine } from '../run-line.ts'
import { alone } from '../run-store.ts'
import {
  acceptedPlan,
  headerOf,
  type NewRun,
  readResult,
  type Resumption,
  type RunSetup,
} from '../run-chain.ts'
import {
  answerWaiting,
  awaitRun,
  cancelInvocation,
  requireVersion,
  RestateServerError,
  type ServerAddress,
  submitRun,
  type SubmittedRun,
  untilWaiting,
  type Waiting,
} from './client.ts'
import { protocolVersion, type RunAnswer, type RunFacts } from './protocol.ts'
import { followRun, knownResults, recordsOf, submittedRun, waitingRun } from './server-runs.ts'

/** Starts a run on a server and waits for its end. Its journal is kept here. */
export async function startServerRun(
  run: NewRun,
  setup: RunSetup,
  address: ServerAddress,
): Promise<RunResult> {
  const { runtime, store } = setup
  await refuseWrongServer(address)
  const runId = runtime.id()
  return await alone(store, runId, async () => {
    const { url, adminUrl } = address
    const header = headerOf(runId, run, setup)
    const server = { engine: 'restate', url, adminUrl } as const
    store.append(runId, { ...header, server }, ...(run.reused ?? []))
    const facts = factsOf(runId, run, run.plan, setup, knownResults(run.reused ?? []))
    const submitted = { runId, part: 1 }
    const id = await submitRun(address, { ...facts, plan: run.plan }, 1)
    return await follow({ run: submitted, id, plan: run.plan }, setup, address)
  })
}

/**
 * Continues a run: a cancelled one as a further part on its server, a waiting one with the decision
 * that `prepare` records. Throws {@link RunStateError} when it has ended or continues already, or
 * its plan changed without `force`.
 */
export async function resumeServerRun(
  resumption: Resumption,
  setup: RunSetup,
  address: ServerAddress,
): Promise<RunResult> {
  const { runId, plan } = resumption
  const { store, line = runLine } = setup
  const journal = store.read(runId)
  const { status } = journal
  if (status === 'waiting') return await answerRun(resumption, setup, address)
  if (status === undefined) {
    throw new RunStateError({
      code: 'run-unknown',
      message: `the run ${runId} cannot be resumed: its server does not know its result`,
      hint: `${line('runs show', runId)} asks the server again; ${line('runs retry', runId)} makes a new run.`,
    })
  }
  const changed = acceptedPlan(journal, resumption, line)
  const given = argumentsOf(journal, resumption.arguments ?? [])
  return await alone(store, runId, async () => {
    const at = new Date(setup.runtime.now()).toISOString()
    store.append(runId, { type: 'resumed', at, ...changed })
    const run = { arguments: given, requireVerified: journal.run.requireVerified }
    const known = knownResults(journal.done.values())
    const approvals = [...journal.approvals.values()]
    const facts = { ...factsOf(runId, run, plan, setup, known), approvals }
    // With the record that it continues: every continuation is a part of its own on the server.
    const submitted = submittedRun(store.read(runId))
    const id = await submitRun(address, { ...facts, plan }, submitted.part)
    return await follow({ run: submitted, id, plan }, setup, address)
  })
}

/** Hands the decision of a user to a run that waits, and waits for its end. */
async function answerRun(
  { runId, plan, prepare, command }: Resumption,
  setup: RunSetup,
  address: ServerAddress,
): Promise<RunResult> {
  const { store, line = runLine } = setup
  return await alone(store, runId, async () => {
    const journal = store.read(runId)
    acceptedPlan(journal, { plan, command }, line)
    const run = submittedRun(journal)
    const waiting = await waitingRun(address, run)
    if (waiting === undefined) {
      throw new RunStateError({
        code: 'no-gate-waits',
        message: `the run ${runId} no longer waits for an approval`,
        hint: `Look again: ${line('runs show', runId)}`,
      })
    }
    // What it waits for by now, which `prepare` compares with what was shown.
    for (const gate of waiting.gates) journal.gates.set(gate.key, gate)
    const records: ChainRecord[] = []
    await prepare?.(journal, (record) => void records.push(record))
    const approvals = records.filter((record) => record.type === 'approval')
    const { id, awakeable, next } = waiting
    const followed = { run, id, plan, from: next }
    if (approvals.length === 0) {
      return await follow(followed, setup, address)
    }
    await answerWaiting(address, awakeable, { approvals })
    store.append(runId, ...records)
    return await follow({ ...followed, answered: awakeable }, setup, address)
  })
}

function factsOf(
  runId: string,
  run: Pick<NewRun, 'arguments' | 'requireVerified'>,
  plan: Plan,
  setup: RunSetup,
  pass: RunFacts['pass'],
): RunFacts {
  return {
    version: protocolVersion,
    runId,
    arguments: run.arguments,
    requireVerified: run.requireVerified,
    defaultTimeoutMs: setup.settings.timeout * 1000,
    planDigest: plan.digest,
    yesGates: setup.yesGates === true,
    pass,
  }
}

interface Followed {
  run: SubmittedRun
  id: string
  plan: Plan
  from?: number | undefined
  answered?: string | undefined
}

async function follow(
  followed: Followed,
  setup: RunSetup,
  address: ServerAddress,
): Promise<RunResult> {
  const { runtime, store, onEvent } = setup
  const { plan, id, from = 0 } = followed
  const { runId } = followed.run
  const at = (): string => new Date(runtime.now()).toISOString()
  const steps = allSteps(plan.root).length
  onEvent?.({ type: 'run-started', runId, skill: plan.skill, steps, at: at() })
  const over = new AbortController()
  const following =
    onEvent === undefined ? undefined : followRun(address, { id, from }, plan, onEvent, over.signal)
  let end: RunAnswer | Waiting
  try {
    end = await endOrWait(followed, address, setup)
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

async function endOrWait(followed: Followed, address: ServerAddress, { signal }: RunSetup) {
  const { run, id, plan, answered } = followed
  const over = new AbortController()
  const gated = allSteps(plan.root).some((step) => step.gate === true && step.excluded !== true)
  const end = ended(run, id, plan, address, { signal, over: over.signal })
  if (!gated) return await end
  try {
    return await Promise.race([end, untilWaiting(address, id, answered, over.signal)])
  } finally {
    over.abort()
  }
}

/** How long a run that was cancelled may take to end its steps. */
const patienceMs = 15_000

async function ended(
  run: SubmittedRun,
  id: string,
  plan: Plan,
  address: ServerAddress,
  { signal, over }: { signal: AbortSignal | undefined; over: AbortSignal },
): Promise<RunAnswer> {
  try {
    const scope = signal === undefined ? over : AbortSignal.any([signal, over])
    return await awaitRun(address, run, plan.digest, scope)
  } catch (error) {
    if (signal?.aborted !== true) throw error
    await cancelInvocation(address, id)
    const answer = await awaitRun(address, run, plan.digest, AbortSignal.timeout(patienceMs))
    // As by Ctrl-C in a run that is executed here.
    return answer.status === 'cancelled' ? { ...answer, status: 'interrupted' } : answer
  }
}

/** Not every user of the ingress reaches the admin interface. */
async function refuseWrongServer(address: ServerAddress): Promise<void> {
  try {
    await requireVersion(address)
  } catch (error) {
    if (error instanceof RestateServerError && error.code !== 'restate-away') throw error
  }
}
