import type { Executor, PlannedTask, RunStore } from '../chain/index.ts'
import type { AgentCliName } from '../exec/index.ts'
import type { ChainProject } from './_chain-project.ts'
import { viaExecutor } from './_via-executor.ts'

/** What a worker may execute besides scripts. */
export interface WorkerAllowance {
  /** Agent clients that steps without a script may be given to. */
  clients: readonly AgentCliName[]
  /** Models, as `provider:name`; a step's is compared as it stands in the plan. */
  models: readonly string[]
}

/**
 * The executors of a worker. A further kind is a further entry here and in {@link notAllowed}.
 * @throws {ChainPlanError} when a client is not installed.
 */
export function workerExecutors(
  project: ChainProject,
  { clients }: WorkerAllowance,
  files: Pick<RunStore, 'directory'>,
): Executor[] {
  const byClient = new Map<string, Executor>(
    clients.map((client) => [client, viaExecutor(project, client, files)]),
  )
  if (byClient.size === 0) return []
  return [
    {
      kind: 'agent',
      async execute(request) {
        const executor = byClient.get(request.call.step.client ?? '')
        if (executor === undefined) throw new Error('the worker has no such client')
        return await executor.execute(request)
      },
    },
  ]
}

/** Why a worker gives a step back, whatever its skill; undefined when it may execute such steps. */
export function notAllowed(
  { executor, client = '', model = '' }: Pick<PlannedTask, 'executor' | 'client' | 'model'>,
  { clients, models }: WorkerAllowance,
): string | undefined {
  if (executor === 'script') return undefined
  if (executor === 'agent') {
    return clients.some((allowed) => allowed === client)
      ? undefined
      : `a worker executes steps with ${client} only when it is started with --via ${client}`
  }
  if (executor === 'model') {
    return models.includes(model)
      ? undefined
      : `a worker executes steps with ${model} only when it is started with --model ${model}`
  }
  return `workers do not execute steps by a ${executor}`
}
