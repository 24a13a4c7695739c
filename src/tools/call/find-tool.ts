import type { ToolDefinition, ToolSummary } from '../model.ts'
import type { CallContext } from './context.ts'
import { ToolRequestError } from './errors.ts'
import { isRespelt, resolveName, resolveTool } from './resolve-tool.ts'
import { toolNotFound, type ToolRanking } from './suggest-tools.ts'

/** What an id or a name was found to mean. */
export interface FoundTool {
  tool: ToolSummary
  /** A remark where the name was not written as the tool's own. */
  note?: string | undefined
}

/**
 * The tool that an id or a name means, if need be after asking the servers once.
 *
 * @throws {ToolNotFoundError} with suggestions; {@link ToolRequestError} for an ambiguous name
 */
export async function findTool(id: string, context: CallContext): Promise<ToolSummary> {
  return (await findNamedTool(id, context)).tool
}

/** The same with the remark that the answer of a call bears. */
export async function findNamedTool(id: string, context: CallContext): Promise<FoundTool> {
  if (resolveTool(id, context.index).kind === 'unknown') await discoverOnce(context)
  return namedTool(id, context.index.tools, context.rank)
}

/**
 * The tool that a name means among those that are known.
 *
 * @throws {ToolNotFoundError} with suggestions; {@link ToolRequestError} for an ambiguous name
 */
export function namedTool(
  name: string,
  tools: readonly ToolSummary[],
  rank?: ToolRanking,
): FoundTool {
  const resolution = resolveName(name, { tools })
  switch (resolution.kind) {
    case 'found': {
      const { tool } = resolution
      return isRespelt(name, tool) ? { tool, note: looseNote(name, tool) } : { tool }
    }
    case 'ambiguous':
      throw ambiguousName(name, resolution.candidates)
    case 'unknown':
      throw toolNotFound(name, tools, rank)
  }
}

/** The error for a bare name that several servers have. */
export function ambiguousName(name: string, candidates: readonly string[]): ToolRequestError {
  return new ToolRequestError({
    code: 'tool-ambiguous',
    message: `several servers have a tool ${name}: ${candidates.slice(0, 10).join(', ')}`,
    hint: 'Write one of these ids.',
  })
}

/** Says which tool was taken for a name that is spelt differently. */
export function looseNote(written: string, tool: ToolSummary): string {
  return `There is no tool ${written}; ${tool.id} was taken, which differs only in its spelling.`
}

/** The whole definition: from the index, else from the server itself. */
export async function definitionOf(
  summary: ToolSummary,
  context: CallContext,
): Promise<ToolDefinition> {
  const known = context.index.definition(summary.id)
  if (known !== undefined) return known
  const server = await context.servers.get(summary.server, { signal: context.signal })
  const listed = await server.list({ signal: context.signal })
  const found = listed.find((tool) => tool.name === summary.name)
  if (found === undefined) throw toolNotFound(summary.id, context.index.tools)
  return { ...found, id: summary.id }
}

/** Asks the servers what they have, unless this context already did. True when there is news. */
export async function discoverOnce(context: CallContext): Promise<boolean> {
  const { discover } = context
  if (discover === undefined) return false
  context.discover = undefined
  context.index = await discover(context.signal)
  return true
}
