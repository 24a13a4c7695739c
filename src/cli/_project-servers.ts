import {
  discoverOnce,
  openProjectServers,
  type ProjectServers,
  requireServers,
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

/**
 * The tools as the servers list them now.
 *
 * @throws {ServersNotTrustedError}, {NoServersError} where none may be asked
 */
export async function askServers(
  context: CommandContext,
  project: string,
  index: ToolIndex | undefined,
): Promise<ToolIndex> {
  const { runtime, signal } = context
  const pool = projectServers(context, project)
  try {
    requireServers(pool.configuration)
    const enabled = pool.configuration.servers.filter(({ disabled }) => !disabled)
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
