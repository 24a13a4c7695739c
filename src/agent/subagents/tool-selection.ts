import { didYouMean } from '#core/text'
import { type ToolSelector, toolSelectors } from '#agent/approval/tool-patterns'
import { allBuiltIns } from '#agent/built-in-tools/built-in-tools'
import type { AgentTool } from '#agent/types'

interface ToolSelectionInput {
  subagent: string
  /** The tools that the parent may use now. A name never selects any other tool. */
  ceiling: readonly AgentTool[]
  /** Names of tools of the ceiling, and tools as values. */
  tools: readonly (string | AgentTool)[] | null | undefined
  disallowed: readonly string[] | null | undefined
  readOnly: boolean
}

export interface ToolSelection {
  tools: readonly AgentTool[]
  /** By the name of a tool: patterns of which each of its calls must match one. */
  limits: ReadonlyMap<string, readonly string[]>
  /** One sentence for each name that selects nothing. */
  notices: readonly string[]
}

/**
 * Applies the allow list, then the deny list. A tool that is listed as a value comes from the program:
 * it need not be in the ceiling, and takes precedence over a tool with its name. The agent's own tools
 * are bound to its conversation and are never selected.
 */
export function selectTools(input: ToolSelectionInput): ToolSelection {
  const entries = input.tools ?? []
  const values = entries.filter((entry) => typeof entry !== 'string')
  const selectors = toolSelectors(entries.filter((entry) => typeof entry === 'string'))
  // An entry with a pattern denies calls, not the tool; calls are checked one by one.
  const deniedTools = toolSelectors(input.disallowed ?? []).filter(
    (one) => one.pattern === undefined,
  )
  const ceiling = input.ceiling.filter(({ origin }) => origin.kind !== 'agent')

  const limits = new Map<string, readonly string[]>()
  const names = new Set<string>()
  const tools: AgentTool[] = []
  for (const tool of [...values, ...ceiling]) {
    const isValue = values.includes(tool)
    const matching = selectors.filter(({ selects }) => selects(tool))
    if (names.has(tool.name) || (!isValue && matching.length === 0)) continue
    names.add(tool.name)
    if ((input.readOnly && !tool.readOnly) || deniedTools.some(({ selects }) => selects(tool)))
      continue
    tools.push(tool)
    const patterns = matching.flatMap(({ pattern }) => pattern ?? [])
    const isLimited = !isValue && patterns.length === matching.length
    if (isLimited) limits.set(tool.name, patterns)
  }
  const notices = selectors.flatMap((selector) => missingTool(selector, ceiling, input.subagent))
  return { tools, limits, notices }
}

function missingTool(
  selector: ToolSelector,
  ceiling: readonly AgentTool[],
  subagent: string,
): string[] {
  if (selector.text === '*' || ceiling.some((tool) => selector.selects(tool))) return []
  const problem = `The subagent ${subagent} cannot have the tool ${selector.text}: it does not exist, or is not allowed here.`
  return [`${problem} ${hintFor(selector, ceiling)}`.trim()]
}

function hintFor({ text, selects }: ToolSelector, ceiling: readonly AgentTool[]): string {
  const builtIn = allBuiltIns().find(selects)?.name
  if (builtIn !== undefined) return `Add it with --tools ${builtIn}, or with builtIns in a program.`
  const [, server] = /^mcp__([^*]+?)(?:__|$)/i.exec(text) ?? []
  if (server !== undefined) return `Add it with --mcp-server ${server}, or with mcp in a program.`
  return didYouMean(
    text,
    ceiling.flatMap((tool) => [tool.name, ...(tool.aliases ?? [])]),
  )
}
