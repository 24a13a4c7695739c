import {
  namedTool,
  prepareRouter,
  resolveName,
  type ToolIndex,
  type ToolRanking,
  type ToolSummary,
} from '../tools/index.ts'
import type { KnownTools } from './_known-tools.ts'
import type { CommandContext } from './command.ts'

/**
 * The tool that a name means in this project. One that the cache does not know is looked for on the
 * servers, once, where `discover` is given. Where it was not written as the tool's own, that is said.
 *
 * @throws {ToolNotFoundError} with suggestions; {@link ToolRequestError} for an ambiguous name
 */
export async function toolNamed(
  name: string,
  { index, discover }: Pick<KnownTools, 'index'> & Partial<Pick<KnownTools, 'discover'>>,
  { output }: CommandContext,
): Promise<{ tool: ToolSummary; index: ToolIndex }> {
  const isKnown = resolveName(name, index).kind !== 'unknown'
  const found = isKnown || discover === undefined ? index : await discover()
  const { tool, note } = namedTool(name, found.tools, ranking(found))
  if (note !== undefined) output.note(note)
  return { tool, index: found }
}

/** The nearest in meaning, for a name that nobody knows. */
function ranking(index: ToolIndex): ToolRanking {
  let router: ReturnType<typeof prepareRouter> | undefined
  return (text) => {
    router ??= prepareRouter(index.tools, index)
    return router.route(text, { limit: 5 }).candidates.map(({ tool }) => tool)
  }
}
