import { ambiguousName, resolveName } from '../tools/index.ts'

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
  const resolution = resolveName(name, { tools })
  if (resolution.kind === 'ambiguous') throw ambiguousName(name, resolution.candidates)
  return resolution.kind === 'found' ? resolution.tool.id : undefined
}
