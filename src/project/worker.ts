import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pointless } from '#core/errors'
import { type JsonValue, objectOf } from '#core/json'
import type { Settings } from '#core/settings'
import { safeLine } from '#core/text'
import type { ChainEvent, Executor } from '#chain/engine'
import { ask, requireVersion, RestateServerError } from '#chain/restate/client'
import { startWorker } from '#chain/restate/worker'
import type { RunStore } from '#chain/run-store'
import {
  type ChainProject,
  clientNamed,
  openProject,
  refuseWithoutModel,
  type RunContext,
} from './chains.ts'
import { serverAddress } from './engines.ts'
import { modelExecutorOf, viaExecutor } from './executors.ts'
import { type WorkerAllowance, workerRules } from './worker-rules.ts'

/** The options of `skillrail runs worker`. A setting of `restate` takes the place of each that is absent. */
export interface WorkerChoice {
  port?: number | undefined
  host?: string | undefined
  /** The address under which the server reaches this worker. */
  register?: string | undefined
  adminUrl?: string | undefined
  via: readonly string[]
  model: readonly string[]
  baseUrl?: string | undefined
  tools?: string | undefined
}

/** A worker that listens until it is closed. */
export interface ListeningWorker {
  host: string
  port: number
  registered: string | undefined
  close(): Promise<void>
}

/**
 * Starts a worker for the chains of a project, and registers it with the server if an address is
 * set.
 *
 * @throws {RestateServerError} if the server is away or refuses the registration
 */
export async function startProjectWorker(
  context: RunContext,
  choice: WorkerChoice,
  onEvent: (runId: string, event: ChainEvent) => void,
): Promise<ListeningWorker> {
  const { runtime, settings } = context
  const { restate } = settings
  const project = openProject(context)
  const host = choice.host ?? restate.workerHost
  const address = choice.register ?? restate.workerAddress
  const models = chosenOr(choice.model, restate.models)
  const allowanceIn = (now: Settings['restate']): WorkerAllowance => ({
    clients: [...new Set(chosenOr(choice.via, now.via).flatMap((name) => clientNamed(name) ?? []))],
    models: chosenOr(choice.model, now.models),
  })
  const allowance = allowanceIn(restate)
  const rules = workerRules(project, allowanceIn)
  const hint = 'Add --model provider:name, or set restate.models.'
  refuseWithoutModel(models.length > 0, choice, hint)
  if (choice.adminUrl !== undefined && address === '') {
    throw pointless('--admin-url', '--register', 'Add --register.')
  }
  const byModel = models.length === 0 ? [] : [await modelExecutorOf(project, choice, models)]
  const worker = await startWorker({
    runtime,
    workspace: project.workspace,
    directory: join(project.store.directory, '../workers'),
    settings: rules.runSettings,
    host,
    port: choice.port ?? restate.workerPort,
    accept: rules.accept,
    executors: (files) => [...clientExecutors(project, allowance, files), ...byModel],
    report: rules.report,
    restate,
    refusalOf: rules.refusalOf,
    onEvent,
    onWarning: (message) => context.note(safeLine(message), 'detail'),
  })
  const { port } = worker
  const close = async (): Promise<void> => await worker.close()
  try {
    context.note(`This worker listens on ${host}:${port}. Ctrl-C ends it.`)
    if (address !== '') await registerWorkers(context, address, choice.adminUrl)
    return { host, port, registered: address || undefined, close }
  } catch (error) {
    await close()
    throw error
  }
}

function chosenOr(chosen: readonly string[], setting: readonly string[]): readonly string[] {
  return chosen.length > 0 ? chosen : setting
}

/** @throws {ChainPlanError} when a client is not installed. */
function clientExecutors(
  project: ChainProject,
  { clients }: WorkerAllowance,
  files: Pick<RunStore, 'directory'>,
): Executor[] {
  if (clients.length === 0) return []
  const byClient = new Map<string | undefined, Executor>(
    clients.map((client) => [client, viaExecutor(project, client, files)]),
  )
  const execute: Executor['execute'] = async (request) => {
    const executor = byClient.get(request.call.step.client)
    if (!executor) throw new Error('the worker has no such client')
    return await executor.execute(request)
  }
  return [{ kind: 'agent', execute }]
}

const registerPatienceMs = 30_000

async function registerWorkers(
  context: RunContext,
  uri: string,
  adminUrl: string | undefined,
): Promise<void> {
  const address = serverAddress(context, { adminUrl })
  const deadline = performance.now() + registerPatienceMs
  for (;;) {
    const isLate = performance.now() > deadline
    try {
      await requireVersion(address)
      const body = { uri, force: false }
      const answer = await ask(address, 'admin', '/deployments', { method: 'POST', body })
      if (answer.status < 300) {
        context.note(`The server at ${address.adminUrl} knows its workers at ${uri}.`)
        return
      }
      if (answer.status < 500 || isLate) throw notRegistered(uri, answer)
    } catch (error) {
      const isAway = error instanceof RestateServerError && error.code === 'restate-away'
      if (!isAway || isLate) throw error
    }
    await sleep(500, undefined, { signal: context.signal })
  }
}

function notRegistered(
  uri: string,
  { status, body }: { status: number; body: unknown },
): RestateServerError {
  const { message: told = '' } = objectOf<JsonValue>(body)
  return new RestateServerError(
    'restate-not-registered',
    `the server did not register ${uri} (HTTP ${status}): ${JSON.stringify(told)}`,
    'A changed service needs a new address (docs/scale.md).',
  )
}
