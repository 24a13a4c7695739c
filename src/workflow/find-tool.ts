import { nearest } from '../base/index.ts'
import { ToolUnknownError } from './errors.ts'
import { isNamed } from './tool-names.ts'
import type { WorkflowTool } from './model.ts'

/**
 * The one tool of this id, or of this name.
 *
 * @throws {ToolUnknownError} for none, with the nearest, and for several.
 */
export function findTool(
  name: string,
  tools: readonly WorkflowTool[],
  advice?: string,
): WorkflowTool {
  const exact = tools.find(({ id }) => id === name)
  const named = exact === undefined ? tools.filter((tool) => isNamed(tool, name)) : [exact]
  const [first, second] = named
  if (first !== undefined && second === undefined) return first
  const ids = named.map(({ id }) => id)
  const meant = nearest(
    name,
    tools.flatMap((tool) => [tool.id, tool.name]),
  )
  const suggestion = meant === undefined ? undefined : `Did you mean ${meant}?`
  throw new ToolUnknownError({
    code: first === undefined ? 'tool-not-found' : 'tool-ambiguous',
    message:
      first === undefined ? `Tool '${name}' not found` : `several servers have a tool '${name}'`,
    hint:
      first === undefined
        ? (suggestion ?? advice ?? '`skillrail tools list` shows those that there are.')
        : `Name one of ${ids.slice(0, 5).join(', ')}.`,
  })
}
