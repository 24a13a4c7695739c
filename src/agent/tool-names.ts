import { sha256 } from '../base/index.ts'
import { ToolNameError } from './agent-errors.ts'
import type { AgentTool } from './model.ts'

/** What OpenAI and Anthropic both accept: 64 of letters, digits, `_` and `-`. */
export const longestWireName = 64

const accepted = /^[A-Za-z0-9_-]{1,64}$/

/** Tools under the names that a provider accepts, and the way back. */
export interface WireNames {
  /** In the order of the tools. */
  readonly tools: ReadonlyMap<string, AgentTool>
  /** The tool that a model called: by its wire name, or by its display name. */
  find(calledName: string): AgentTool | undefined
}

/**
 * The name of a tool as it is sent to a provider: `skill.tool` becomes `skill__tool`, any other
 * character that is not allowed `_`. What is too long is cut and ends in a digest of the whole name.
 */
export function wireName(name: string): string {
  if (accepted.test(name)) return name
  const allowed = name.replaceAll('.', '__').replaceAll(/[^A-Za-z0-9_-]/g, '_')
  if (allowed.length <= longestWireName) return allowed === '' ? '_' : allowed
  const digest = sha256(name).slice('sha256:'.length, 'sha256:'.length + 8)
  return `${allowed.slice(0, longestWireName - digest.length - 1)}_${digest}`
}

/**
 * The tools of a conversation are the same at nearly every step; they get what they got before.
 *
 * @throws {ToolNameError} when two tools would have one name, or one has none.
 */
export function toWireNames(tools: readonly AgentTool[]): WireNames {
  const [first] = tools
  if (first === undefined) return namesOf(tools)
  const before = known.get(first)
  if (before !== undefined && sameTools(before.tools, tools)) return before.names
  const names = namesOf(tools)
  known.set(first, { tools: [...tools], names })
  return names
}

/** By the first tool of a list, the last list that began with it. */
const known = new WeakMap<AgentTool, { tools: readonly AgentTool[]; names: WireNames }>()

function sameTools(before: readonly AgentTool[], now: readonly AgentTool[]): boolean {
  return before.length === now.length && before.every((tool, index) => tool === now[index])
}

function namesOf(tools: readonly AgentTool[]): WireNames {
  const byWireName = new Map<string, AgentTool>()
  for (const tool of tools) {
    if (tool.name === '') throw new ToolNameError('A tool has an empty name.')
    const wire = wireName(tool.name)
    const other = byWireName.get(wire)
    if (other !== undefined) throw new ToolNameError(collision(tool, other, wire))
    byWireName.set(wire, tool)
  }
  return { tools: byWireName, find: (called) => byWireName.get(wireName(called)) }
}

function collision(tool: AgentTool, other: AgentTool, wire: string): string {
  return tool.name === other.name
    ? `Two tools are called ${tool.name}: one ${whence(other)}, one ${whence(tool)}.`
    : `The tools ${other.name} and ${tool.name} would both be called ${wire} on the wire.`
}

function whence({ origin }: AgentTool): string {
  switch (origin.kind) {
    case 'program':
      return 'of the program'
    case 'built-in':
      return 'built in'
    case 'skill':
      return `of the skill ${origin.skill}`
    case 'mcp':
      return `of the MCP server ${origin.server}`
    case 'agent':
      return 'of the agent itself'
  }
}
