import { fileIdentity } from '../../core/read-files.ts'
import { messageOf } from '../../core/errors.ts'
import type { Runtime } from '../../core/runtime.ts'
import type { Settings } from '../../core/settings.ts'
import { findWorkspace } from '../../trust/decide.ts'
import type { ServerConfiguration } from '../config/model.ts'
import { readServerConfiguration } from '../config/read-configuration.ts'
import { openServers, type OpenServersOptions, type ServerPool } from './pool.ts'
import { readServedRecord, servedClient, type ServedClient } from './served-process.ts'
import { servedPool } from './served-pool.ts'
import type { ServedRecord } from './served-protocol.ts'

export interface ProjectServersOptions extends Pick<OpenServersOptions, 'clientInfo' | 'onLog'> {
  project: string
  runtime: Runtime
  settings: Pick<Settings, 'workspaceTrust'>
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

/**
 * The servers of a project for a process that lives long. Configuration and trust are looked at again
 * whenever something of them is asked: what was taken away, withdrawn or written otherwise ends, what
 * was added counts. Servers that another process keeps are used for as long as it keeps them.
 */
export function openLiveServers(options: ProjectServersOptions): ProjectServers {
  const { runtime, settings, onLog, kept = true } = options
  const project = findWorkspace(options.project, runtime)
  const read = (): ServerConfiguration =>
    readServerConfiguration({ project, runtime, trust: settings.workspaceTrust })
  let configuration = read()
  let seen = fileIdentity(configuration.inputs)
  const own = openServers(configuration.servers, { ...options, project })
  let served = kept ? servedNow() : undefined
  return {
    get configuration() {
      return now()
    },
    get definitions() {
      return now().servers
    },
    get life() {
      return source() === own ? 'own' : 'kept'
    },
    get: async (name, given) => await source().get(name, given),
    list: async (given) => await source().list(given),
    async close() {
      served?.client.close()
      await own.close()
    },
  }

  function now(): ServerConfiguration {
    const identity = fileIdentity(configuration.inputs)
    if (identity === seen) return configuration
    configuration = read()
    // Of the files as they are known now: another place may have been named.
    seen = fileIdentity(configuration.inputs)
    own.update(configuration.servers).catch((error: unknown) => {
      onLog?.({ server: '', code: 'server-ended', message: messageOf(error) })
    })
    return configuration
  }

  function source(): ProjectServersPool {
    const { servers } = now()
    if (served === undefined) return own
    const record = readServedRecord(project, runtime)
    if (record?.token === served.record.token) return servedPool(served.client, servers)
    served.client.close()
    served = servedNow()
    return served === undefined ? own : servedPool(served.client, servers)
  }

  function servedNow(): { record: ServedRecord; client: ServedClient } | undefined {
    const record = readServedRecord(project, runtime)
    return record === undefined ? undefined : { record, client: servedClient(record) }
  }
}

type ProjectServersPool = Pick<ProjectServers, 'get' | 'list'>
