import { fileIdentity, findWorkspace } from '#core/read-files'
import type { Runtime } from '#core/runtime'
import type { Settings } from '#core/settings'
import type { ServerConfiguration } from '#tools/config/model'
import { readServerConfiguration } from '#tools/config/read-configuration'
import { openServers, type OpenServersOptions } from './pool.ts'
import { connectKept, readServedRecord } from './served-process.ts'

interface ProjectServersOptions extends Pick<OpenServersOptions, 'onLog'> {
  project: string
  runtime: Runtime
  settings: Pick<Settings, 'workspaceTrust'>
}

export type ProjectServers = ReturnType<typeof openProjectServers>

/**
 * The servers of a project: those that `skillrail tools serve` keeps for as long as it keeps them,
 * else ones of our own that start when they are needed. Configuration and trust are looked at again
 * whenever something of them is asked: what was taken away, withdrawn or written otherwise ends,
 * what was added counts. Nothing is started or connected here.
 */
export function openProjectServers(options: ProjectServersOptions) {
  const { runtime, settings } = options
  const project = findWorkspace(options.project, runtime)
  const current = currentConfiguration({ project, runtime, trust: settings.workspaceTrust })
  const place = { project, runtime }
  const servers = openServers(() => current().servers, {
    ...options,
    project,
    async connectKept(definition, signal) {
      const record = readServedRecord(project, runtime)
      return record && (await connectKept(definition, record, place, signal))
    },
  })
  return {
    get configuration() {
      // What may no longer run ends now, whether a server is asked for or not.
      servers.update()
      return current()
    },
    get definitions() {
      return servers.definitions
    },
    /** `kept`: another process runs them, and they outlive this pool. */
    get life(): 'own' | 'kept' {
      return readServedRecord(project, runtime) ? 'kept' : 'own'
    },
    get: servers.get,
    list: servers.list,
    close: servers.close,
  }
}

/** Reads the configuration of a project, and reads it again whenever one of its files has changed. */
export function currentConfiguration(
  place: Parameters<typeof readServerConfiguration>[0],
): () => ServerConfiguration {
  let configuration = readServerConfiguration(place)
  let seen = fileIdentity(configuration.inputs)
  return () => {
    if (fileIdentity(configuration.inputs) !== seen) {
      configuration = readServerConfiguration(place)
      // Of the files as they are known now: another place may have been named.
      seen = fileIdentity(configuration.inputs)
    }
    return configuration
  }
}
