import {
  discoverOnce,
  indexDefinitions,
  openProjectServers,
  type ProjectServers,
  type ToolIndex,
} from '../tools/index.ts'
import type { CommandContext } from './command.ts'

/** The servers of the project: those that `tools serve` keeps, else own ones, started when needed. */
export function projectServers(context: CommandContext, project: string): ProjectServers {
  const { runtime, settings, options, output } = context
  const pool = openProjectServers({ project, runtime, settings })
  if (!options.json) output.diagnostics(pool.configuration.diagnostics)
  return pool
}

/** The tools as the servers list them now; undefined where there is none to ask. */
export async function askServers(
  context: CommandContext,
  project: string,
  index: ToolIndex | undefined,
): Promise<ToolIndex | undefined> {
  const { runtime, signal } = context
  const pool = projectServers(context, project)
  const enabled = pool.configuration.servers.filter(({ disabled }) => !disabled)
  if (enabled.length === 0) return undefined
  try {
    return await discoverOnce({
      pool,
      index,
      trusted: new Set(enabled.flatMap(({ name, trusted }) => (trusted ? [name] : []))),
      refreshedAt: new Date(runtime.now()).toISOString(),
      signal,
    })
  } finally {
    await pool.close()
  }
}

export function emptyToolIndex(): ToolIndex {
  return indexDefinitions([])
}
