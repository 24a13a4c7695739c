import { createServer, type ServerHttp2Session } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { hostname } from 'node:os'
import { join } from 'node:path'
import type { Context, Serde } from '@restatedev/restate-sdk'
import { messageOf } from '#core/errors'
import { isList, isObject, objectOf, parseJson } from '#core/json'
import { installCommand } from '#core/packaged-program'
import { packageVersion, type Runtime, timeBetween } from '#core/runtime'
import type { Settings } from '#core/settings'
import { makePrivateDirectory } from '#core/write-files'
import type { StepOutput } from '#exec/output-protocol'
import { runChain } from '#chain/attempt'
import type { ChainEvent, ChainResult, Engine, Executor } from '#chain/engine'
import { ChainError } from '#chain/errors'
import { type ApprovalRecord, type GateRecord, isAbout, isChainRecord } from '#chain/run-journal'
import { cleanUp } from '#chain/run-chain'
import { removeTree } from '#chain/run-store'
import { type Refusal, type RunFiles, runFiles } from '#chain/executors'
import { chainOutput } from '#chain/step-result'
import { StepRunner } from '#chain/step-runner'
import { type EngineParts, jsonSerde, remembering, RestateEngine } from './engine.ts'
import {
  type Decision,
  fitAnswer,
  handlerNames,
  type NestedAnswer,
  type NestedRequest,
  protocolVersion,
  type RunAnswer,
  type RunFacts,
  type RunRequest,
  serviceName,
  type WaitingNotice,
  type WorkerReport,
} from './protocol.ts'
import { type Sdk, StepExecution, type StepRules } from './step-execution.ts'

export interface WorkerOptions extends Pick<StepRules, 'accept'> {
  runtime: Runtime
  workspace: string
  directory: string
  /** Returns the settings for a run that starts now. */
  settings(): Settings['run']
  /** Contains the identity keys of the server; requests that the server did not sign are refused. */
  restate: Settings['restate']
  host: string
  port: number
  report(): Pick<WorkerReport, 'skills' | 'clients'>
  /** Returns the executors for steps without a script. The files of runs are stored in `files.directory`. */
  executors(files: { directory: string }): readonly Executor[]
  refusalOf(directory: string): Refusal | undefined
  onEvent(runId: string, event: ChainEvent): void
  onWarning(message: string): void
}

interface Serving extends WorkerOptions, StepRules {
  sdk: Sdk
  id: string
  runnerFor(facts: RunFacts): StepRunner
  filesOf(runId: string): RunFiles
}

export interface Worker {
  port: number
  /** Ends the worker and the steps that it executes. Another worker repeats those steps. */
  close(): Promise<void>
}

export async function startWorker(options: WorkerOptions): Promise<Worker> {
  const sdk = await loadSdk()
  const { restate } = options
  const id = options.runtime.id()
  const directory = join(options.directory, id)
  const executors = options.executors({ directory })
  const sessions = new Set<ServerHttp2Session>()
  const filesOf = (runId: string): RunFiles => {
    // Steps can return artifacts only if all workers share a directory.
    const { scratch, logs } = runFiles(restate.scratch || directory, runId)
    return { ...runFiles(directory, runId), scratch, logs }
  }
  const service = createService({
    ...options,
    patienceMs: restate.patience * 1000,
    resultLimit: restate.resultLimit,
    sdk,
    id,
    filesOf,
    // Only these facts come from the request; the worker decides the rest.
    runnerFor: ({ runId, arguments: words, requireVerified }) =>
      new StepRunner({
        runId,
        arguments: words,
        requireVerified,
        workspace: options.workspace,
        files: filesOf(runId),
        sharesFiles: restate.scratch !== '',
        runtime: options.runtime,
        settings: options.settings(),
        executors,
        confinement: undefined,
        refusalOf: (skill) => options.refusalOf(skill),
      }),
    closeSessions() {
      for (const session of sessions) session.close()
    },
  })
  makePrivateDirectory(directory)
  const server = createServer(
    sdk.createEndpointHandler({
      services: [service],
      identityKeys: [...restate.identityKeys],
      logger: ({ level }, message, ...more) => {
        const severity: string = level
        if (severity !== 'warn' && severity !== 'error') return
        options.onWarning([message, ...more.map((value) => messageOf(value))].join(' '))
      },
    }),
  )
  server.on('session', (session) => {
    sessions.add(session)
    session.on('close', () => sessions.delete(session))
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(portError(options, error)))
    server.listen(options.port, options.host, resolve)
  })
  return {
    port: addressOf(server.address()).port,
    async close() {
      const serverEnd = new Promise<void>((resolve) => {
        server.close(() => resolve())
      })
      for (const session of sessions) session.destroy()
      await serverEnd
      removeTree(directory)
    },
  }
}

async function loadSdk(): Promise<Sdk> {
  try {
    return await import('@restatedev/restate-sdk')
  } catch (error) {
    throw new ChainError(
      'restate-sdk-missing',
      `a worker needs @restatedev/restate-sdk: ${messageOf(error).split('\n')[0]}`,
      installCommand(['@restatedev/restate-sdk']),
      { cause: error },
    )
  }
}

function createService(setup: Serving): ReturnType<Sdk['service']> {
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
        worker: setup.id,
        skillrail: packageVersion(),
        version: protocolVersion,
        node: process.version,
        host: hostname(),
        now: runtime.now(),
      }),
    },
    options: {
      // A step may be silent for hours, and a cancellation must still reach it.
      inactivityTimeout: { days: 7 },
      abortTimeout: { days: 7 },
      idempotencyRetention: { days: 7 },
      journalRetention: { days: 1 },
      // A dead worker is replaced soon, so invocations retry without an end.
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

async function executeRun(
  setup: Serving,
  context: Context,
  request: RunRequest,
): Promise<RunAnswer> {
  const { sdk } = setup
  const { execution, begunAt } = await begin(setup, context, request)
  const { plan, ...requestFacts } = request
  const { runId, planDigest, pass } = requestFacts
  const approvals = [...(request.approvals ?? [])]
  for (;;) {
    const facts = { ...requestFacts, approvals: [...approvals] }
    const gates = new Map<string, GateRecord>()
    const engine = engineOf(setup, context, facts, { execution, begunAt, gates })
    const { status, ended } = await runChain(plan.root, engine)
    const open = ended === 'suspended' ? [...gates.values()] : []
    const answer = fitAnswer({ planDigest, status, pass, approvals, gates: open })
    const waits = ended === 'suspended' && answer.status === status
    const decision = waits ? await waitForUser(sdk, context, answer) : 'ended'
    if (typeof decision === 'string') {
      const { cleanupAfter } = plan.root.policy
      const problem = cleanUp(runId, setup.filesOf(runId), cleanupAfter)
      if (problem) setup.onWarning(`${problem.message} (${problem.path})`)
      return decision === 'ended' ? answer : { ...answer, status: decision, gates: [] }
    }
    const relevant = decision.approvals.filter((approval) => {
      const gate = gates.get(approval.key)
      return gate !== undefined && isAbout(gate, approval)
    })
    approvals.push(...relevant)
  }
}

async function executeNested(
  setup: Serving,
  context: Context,
  request: NestedRequest,
): Promise<NestedAnswer> {
  const { step, state, key, pass, waitMs } = request
  if (waitMs !== undefined && pass.begun[key] === undefined) await context.sleep(waitMs)
  const { execution, begunAt } = await begin(setup, context, request)
  const startedAt = (pass.begun[key] ??= begunAt)
  const gates = new Map<string, GateRecord>()
  const engine = engineOf(setup, context, request, { execution, begunAt, gates })
  const chain = await runChain(step, engine, state, `${key}/`)
  const verification = await verify(setup, context, request, chain, execution)
  const endedAt = await context.run('end', () => setup.runtime.now())
  // The clocks of two workers may differ.
  const durationMs = timeBetween(startedAt, endedAt) ?? null
  return { chain, ...verification, startedAt, durationMs, pass, gates: [...gates.values()] }
}

function engineOf(
  { sdk, runtime }: Serving,
  context: Context,
  facts: RunFacts,
  parts: Pick<EngineParts, 'execution' | 'begunAt' | 'gates'>,
): Engine {
  const { pass } = facts
  const engineParts = { sdk, context, facts, pass, now: () => runtime.now(), ...parts }
  return remembering(new RestateEngine(engineParts), pass)
}

async function verify(
  setup: Serving,
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
    // `scripts/verify` needs the same permission as the script of a step.
    const refusal =
      step.verify === undefined ? undefined : await execution.refusalOutcome(step, signal)
    if (refusal?.kind === 'finished') return { output: refusal.output }
    const call = { step, key, attempt, state, timeoutMs: 0 }
    const answer = await setup.runnerFor(request).finishChain(call, output, { signal })
    if (signal.aborted) throw new Error('the server switched to another worker')
    return { output: answer.output, log: answer.log ?? '' }
  }
  return await context.run('verify', verification, execution.patience)
}

async function begin(setup: Serving, context: Context, facts: RunFacts) {
  const { sdk, patienceMs } = setup
  const { runId, version } = facts
  // The ID becomes a directory name, and anybody who reaches the server can send a request.
  if (!/^[0-9a-z]{1,40}$/.test(runId)) {
    throw new sdk.TerminalError(`${JSON.stringify(runId)} is not a run ID`)
  }
  let first = false
  const begin = (): number => {
    if (version !== protocolVersion) {
      setup.closeSessions()
      const message = `the run needs version ${version}; the workers have ${protocolVersion}`
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
    isRepeated: () => !first,
    onEvent: (event) => setup.onEvent(runId, event),
  })
  return { execution, begunAt }
}

/** Waits across restarts of workers and servers. Returns `cancelled` if the run is cancelled meanwhile. */
async function waitForUser(
  sdk: Sdk,
  context: Context,
  notice: Omit<WaitingNotice, 'awakeable'>,
): Promise<Decision | 'cancelled'> {
  try {
    const { id, promise } = context.awakeable(decisionSerde)
    await context.run('waiting', (): WaitingNotice => ({ ...notice, awakeable: id }))
    return await promise
  } catch (error) {
    if (error instanceof sdk.CancelledError) return 'cancelled'
    // A rejected promise decides about no gate.
    if (error instanceof sdk.TerminalError) return { approvals: [] }
    throw error
  }
}

/** Reads a decision. Any other text decides nothing, and must not stop the run. */
export function readDecision(text: string): Decision {
  const { approvals } = objectOf(parseJson(text))
  return { approvals: isList(approvals) ? approvals.filter((item) => isApproval(item)) : [] }
}

const decisionSerde: Serde<Decision> = {
  ...jsonSerde<Decision>(),
  deserialize: (data) => readDecision(Buffer.from(data).toString('utf8')),
}

function isApproval(value: unknown): value is ApprovalRecord {
  return isObject(value) && isChainRecord(value) && value.type === 'approval'
}

function portError(options: WorkerOptions, error: unknown): ChainError {
  return new ChainError(
    'worker-cannot-listen',
    `the worker cannot listen on ${options.host}:${options.port}: ${messageOf(error)}`,
    'Choose another port with --port.',
    { cause: error },
  )
}

function addressOf(address: string | AddressInfo | null): AddressInfo {
  if (address !== null && typeof address !== 'string') return address
  throw new Error('the worker has no port')
}
