import { hostname } from 'node:os'
import type { Context, Serde } from '@restatedev/restate-sdk'
import { isList, isObject, objectOf, parseJson } from '../../core/json.ts'
import type { Runtime } from '../../core/runtime.ts'
import type { StepOutput } from '../../exec/output-protocol.ts'
import { chainOutput } from '../step-result.ts'
import type { ChainResult, EventListener } from '../engine.ts'
import { runChain } from '../attempt.ts'
import { type ApprovalRecord, isChainRecord } from '../journal-records.ts'
import type { PlannedStep } from '../plan-model.ts'
import type { StepRunner } from '../step-runner.ts'
import type { Sdk } from './client.ts'
import {
  emptyPass,
  isAbout,
  openGates,
  remembering,
  RestateEngine,
  standstillOf,
} from './engine.ts'
import {
  type Decision,
  fitAnswer,
  handlerNames,
  type NestedRequest,
  protocolVersion,
  type RunFacts,
  type RunRequest,
  serviceName,
  type WaitingNotice,
  type WorkerReport,
} from './protocol.ts'
import { type Acceptance, StepExecution } from './step-execution.ts'

interface ServiceSetup {
  sdk: Sdk
  runtime: Runtime
  accept(step: PlannedStep): Acceptance
  giveBack(): void
  patienceMs: number
  resultLimit: number
  runnerFor(facts: RunFacts): StepRunner
  /**
   * The run has ended here: the files of its steps, or all, are removed. Never throws, since that
   * would repeat the run.
   */
  ended(facts: RunFacts, all: boolean): void
  report(): Omit<WorkerReport, 'host' | 'now' | 'node' | 'version'>
  onEvent?: ((runId: string, ...event: Parameters<EventListener>) => void) | undefined
}

type Service = ReturnType<Sdk['service']>

export function createService(setup: ServiceSetup): Service {
  const { sdk, runtime } = setup
  return sdk.service({
    name: serviceName,
    handlers: {
      [handlerNames.run]: async (context: Context, request: RunRequest) =>
        await executeRun(setup, context, request),
      [handlerNames.chain]: sdk.handlers.handler(
        { ingressPrivate: true },
        async (context: Context, request: NestedRequest) =>
          await executeNested(setup, context, request),
      ),
      [handlerNames.inspect]: async (): Promise<WorkerReport> => ({
        ...setup.report(),
        version: protocolVersion,
        node: process.version,
        host: hostname(),
        now: runtime.now(),
      }),
    },
    options: {
      // A step may run for hours without a sign, and a cancellation must reach it all the while.
      inactivityTimeout: { days: 7 },
      abortTimeout: { days: 7 },
      idempotencyRetention: { days: 7 },
      journalRetention: { days: 1 },
      // A worker that died is replaced soon; nothing is given up.
      retryPolicy: {
        initialInterval: 100,
        exponentiationFactor: 2,
        maxInterval: 2000,
        maxAttempts: 1_000_000,
        onMaxAttempts: 'pause',
      },
    },
  })
}

async function executeRun(setup: ServiceSetup, context: Context, request: RunRequest) {
  const { sdk } = setup
  const { execution, begunAt } = await begin(setup, context, request)
  const { plan, runId, planDigest } = request
  const pass = emptyPass()
  const standstill = standstillOf()
  const approvals = [...(request.approvals ?? [])]
  for (;;) {
    standstill.gates.clear()
    const facts = { ...request, approvals: [...approvals] }
    const parts = { sdk, context, facts, execution, begunAt, standstill }
    const engine = new RestateEngine(parts)
    const chain = await runChain(plan.root, remembering(engine, pass))
    const { status, attempts, winner, ended } = chain
    const result = { runId, skill: plan.skill, status, attempts, winner }
    const answer = { planDigest, result, approvals }
    if (ended !== 'suspended') {
      setup.ended(request, plan.root.policy.cleanupAfter)
      return fitAnswer(answer)
    }
    const gates = openGates(standstill)
    const decision = await waitForPerson(sdk, context, () => ({
      result: fitAnswer(answer).result,
      gates: gates.map((gate) => ({
        type: 'gate',
        ...gate,
        at: new Date(setup.runtime.now()).toISOString(),
      })),
    }))
    if (decision === 'cancelled') {
      setup.ended(request, plan.root.policy.cleanupAfter)
      return fitAnswer({ ...answer, result: { ...result, status: 'cancelled' } })
    }
    approvals.push(...decision.approvals.filter((approval) => isAbout(gates, approval)))
  }
}

async function executeNested(setup: ServiceSetup, context: Context, request: NestedRequest) {
  const { step, state, key, paused, waitMs } = request
  if (waitMs !== undefined && paused === undefined) await context.sleep(waitMs)
  const { execution, begunAt } = await begin(setup, context, request)
  const startedAt = paused?.startedAt ?? begunAt
  const pass = paused?.pass ?? emptyPass()
  const standstill = standstillOf(paused)
  const { sdk } = setup
  const parts = { sdk, context, facts: request, execution, begunAt, standstill }
  const engine = new RestateEngine(parts)
  const chain = await runChain(step, remembering(engine, pass), state, `${key}/`)
  const verified = await verify(setup, context, request, chain, execution)
  const endedAt = await context.run('end', () => setup.runtime.now())
  // Two workers may have clocks that differ.
  const times = { startedAt, durationMs: Math.max(0, endedAt - startedAt) }
  if (chain.ended !== 'suspended') return { chain, ...verified, ...times }
  const chains = [...standstill.chains]
  return { chain, ...times, paused: { pass, gates: openGates(standstill), chains, startedAt } }
}

async function verify(
  setup: ServiceSetup,
  context: Context,
  request: NestedRequest,
  chain: ChainResult,
  execution: StepExecution,
): Promise<{ output?: StepOutput; log?: string | undefined }> {
  if (chain.ended === 'rejected') return { output: chainOutput(chain) }
  if (chain.ended !== undefined) return {}
  const output = chainOutput(chain)
  const { step, key, attempt, state } = request
  if (step.verify === undefined && !request.requireVerified) return { output }
  const signal = context.request().attemptCompletedSignal
  const verification = async (): Promise<{ output: StepOutput; log?: string }> => {
    // Its script is executed like that of a step.
    const refusal = step.verify === undefined ? undefined : await execution.refused(step, signal)
    if (refusal?.kind === 'finished') return { output: refusal.output }
    const call = { step, key, attempt, state, timeoutMs: 0 }
    const answer = await setup.runnerFor(request).finishChain(call, output, { signal })
    if (signal.aborted) throw new Error('the server switched to another worker')
    return answer.kind === 'output' ? { output: answer.output, log: answer.log ?? '' } : { output }
  }
  return await context.run('verify', verification, execution.patience)
}

async function begin(setup: ServiceSetup, context: Context, facts: RunFacts) {
  const { sdk, patienceMs } = setup
  const { runId, version } = facts
  // It becomes a directory, and the request may come from anybody who reaches the server.
  if (!/^[0-9a-z]{1,40}$/.test(runId)) {
    throw new sdk.TerminalError(`${JSON.stringify(runId)} is not a run ID`)
  }
  let first = false
  const begin = (): number => {
    if (version > protocolVersion) {
      setup.giveBack()
      const message = `the run needs version ${version}, and the workers here support version ${protocolVersion}`
      throw new sdk.RetryableError(message, { retryAfter: 1000 })
    }
    first = true
    return setup.runtime.now()
  }
  const begunAt = await context.run('begin', begin, { maxRetryDuration: patienceMs })
  const execution = new StepExecution({
    ...setup,
    runId,
    runner: setup.runnerFor(facts),
    clock: setup.runtime,
    defaultTimeoutMs: facts.defaultTimeoutMs,
    attempt: context.request().attemptCompletedSignal,
    repeated: () => !first,
    onEvent: (event) => setup.onEvent?.(runId, event),
  })
  return { execution, begunAt }
}

const waitingEntry = 'waiting'

/**
 * Waits until a user decides, across restarts of workers and servers. Returns `cancelled` when the
 * run is ended meanwhile.
 */
async function waitForPerson(
  sdk: Sdk,
  context: Context,
  notice: () => Omit<WaitingNotice, 'awakeable'>,
): Promise<Decision | 'cancelled'> {
  try {
    const { id, promise } = context.awakeable(decisionSerde)
    await context.run(waitingEntry, (): WaitingNotice => ({ ...notice(), awakeable: id }))
    return await promise
  } catch (error) {
    if (error instanceof sdk.CancelledError) return 'cancelled'
    // The promise itself was rejected: no decision about any gate.
    if (error instanceof sdk.TerminalError) return { approvals: [] }
    throw error
  }
}

/** Anything else decides nothing, and must not stop the run. */
export function readDecision(text: string): Decision {
  const { approvals } = objectOf(parseJson(text))
  return { approvals: isList(approvals) ? approvals.filter((item) => isApproval(item)) : [] }
}

const decisionSerde: Serde<Decision> = {
  contentType: 'application/json',
  serialize: (value) => Buffer.from(JSON.stringify(value)),
  deserialize: (data) => readDecision(Buffer.from(data).toString('utf8')),
}

function isApproval(value: unknown): value is ApprovalRecord {
  return isObject(value) && isChainRecord(value) && value.type === 'approval'
}
