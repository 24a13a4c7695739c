import type { Diagnostic } from '../base/index.ts'
import { contextOf } from './legacy.ts'
import {
  heldTools,
  keepRouting,
  projectRouter,
  type RouteOptions,
  type Router,
  type ToolDefinition,
  type ToolIndex,
} from '../tools/index.ts'
import { knownTools, meaningIn } from '../tools/commands/project-tools.ts'
import type { CommandContext } from './command.ts'

export interface RoutingFromIndex {
  router: Router
  tools: readonly string[]
  definition(id: string): ToolDefinition | undefined
  held: ReadonlySet<string>
  meaning: RouteOptions['meaning']
  diagnostics: readonly Diagnostic[]
}

/** Routing made from the project's tool index, and kept for the next command. */
export async function routingFromIndex(
  request: string,
  context: CommandContext,
): Promise<RoutingFromIndex> {
  const { runtime, settings, options, output } = context
  const { index, project, diagnostics } = await knownTools(contextOf(context))
  const routing = await routingOf(request, index, project, context)
  if (!options.json) output.diagnostics(routing.diagnostics)
  if (settings.tools.embeddings === 'off' && diagnostics.length === 0) {
    keepRouting({ project, runtime })
  }
  return { ...routing, diagnostics: [...diagnostics, ...routing.diagnostics] }
}

/** Routing over the tools of an index, with what was learned in the project. */
export async function routingOf(
  request: string,
  index: ToolIndex,
  project: string,
  context: CommandContext,
): Promise<RoutingFromIndex> {
  const { router, diagnostics } = projectRouter(index, { project, runtime: context.runtime })
  return {
    router,
    tools: index.tools.map(({ id }) => id),
    definition: (id) => index.definition(id),
    held: new Set(heldTools(index)),
    meaning: await meaningIn(request, index, contextOf(context)),
    diagnostics,
  }
}
