import { createServer, type ServerHttp2Session } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { makePrivateDirectory } from '../../core/write-files.ts'
import { messageOf } from '../../core/errors.ts'
import type { Runtime } from '../../core/runtime.ts'
import type { Settings } from '../../core/settings.ts'
import { childEnvironment } from '../../exec/process.ts'
import { removeTree } from '../run-store.ts'
import { cleanUp } from '../run-chain.ts'
import { ChainError } from '../errors.ts'
import type { ChainEvent, Executor } from '../engine.ts'
import type { PlannedStep } from '../plan-model.ts'
import { type Refusal, type RunFiles, runFiles, scriptExecutor } from '../script-executor.ts'
import { createStepRunner, type StepRunner } from '../step-runner.ts'
import type { RunFacts, WorkerReport } from './protocol.ts'
import { loadSdk } from './client.ts'
import { createService } from './service.ts'
import type { Acceptance } from './step-execution.ts'

export interface WorkerOptions {
  runtime: Runtime
  workspace: string
  /** Where the files of its runs lie. */
  directory: string
  settings: Settings['run']
  host: string
  port: number
  accept(step: PlannedStep): Acceptance
  report(): Pick<WorkerReport, 'skillrail' | 'skills' | 'clients'>
  patienceMs: number
  resultLimit: number
  /** A directory that all workers share; without one no step can return artifacts. */
  scratch?: string | undefined
  /** Public keys of the server; requests that it did not sign are refused. */
  identityKeys: readonly string[]
  /** Of steps that have no script; `files` is where the files of runs lie. */
  executors?: ((files: { directory: string }) => readonly Executor[]) | undefined
  refusalOf?: ((directory: string) => Refusal | undefined) | undefined
  onEvent?: ((runId: string, event: ChainEvent) => void) | undefined
  onWarning?: ((message: string) => void) | undefined
}

export interface Worker {
  port: number
  /** Takes nothing new and ends; what runs here is ended and repeated by another worker. */
  close(): Promise<void>
}

/** Serves the interpreter to a Restate server. */
export async function startWorker(options: WorkerOptions): Promise<Worker> {
  const sdk = await loadSdk()
  const { runtime } = options
  const id = runtime.id()
  const files = join(options.directory, id)
  const executors = options.executors?.({ directory: files }) ?? []
  const filesOf = (runId: string): RunFiles => {
    const own = runFiles(files, runId)
    const shared = runFiles(options.scratch ?? files, runId)
    return { ...own, scratch: shared.scratch, logs: shared.logs }
  }
  const sessions = new Set<ServerHttp2Session>()
  const service = createService({
    ...options,
    sdk,
    giveBack() {
      for (const session of sessions) session.close()
    },
    runnerFor: (facts) => runnerOf(options, executors, filesOf(facts.runId), facts),
    ended(facts, all) {
      const left = cleanUp(facts.runId, filesOf(facts.runId), all)
      if (left !== undefined) options.onWarning?.(`${left.message} (${left.path})`)
    },
    report: () => ({ worker: id, ...options.report() }),
  })
  makePrivateDirectory(files)
  const server = createServer(
    sdk.createEndpointHandler({
      services: [service],
      identityKeys: [...options.identityKeys],
      logger: ({ level }, message, ...more) => {
        const severity: string = level
        if (severity !== 'warn' && severity !== 'error') return
        options.onWarning?.([message, ...more.map((value) => messageOf(value))].join(' '))
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
      const closed = new Promise<void>((resolve) => {
        server.close(() => resolve())
      })
      for (const session of sessions) session.destroy()
      await closed
      removeTree(files)
    },
  }
}

function runnerOf(
  options: WorkerOptions,
  executors: readonly Executor[],
  files: RunFiles,
  facts: RunFacts,
): StepRunner {
  const { runtime, workspace, settings } = options
  const setup = {
    workspace,
    files,
    environment: childEnvironment(runtime, settings.environment, {}),
    outputLimit: settings.outputLimit,
    refusalOf: options.refusalOf,
    sharesFiles: options.scratch !== undefined,
  }
  return createStepRunner({
    runId: facts.runId,
    arguments: facts.arguments,
    executors: [scriptExecutor(setup), ...executors],
    setup,
    requireVerified: facts.requireVerified,
  })
}

function portError(options: WorkerOptions, error: unknown): ChainError {
  return new ChainError({
    code: 'worker-cannot-listen',
    message: `the worker cannot listen on ${options.host}:${options.port}: ${messageOf(error)}`,
    hint: 'Choose another port with --port.',
    cause: error,
  })
}

function addressOf(address: string | AddressInfo | null): AddressInfo {
  if (address !== null && typeof address !== 'string') return address
  throw new Error('the worker has no port')
}
