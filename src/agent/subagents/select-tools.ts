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
  const notices = selectors.flatMap((name) => missing(name, ceiling, input.subagent))
  return { tools, limits, notices }
}

function missing(name: ToolSelector, ceiling: readonly AgentTool[], subagent: string): string[] {
  if (name.text === '*' || ceiling.some((tool) => name.selects(tool))) return []
  const wanted = `The tool ${name.text}, which the subagent ${subagent} is to have, is not there, or not allowed here.`
  return [`${wanted} ${hintFor(name, ceiling)}`.trim()]
}

function hintFor({ text, selects }: ToolSelector, ceiling: readonly AgentTool[]): string {
  const builtIn = knownBuiltIns().find(selects)?.name
  if (builtIn !== undefined) return `--tools ${builtIn}, or builtIns in a program, gives it.`
  const [, server] = /^mcp__([^*]+?)(?:__|$)/i.exec(text) ?? []
  if (server !== undefined) return `--mcp-server ${server}, or mcp in a program, gives it.`
  return didYouMean(
    text,
    ceiling.flatMap((tool) => [tool.name, ...(tool.aliases ?? [])]),
  )
}
