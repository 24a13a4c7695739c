import { resolveTool, toolNotFound, ToolRequestError } from '../tools/index.ts'
import { knownTools } from './_known-tools.ts'
import type { CommandContext } from './command.ts'

/**
 * The id that a tool's name means in this project, and the project.
 *
 * @throws {ToolNotFoundError} with suggestions; {@link ToolRequestError} for an ambiguous name
 */
export async function toolToLearn(
  name: string,
  context: CommandContext,
): Promise<{ tool: string; project: string }> {
  const { index, project } = await knownTools(context)
  const resolution = resolveTool(name, index)
  if (resolution.kind === 'found') return { tool: resolution.tool.id, project }
  if (resolution.kind === 'unknown') throw toolNotFound(name, index.tools)
  throw ambiguous(name, resolution.candidates)
}

/**
 * The id that a tool's name means among those that something was learned of, there or not any more.
 *
 * @throws {ToolRequestError} for an ambiguous name
 */
export function learnedTool(
  name: string,
  examples: readonly { tool: string }[],
): string | undefined {
  const ids = [...new Set(examples.map(({ tool }) => tool))]
  const tools = ids.map((id) => ({ id, name: id.slice(id.indexOf('__') + 2) }))
  const resolution = resolveTool(name, { tools })
  if (resolution.kind === 'ambiguous') throw ambiguous(name, resolution.candidates)
  return resolution.kind === 'found' ? resolution.tool.id : undefined
}

function ambiguous(name: string, candidates: readonly string[]): ToolRequestError {
  return new ToolRequestError({
    code: 'tool-ambiguous',
    message: `several servers have a tool ${name}: ${candidates.slice(0, 10).join(', ')}`,
    hint: 'Write one of these ids.',
  })
}
