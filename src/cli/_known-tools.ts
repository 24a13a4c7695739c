import { loadToolIndex, type ToolIndex, type ToolIndexLoading } from '../tools/index.ts'
import { toolProject } from './_tool-project.ts'
import type { CommandContext } from './command.ts'

export interface KnownTools extends ToolIndexLoading {
  /** Real path of the workspace. */
  project: string
  index: ToolIndex
  /** Asks the servers, where that was not done yet; undefined where there is none to ask. */
  discover(): Promise<ToolIndex | undefined>
}

/**
 * The project's tools as its cache has them; without a usable cache the servers are asked. What is
 * wrong with the cache is said on standard error.
 */
export async function knownTools(context: CommandContext): Promise<KnownTools> {
  const project = toolProject(context)
  const loading = loadToolIndex({ project, runtime: context.runtime })
  if (!context.options.json) context.output.diagnostics(loading.diagnostics)
  if (loading.message !== undefined) context.output.note(loading.message)
  let discovery: Promise<ToolIndex | undefined> | undefined
  const discover = (): Promise<ToolIndex | undefined> =>
    (discovery ??= import('./_project-servers.ts').then(({ askServers }) =>
      askServers(context, project, loading.index),
    ))
  const index = loading.index ?? (await discover()) ?? (await noTools())
  return { ...loading, project, index, discover }
}

/** What the servers need is loaded only where there is no cache. */
async function noTools(): Promise<ToolIndex> {
  const { emptyToolIndex } = await import('./_project-servers.ts')
  return emptyToolIndex()
}
