import type { CallAtGate, StepCaller } from '../../tools/index.ts'
import type { AgentTool } from '../model.ts'
import type { SessionPart } from '../session-part.ts'
import type { McpTools, McpToolsOptions } from './open-mcp-tools.ts'
import type { McpChoice } from './server-choice.ts'

export interface McpPartOptions extends Omit<
  McpToolsOptions,
  'requestText' | 'choice' | 'settings'
> {
  settings: () => McpToolsOptions['settings']
  /** Undefined: no server, until a skill names one. */
  choice: McpChoice | undefined
}

/** MCP servers in a conversation. */
export interface McpPart extends SessionPart {
  /**
   * Starts the chosen servers, where that was not done yet; every run begins with it.
   * @throws {ServerNotFoundError}, {ServerNotTrustedError} for a name that cannot be had.
   */
  ready(): Promise<void>
  /**
   * Tools of a configured server that a skill names: none when they are offered anyway.
   * @throws {ServerNotFoundError} for a name that no configuration has.
   */
  serverTools(server: string): Promise<readonly AgentTool[]>
}

/**
 * Offers the tools of MCP servers. Servers start with the first run, or when a skill names them, and
 * end with the session. Workflows that name one of the agent's own tools stand before it too.
 */
export function mcpPart(options: McpPartOptions): McpPart {
  const { choice } = options
  const named = new Map<string, Promise<McpTools>>()
  let chosen: Promise<McpTools> | undefined
  let opened: McpTools | undefined
  let request: string | undefined
  return {
    ready,
    async instructions() {
      await ready()
      return undefined
    },
    async prompt(text) {
      request = text
      return text
    },
    tools: () => opened?.tools ?? [],
    async beforeTool(tool, input, { signal }) {
      if (opened === undefined || tool.origin.kind === 'mcp') return
      const call = { ...atGate(tool), params: input, request, signal }
      await opened.calls.gate?.pass(call, stepCaller(opened))
    },
    async afterTool(tool, input, output) {
      if (opened === undefined || tool.origin.kind === 'mcp') return undefined
      const text = typeof output === 'string' ? output : JSON.stringify(output)
      const { signal } = opened.calls
      await opened.calls.gate?.after({ ...atGate(tool), params: input, request, signal }, text)
      return undefined
    },
    async serverTools(server) {
      if (opened?.tools.some(({ origin }) => origin.kind === 'mcp' && origin.server === server)) {
        return []
      }
      const opening = named.get(server) ?? open([server])
      named.set(server, opening)
      try {
        return (await opening).tools
      } catch (error) {
        named.delete(server)
        throw error
      }
    },
    async close() {
      const all = chosen === undefined ? [...named.values()] : [chosen, ...named.values()]
      chosen = undefined
      opened = undefined
      named.clear()
      for (const opening of await Promise.allSettled(all)) {
        if (opening.status === 'fulfilled') await opening.value.close()
      }
    },
  }

  async function ready(): Promise<void> {
    if (choice === undefined) return
    chosen ??= open(choice)
    try {
      opened = await chosen
    } catch (error) {
      chosen = undefined
      throw error
    }
  }

  async function open(servers: McpChoice): Promise<McpTools> {
    const { openMcpTools } = await import('./open-mcp-tools.ts')
    const settings = options.settings()
    return await openMcpTools({ ...options, settings, choice: servers, requestText: () => request })
  }
}

/** A tool of the agent as workflows see one: it belongs to no server. */
function atGate({
  name,
  description,
  inputSchema,
}: AgentTool): Pick<CallAtGate, 'tool' | 'instance'> {
  return { tool: { id: name, server: '', name, description, inputSchema }, instance: 'agent' }
}

/** Prerequisites are called without a gate of their own. */
function stepCaller({ calls }: McpTools): StepCaller {
  return async (tool, params, signal) => {
    const { callFailureText, callTool, outcomeText, outcomeValue } =
      await import('../../tools/index.ts')
    const context = { ...calls, gate: undefined, signal: signal ?? calls.signal }
    const report = await callTool({ tool, params }, context)
    if (report.status === 'error') return { ok: false, error: callFailureText(report) }
    const { outcome } = report
    return { ok: true, text: outcomeText(outcome), value: outcomeValue(outcome) }
  }
}
