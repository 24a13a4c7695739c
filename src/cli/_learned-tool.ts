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
  throw new ToolRequestError({
    code: 'tool-ambiguous',
    message: `several servers have a tool ${name}: ${resolution.candidates.slice(0, 10).join(', ')}`,
    hint: 'Write one of these ids.',
  })
}
