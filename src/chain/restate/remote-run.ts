import { sha256 } from '../../base/index.ts'
import { ChainPlanError, RunStateError } from '../errors.ts'
import { journalVersion } from '../journal-records.ts'
import { allSteps, type Plan } from '../plan-model.ts'
import { argumentsOf } from '../reuse.ts'
import type { RunResult } from '../result.ts'
import { redactedArguments } from '../run-arguments.ts'
import type { NewRun, Resumption, RunWorld } from '../run-chain.ts'
import type { ServerAddress } from './client.ts'
import { followRun } from './follow-run.ts'
import { protocolVersion, type RunFacts } from './protocol.ts'
import { knownResults, recordsOf } from './result-records.ts'
import { alone, submittedRun } from './server-runs.ts'
import { awaitRun, cancelInvocation, submitRun, type SubmittedRun } from './submit.ts'

/**
 * Starts a run on a server and waits for its end. Its journal is kept here as for any run; when this
 * process ends before the run does, the journal is brought up to date the next time it is asked for.
 */
export async function startServerRun(
  run: NewRun,
  world: RunWorld,
  address: ServerAddress,
): Promise<RunResult> {
  refuseWhatWorkersCannot(run.plan, world)
  const { runtime, store } = world
  const runId = runtime.id()
  return await alone(store.pathOf(runId), runId, async (append) => {
    const { url, adminUrl } = address
    append(
      {
        type: 'run',
        version: journalVersion,
        runId,
        skill: run.plan.skill,
        at: new Date(runtime.now()).toISOString(),
        mode: run.mode,
        arguments: redactedArguments(run.arguments),
        argumentsDigest: sha256(JSON.stringify(run.arguments)),
        requireVerified: run.requireVerified,
        request: run.request,
        plan: run.plan,
        ...(run.origin === undefined ? {} : { origin: run.origin }),
        server: { engine: 'restate', url, adminUrl },
      },
      ...(run.reused ?? []),
    )
    const facts = factsOf(runId, run, run.plan, world, knownResults(run.reused ?? []))
    const result = await handOver({ runId, part: 1 }, facts, run.plan, world, address)
    append(...recordsOf(result, new Date(runtime.now())))
    return result
  })
}

/**
 * Goes on with a run that was cancelled, as a further part of it on its server.
 * @throws {RunStateError} when it has ended or goes on already, or its plan changed without `force`.
 */
export async function resumeServerRun(
  resumption: Resumption,
  world: RunWorld,
  address: ServerAddress,
): Promise<RunResult> {
  const { runId, plan } = resumption
  const journal = world.store.read(runId)
  const { status } = journal
  if (status !== 'cancelled' && status !== 'interrupted') {
    throw new RunStateError({
      code: 'run-ended',
      message: `the run ${runId} cannot be resumed: ${status ?? 'its server still executes it'}`,
      hint: `skillrail runs show ${runId} shows it; skillrail runs retry ${runId} repeats what failed.`,
    })
  }
  const changed = plan.digest !== journal.plan.digest
  if (changed && resumption.force !== true) {
    throw new RunStateError({
      code: 'plan-changed',
      message: `the skills of the run ${runId} were changed since it was planned`,
      hint: `skillrail runs retry ${runId} makes a new run that reuses its successes; --force goes on with the changed plan.`,
    })
  }
  refuseWhatWorkersCannot(plan, world)
  const given = argumentsOf(journal, resumption.arguments ?? [])
  return await alone(journal.path, runId, async (append) => {
    const at = new Date(world.runtime.now()).toISOString()
    append({ type: 'resumed', at, ...(changed ? { plan } : {}) })
    const run = { arguments: given, requireVerified: journal.run.requireVerified }
    const facts = factsOf(runId, run, plan, world, knownResults(journal.done.values()))
    const result = await handOver(submittedRun(journal), facts, plan, world, address)
    append(...recordsOf(result, new Date(world.runtime.now())))
    return result
  })
}

function factsOf(
  runId: string,
  run: Pick<NewRun, 'arguments' | 'requireVerified'>,
  plan: Plan,
  world: RunWorld,
  known: RunFacts['known'],
): RunFacts {
  return {
    version: protocolVersion,
    runId,
    arguments: run.arguments,
    requireVerified: run.requireVerified,
    defaultTimeoutMs: world.settings.timeout * 1000,
    planDigest: plan.digest,
    yesGates: world.yesGates === true,
    known,
  }
}

async function handOver(
  run: SubmittedRun,
  facts: RunFacts,
  plan: Plan,
  world: RunWorld,
  address: ServerAddress,
): Promise<RunResult> {
  const { runtime, signal, onEvent } = world
  const at = (): string => new Date(runtime.now()).toISOString()
  const { runId } = run
  const steps = allSteps(plan.root).length
  onEvent?.({ type: 'run-started', runId, skill: plan.skill, steps, at: at() })
  const id = await submitRun(address, { ...facts, plan }, run.part)
  const over = new AbortController()
  const following =
    onEvent === undefined ? undefined : followRun(address, id, plan, onEvent, over.signal)
  let result: RunResult
  try {
    result = await ended(run, id, plan, address, signal)
  } finally {
    over.abort()
    await following
  }
  onEvent?.({ type: 'run-finished', runId, status: result.status, at: at() })
  return result
}

/** How long a run that was cancelled may take to end its steps. */
const patienceMs = 15_000

async function ended(
  run: SubmittedRun,
  id: string,
  plan: Plan,
  address: ServerAddress,
  signal: AbortSignal | undefined,
): Promise<RunResult> {
  try {
    return await awaitRun(address, run, plan.digest, signal)
  } catch (error) {
    if (signal?.aborted !== true) throw error
    await cancelInvocation(address, id)
    const result = await awaitRun(address, run, plan.digest, AbortSignal.timeout(patienceMs))
    // As by Ctrl-C in a run that is executed here.
    return result.status === 'cancelled' ? { ...result, status: 'interrupted' } : result
  }
}

function refuseWhatWorkersCannot(plan: Plan, world: RunWorld): void {
  const steps = allSteps(plan.root)
  const gate = steps.find((step) => step.gate === true && step.excluded !== true)
  if (gate !== undefined && world.yesGates !== true) {
    throw new ChainPlanError({
      code: 'gate-on-server',
      message: `${plan.skill} waits for a person before ${gate.step}, which a run on a server cannot`,
      hint: 'Approve every gate in advance with --yes-gates, or run it without --engine.',
    })
  }
  const agent = steps.find(({ executor }) => executor === 'agent' || executor === 'model')
  if (agent === undefined) return
  throw new ChainPlanError({
    code: 'no-executor',
    message: `workers execute skills that have a script; ${agent.step} has none`,
    hint: 'Give the skill scripts/run, or run the chain without --engine.',
  })
}
