import type { Diagnostic } from '../base/index.ts'
import {
  heldTools,
  keepRouting,
  projectRouter,
  type RouteOptions,
  type Router,
  type ToolDefinition,
} from '../tools/index.ts'
import { meaningIn } from './_meaning-in.ts'
import { knownTools } from './_known-tools.ts'
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
  const { index, project, diagnostics } = await knownTools(context)
  const place = { project, runtime }
  const { router, diagnostics: learned } = projectRouter(index, place)
  if (!options.json) output.diagnostics(learned)
  if (settings.tools.embeddings === 'off' && diagnostics.length === 0) keepRouting(place)
  return {
    router,
    tools: index.tools.map(({ id }) => id),
    definition: (id) => index.definition(id),
    held: new Set(heldTools(index)),
    meaning: await meaningIn(request, index, context),
    diagnostics: [...diagnostics, ...learned],
  }
}
