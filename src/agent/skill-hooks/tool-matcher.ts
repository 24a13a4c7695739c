import { compilePattern } from '../../trigger/index.ts'
import type { AgentTool } from '../model.ts'
import { wireName } from '../tool-names.ts'

/** Whether a hook is about a tool. */
export type ToolMatcher = (tool: AgentTool) => boolean

export type MatcherReading = { ok: true; matcher: ToolMatcher } | { ok: false; problem: string }

/**
 * A matcher as Claude Code has it: nothing or `*` for all tools, names such as `Edit|Write`, or a
 * regular expression such as `mcp__memory__.*`, which must fit the whole name.
 */
export function readMatcher(text: string): MatcherReading {
  const written = text.trim()
  if (written === '' || written === '*') return { ok: true, matcher: () => true }
  if (/^[\w|]+$/.test(written)) {
    const names = new Set(written.split('|'))
    return { ok: true, matcher: (tool) => hookNames(tool).some((name) => names.has(name)) }
  }
  const reading = compilePattern(`^(?:${written})$`)
  if (!reading.ok) return { ok: false, problem: reading.problem.message }
  return { ok: true, matcher: (tool) => hookNames(tool).some(reading.pattern.test) }
}

/** The name by which hooks know a tool: that of Claude Code where the tool has one. */
export function hookName(tool: AgentTool): string {
  const { name, aliases = [], origin } = tool
  if (origin.kind === 'mcp') return mcpName(name, origin.server)
  return aliases[0] ?? wireName(name)
}

function hookNames(tool: AgentTool): string[] {
  return [...new Set([hookName(tool), tool.name, wireName(tool.name), ...(tool.aliases ?? [])])]
}

function mcpName(name: string, server: string): string {
  const bare = name.startsWith(`${server}.`) ? name.slice(server.length + 1) : name
  return wireName(`mcp__${server}__${bare}`)
}
