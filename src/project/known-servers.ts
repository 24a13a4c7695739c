import { findWorkspace } from '#core/read-files'
import type { Runtime } from '#core/runtime'
import { loadToolIndex } from '#tools/cache/tool-index'
import { readServerConfiguration } from '#tools/config/read-configuration'
import type { KnownServers } from '#trigger/never-fires'
import type { TriggerSkill } from '#trigger/match'

/** Reads the MCP servers of the clients if any of the triggers is on a tool. Nothing is started. */
export function serversFor(
  triggers: TriggerSkill['triggers'],
  runtime: Runtime,
): KnownServers | undefined {
  if (!triggers.some(({ when }) => when?.kind === 'tool')) return undefined
  const project = findWorkspace(runtime.cwd, runtime)
  const { servers } = readServerConfiguration({ project, runtime })
  const { index } = loadToolIndex({ project, runtime })
  return {
    names: servers.map(({ name }) => name),
    toolsOf(server) {
      const listed = index?.servers.find(({ name }) => name === server)
      if (!index || !listed || listed.unavailable || listed.toolCount === 0) return undefined
      return index.tools.filter((tool) => tool.server === server).map(({ name }) => name)
    },
  }
}
