import type { Runtime, Settings } from '../../base/index.ts'
import { findWorkspace } from '../../trust/index.ts'
import type { ServerConfiguration } from '../config/model.ts'
import { readServerConfiguration } from '../config/read-configuration.ts'
import { openServers, type OpenServersOptions, type ServerPool } from './pool.ts'
import { servedClient } from './served-client.ts'
import { servedPool } from './served-pool.ts'
import { readServedRecord } from './served-record.ts'

export interface ProjectServersOptions extends Pick<OpenServersOptions, 'clientInfo' | 'onLog'> {
  /** A directory of the project. */
  project: string
  runtime: Runtime
  settings: Pick<Settings, 'workspaceTrust'>
  /** Whether the servers that `tools serve` keeps are used; default true. */
  kept?: boolean | undefined
}

export interface ProjectServers extends ServerPool {
  readonly configuration: ServerConfiguration
  /** `kept`: another process runs them, and they outlive this pool. */
  readonly life: 'own' | 'kept'
}

/**
 * The servers of a project: those that `skillrail tools serve` keeps where it runs, else ones of our
 * own that start when they are needed. Nothing is started or connected here.
 */
export function openProjectServers(options: ProjectServersOptions): ProjectServers {
  const { runtime, settings, kept = true } = options
  const project = findWorkspace(options.project, runtime)
  const configuration = readServerConfiguration({
    project,
    runtime,
    trust: settings.workspaceTrust,
  })
  const record = kept ? readServedRecord(project, runtime) : undefined
  if (record !== undefined) {
    return {
      ...servedPool(servedClient(record), configuration.servers),
      configuration,
      life: 'kept',
    }
  }
  return {
    ...openServers(configuration.servers, { ...options, project }),
    configuration,
    life: 'own',
  }
}
