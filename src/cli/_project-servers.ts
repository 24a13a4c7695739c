import {
  openProjectServers,
  type ProjectServers,
  remarksOn,
  requireServers,
  type ToolIndex,
} from '../tools/index.ts'
import { discoverTools } from './_discovery.ts'
import type { CommandContext } from './command.ts'

/** The servers of the project: those that `tools serve` keeps, else own ones, started when needed. */
function projectServers(context: CommandContext, project: string): ProjectServers {
  const { runtime, settings, options, output } = context
  const pool = openProjectServers({ project, runtime, settings })
  if (!options.json) output.diagnostics(remarksOn(pool.configuration))
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
  const pool = projectServers(context, project)
  try {
    requireServers(pool.configuration)
    return await discoverTools(context, pool, index)
  } finally {
    await pool.close()
  }
}
