import {
  indexDefinitions,
  loadToolIndex,
  NoServersError,
  ServersNotTrustedError,
  type ToolIndex,
  type ToolIndexLoading,
} from '../tools/index.ts'
import { toolProject } from './_tool-project.ts'
import type { CommandContext } from './command.ts'

export interface KnownTools extends ToolIndexLoading {
  /** Real path of the workspace. */
  project: string
  index: ToolIndex
  /** Asks the servers, where that was not done yet. */
  discover(): Promise<ToolIndex>
}

/**
 * The project's tools as its cache has them; without a usable cache the servers are asked. What is
 * wrong with the cache is said on standard error.
 *
 * @throws {ServersNotTrustedError}, {NoServersError} without a cache where none may be asked
 */
export async function knownTools(context: CommandContext): Promise<KnownTools> {
  const project = toolProject(context)
  const loading = loadToolIndex({ project, runtime: context.runtime })
  if (!context.options.json) context.output.diagnostics(loading.diagnostics)
  let discovery: Promise<ToolIndex> | undefined
  const discover = (): Promise<ToolIndex> =>
    (discovery ??= import('./_project-servers.ts').then(({ askServers }) =>
      askServers(context, project, loading.index),
    ))
  const index = loading.index ?? (await discover())
  if (loading.message !== undefined) context.output.note(loading.message)
  return { ...loading, project, index, discover }
}

/** The same for a command that only lists: where no server may be asked, there are no tools. */
export async function listableTools(
  context: CommandContext,
): Promise<Pick<KnownTools, 'index' | 'state' | 'path' | 'diagnostics'>> {
  try {
    return await knownTools(context)
  } catch (error) {
    if (!(error instanceof ServersNotTrustedError || error instanceof NoServersError)) throw error
    const loading = loadToolIndex({ project: toolProject(context), runtime: context.runtime })
    return { ...loading, index: indexDefinitions([]) }
  }
}
