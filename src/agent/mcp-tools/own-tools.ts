import type { CallAtGate, StepCaller, ToolSummary } from '../../tools/index.ts'
import type { AgentTool } from '../model.ts'
import { wireName } from '../tool-names.ts'

/** A tool of the agent as workflows see one, under one of its names. */
export interface OwnTool {
  tool: AgentTool
  call: Pick<CallAtGate, 'tool' | 'instance'>
  summary: ToolSummary
}

/**
 * A tool under each of its names: it belongs to no server, that of a skill is `skill.tool`,
 * `skill__tool` and `tool`, and a built-in one is also what skills call it.
 */
export function namesAtGate(tool: AgentTool): readonly OwnTool[] {
  const known = gated.get(tool)
  if (known !== undefined) return known
  const { name, aliases = [], description, inputSchema } = tool
  const others = aliases.filter((alias) => alias.toLowerCase() !== name.toLowerCase())
  const own = [name, ...others].map((id): OwnTool => {
    // Not the wire name: that of a long name is cut, and nobody writes it into a workflow.
    const named = { id, server: '', name: id.replaceAll('.', '__'), description }
    const { properties, required } = inputSchema
    return {
      tool,
      call: { tool: { ...named, inputSchema }, instance: 'agent' },
      summary: { ...named, parameters: keysOf(properties), required: textsOf(required) },
    }
  })
  gated.set(tool, own)
  return own
}

const gated = new WeakMap<AgentTool, readonly OwnTool[]>()

/** Those of the tools that are no server's, each under all of its names; the first of a name counts. */
export function ownTools(tools: readonly AgentTool[]): ReadonlyMap<string, OwnTool> {
  const own = new Map<string, OwnTool>()
  for (const tool of tools) {
    if (tool.origin.kind === 'mcp') continue
    for (const named of namesAtGate(tool)) {
      if (!own.has(named.summary.id)) own.set(named.summary.id, named)
    }
  }
  return own
}

/**
 * Calls the steps that are tools of servers. The agent calls its own tools itself, with whatever
 * approval they need: until it has, such a step has failed.
 */
export function serverStepsOnly(
  callStep: StepCaller,
  own: ReadonlyMap<string, OwnTool>,
  callers: readonly AgentTool[],
): StepCaller {
  return async (id, params, signal) => {
    const named = own.get(id)
    if (named === undefined) return await callStep(id, params, signal)
    const { tool } = named
    const name = wireName(tool.name)
    const call = Object.keys(params).length === 0 ? name : `${name} with ${JSON.stringify(params)}`
    const suggestion = callers.includes(tool)
      ? `Call ${call} first, then this again.`
      : `The agent that delegates has to call ${call} first.`
    return { ok: false, error: 'it is a tool of the agent, which was not called yet', suggestion }
  }
}

function keysOf(properties: unknown): string[] {
  return typeof properties === 'object' && properties !== null ? Object.keys(properties) : []
}

function textsOf(list: unknown): string[] {
  return Array.isArray(list) ? list.filter((one) => typeof one === 'string') : []
}
