import { didYouMean } from '../../core/text.ts'
import type { CallRules } from '../approval/permit.ts'
import { type ToolSelector, toolSelectors } from '../approval/tool-patterns.ts'
import { knownBuiltIns } from '../built-in-tools/built-in-tools.ts'
import type { AgentTool } from '../types.ts'

export interface ToolSelection {
  tools: readonly AgentTool[]
  limits: NonNullable<CallRules['limits']>
  notices: readonly string[]
}

/**
 * The allow list, then the deny list, under the ceiling of the parent. A tool that was given as a value
 * is the program's, is not held against the ceiling and takes precedence. Tools of the agent itself are
 * bound to its conversation and never passed on.
 */
export function selectTools(input: {
  subagent: string
  /** What the parent may use now: nothing else is ever selected by name. */
  ceiling: readonly AgentTool[]
  tools: readonly (string | AgentTool)[] | null | undefined
  disallowed: readonly string[] | null | undefined
  readOnly: boolean
}): ToolSelection {
  const asked = input.tools ?? []
  const own = asked.filter((item) => typeof item !== 'string')
  const selectors = toolSelectors(asked.filter((item) => typeof item === 'string'))
  const denied = toolSelectors(input.disallowed ?? []).filter((one) => one.pattern === undefined)
  const ceiling = input.ceiling.filter(({ origin }) => origin.kind !== 'agent')
  const limits = new Map<string, readonly string[]>()
  const names = new Set<string>()
  const tools: AgentTool[] = []
  for (const tool of [...own, ...ceiling]) {
    const entries = selectors.filter(({ selects }) => selects(tool))
    const isOwn = own.includes(tool)
    if (names.has(tool.name) || (!isOwn && entries.length === 0)) continue
    names.add(tool.name)
    if ((input.readOnly && !tool.readOnly) || denied.some(({ selects }) => selects(tool))) continue
    tools.push(tool)
    const patterns = entries.flatMap(({ pattern }) => pattern ?? [])
    if (!isOwn && patterns.length === entries.length) limits.set(tool.name, patterns)
  }
  return {
    tools,
    limits,
    notices: selectors.flatMap((name) => missing(name, ceiling, input.subagent)),
  }
}

function missing(name: ToolSelector, ceiling: readonly AgentTool[], subagent: string): string[] {
  if (name.text === '*' || ceiling.some((tool) => name.selects(tool))) return []
  const wanted = `The tool ${name.text}, which the subagent ${subagent} is to have, is not there`
  const builtIn = knownBuiltIns().find(name.selects)?.name
  if (builtIn !== undefined) {
    const how = `--tools ${builtIn}, or builtIns in a program, gives it ${builtIn}.`
    return [`${wanted}: the agent that delegates does not have it. ${how}`]
  }
  const hasServers = ceiling.some(({ origin }) => origin.kind === 'mcp')
  const server = hasServers ? undefined : readMcpName(name.text)?.server
  if (server !== undefined) {
    const how = `--mcp-server ${server}, or mcp in a program, gives it that.`
    return [`${wanted}: the agent that delegates has no MCP server ${server}. ${how}`]
  }
  const names = ceiling.flatMap((tool) => [tool.name, ...(tool.aliases ?? [])])
  return [`${wanted}, or not allowed here. ${didYouMean(name.text, names)}`.trim()]
}

/**
 * Reads the name that other clients give to a tool of an MCP server, `mcp__server__tool`; undefined
 * for any other, and for one that has `*` in the name of the server.
 *
 * @param servers names that are known: one may have `__` in it.
 */
export function readMcpName(
  name: string,
  servers: readonly string[] = [],
): { server: string; tool: string } | undefined {
  const [, rest = ''] = /^mcp__(.+)$/i.exec(name) ?? []
  const known = servers.find((server) =>
    `${rest}__`.toLowerCase().startsWith(`${server.toLowerCase()}__`),
  )
  const server = known ?? rest.split('__', 1)[0] ?? ''
  if (server === '' || server.includes('*')) return undefined
  return { server, tool: rest.slice(server.length + 2) }
}
