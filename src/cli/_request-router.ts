import { projectRouter, type Route, type ToolIndex } from '../tools/index.ts'
import { contextOf } from './legacy.ts'
import { meaningIn } from '../tools/commands/project-tools.ts'
import type { CommandContext } from './command.ts'

/** The router of the project; what was configured for meaning is asked about the whole request. */
export async function requestRouter(
  request: string,
  index: ToolIndex,
  project: string,
  context: CommandContext,
): Promise<(text: string) => Route> {
  const { router, diagnostics } = projectRouter(index, { project, runtime: context.runtime })
  if (!context.options.json) context.output.diagnostics(diagnostics)
  const meaning = await meaningIn(request, index, contextOf(context))
  return (text) => router.route(text, text === request ? { meaning } : {})
}
