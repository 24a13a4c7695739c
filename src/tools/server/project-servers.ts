import { fileIdentity, findWorkspace } from '#core/read-files'
import type { Runtime } from '#core/runtime'
import type { Settings } from '#core/settings'
import type { ServerConfiguration } from '#tools/config/model'
import { readServerConfiguration } from '#tools/config/read-configuration'
import { openServers, type OpenServersOptions, type ServerPool } from './pool.ts'
import { connectKept } from './kept-client.ts'
import { readKeptRecord } from './kept-process.ts'

interface ProjectServersOptions extends Pick<OpenServersOptions, 'onLog'> {
  project: string
  runtime: Runtime
  settings: Pick<Settings, 'workspaceTrust'>
}

export interface ProjectServers extends Pick<ServerPool, 'definitions' | 'get' | 'list' | 'close'> {
  /** The current configuration. Reading it ends servers that are no longer allowed to run. */
  readonly configuration: ServerConfiguration
  /** `kept`: another process runs the servers, and they outlive this pool. */
  readonly life: 'own' | 'kept'
}

/**
 * Opens the servers of a project: those that `skillrail tools serve` keeps, else servers that this process
 * starts when a call needs them. Configuration and trust are read again for every use: removed, changed or
 * untrusted servers end, and new ones count. Nothing is started or connected here.
 */
export function openProjectServers(options: ProjectServersOptions): ProjectServers {
  const { runtime, settings } = options
  const project = findWorkspace(options.project, runtime)
  const trust = (): WorkspaceTrust => settings.workspaceTrust
  const current = currentConfiguration({ project, runtime, trust })
  const place = { project, runtime }
  const servers = openServers(() => current().servers, {
    ...options,
    project,
    async connectKept(definition, signal) {
      const record = readKeptRecord(place)
      return record && (await connectKept(definition, record, place, signal))
    },
  })
  return {
    get configuration() {
      // Ends servers that are no longer allowed to run, even if no server is requested.
      servers.update()
      return current()
    },
    get definitions() {
      return servers.definitions
    },
    get life(): 'own' | 'kept' {
      return readKeptRecord(place) ? 'kept' : 'own'
    },
    get: servers.get,
    list: servers.list,
    close: servers.close,
  }
}

type WorkspaceTrust = Settings['workspaceTrust']

interface CurrentPlace {
  project: string
  runtime: Runtime
  /** Called before each reading, because the user can change the trust while the process runs. */
  trust: () => WorkspaceTrust
}

/** Reads a project's configuration again after a change of its files or its trust. */
export function currentConfiguration({
  project,
  runtime,
  trust,
}: CurrentPlace): () => ServerConfiguration {
  let readWith = trust()
  let configuration = readServerConfiguration({ project, runtime, trust: readWith })
  let identity = fileIdentity(configuration.inputs)
  return () => {
    const latest = trust()
    if (latest !== readWith || fileIdentity(configuration.inputs) !== identity) {
      readWith = latest
      configuration = readServerConfiguration({ project, runtime, trust: latest })
      // The new reading may have further files.
      identity = fileIdentity(configuration.inputs)
    }
    return configuration
  }
}
