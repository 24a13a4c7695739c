import type { Runtime, Settings } from '../../base/index.ts'
import { AgentUsageError } from '../agent-errors.ts'
import { untilAborted } from '../loop/until-aborted.ts'
import type { AgentTool } from '../model.ts'
import type { AgentSession } from '../session.ts'
import type { SessionPart } from '../session-part.ts'
import type { McpTools } from './open-mcp-tools.ts'
import type { McpWorld } from './mcp-world.ts'
import { namesAtGate } from './own-tools.ts'
import type { McpChoice } from './server-choice.ts'

export interface McpPartOptions {
  /** A directory of the project. */
  project: string
  runtime: Runtime
  settings: () => Pick<Settings, 'tools' | 'workspaceTrust'>
  /** Remarks for a person: workflows, repeated attempts, servers that do not answer. */
  note: (line: string) => void
  /** Undefined: no server, until a skill names one. */
  choice: McpChoice | undefined
}

/** MCP servers in a conversation. */
export interface McpPart extends SessionPart {
  /**
   * Starts the chosen servers, where that was not done yet; every run begins with it.
   * @throws {ServerNotFoundError}, {ServerNotTrustedError} for a name that cannot be had; the reason
   *   of the signal.
   */
  ready(signal?: AbortSignal): Promise<void>
  /**
   * Tools of a configured server that a skill names: none when they are offered anyway.
   * @throws {ServerNotFoundError} for a name that no configuration has; the reason of the signal.
   */
  serverTools(server: string, signal?: AbortSignal): Promise<readonly AgentTool[]>
  /** Workflows stand before the tools of a subagent as before those of its parent; there may be none. */
  workflowsOfChild(): readonly SessionPart[]
}

/**
 * Offers the tools of MCP servers. Servers start with the first run, when a skill names them, or for
 * the steps of a workflow, and end with the session. Workflows stand before every call, whether any
 * server is offered or not.
 */
export function mcpPart(options: McpPartOptions): McpPart {
  const { choice } = options
  const closing = new AbortController()
  const openings = new Map<string, Promise<McpTools>>()
  const listed = new Set<McpTools>()
  let opened: McpTools | undefined
  let world: Promise<McpWorld> | undefined
  /** Nothing stands before any tool: known after the first call, and asked at every one. */
  let isIdle = false
  let request: string | undefined
  let conversation: AgentSession | undefined
  const ownTools = (): readonly AgentTool[] => conversation?.tools() ?? []
  return {
    ready,
    attach(session) {
      conversation = session
    },
    async instructions({ signal }) {
      try {
        await ready(signal)
      } catch (error) {
        // What comes of a run that was cancelled is said by the run.
        if (signal?.aborted !== true) throw error
      }
      return undefined
    },
    async prompt(text) {
      request = text
      return text
    },
    tools: () => opened?.tools ?? [],
    ...workflows(ownTools),
    workflowsOfChild() {
      if (isIdle) return []
      let child: AgentSession | undefined
      const attach = (session: AgentSession): void => {
        child = session
      }
      return [{ attach, ...workflows(() => child?.tools() ?? []) }]
    },
    async serverTools(server, signal) {
      if (opened?.tools.some(({ origin }) => origin.kind === 'mcp' && origin.server === server)) {
        return []
      }
      const opening = open(`server ${server}`, ({ choose }) => choose([server]), signal)
      return (await opening).tools
    },
    async close() {
      closing.abort(
        new AgentUsageError({
          code: 'agent-closed',
          message: 'The agent was closed, and its MCP servers have ended.',
        }),
      )
      opened = undefined
      await Promise.allSettled(openings.values())
      await (await world)?.servers.close()
    },
  }

  /** What stands before tools that are no server's, in the conversation that has these. */
  function workflows(
    tools: () => readonly AgentTool[],
  ): Pick<SessionPart, 'beforeTool' | 'afterTool'> {
    return {
      async beforeTool(tool, input, { signal }) {
        if (tool.origin.kind === 'mcp' || isIdle) return
        const { gate } = await theWorld()
        isIdle = gate.none
        if (isIdle) return
        const calls = namesAtGate(tool).map(({ call }) => ({
          ...call,
          params: input,
          request,
          signal,
        }))
        await gate.pass(calls, tools())
      },
      async afterTool(tool, input, output, isError) {
        if (tool.origin.kind === 'mcp' || isIdle) return undefined
        const text = typeof output === 'string' ? output : JSON.stringify(output)
        const { gate } = await theWorld()
        const made = { params: input, request, signal: neverAborted }
        const calls = namesAtGate(tool).map(({ call }) => ({ ...call, ...made }))
        const hasFailed = isError || tool.hasFailed?.(input) === true
        await gate.after(calls, hasFailed ? undefined : { text, value: output })
        return undefined
      },
    }
  }

  async function ready(signal?: AbortSignal): Promise<void> {
    if (choice === undefined) return
    opened = await open('chosen', ({ choose }) => choose(choice), signal)
  }

  /** Where all are offered they are listed already. */
  async function everyServer(signal: AbortSignal): Promise<McpTools> {
    if (choice === 'project') return await open('chosen', ({ choose }) => choose(choice), signal)
    return await open('all', ({ all }) => all(), signal)
  }

  /** One opening for all who wait, each of whom may give up alone; one that failed is not kept. */
  async function open(
    key: string,
    pick: (servers: McpWorld['servers']) => ReturnType<McpWorld['servers']['all']>,
    signal: AbortSignal = neverAborted,
  ): Promise<McpTools> {
    closing.signal.throwIfAborted()
    signal.throwIfAborted()
    const known = openings.get(key)
    if (known !== undefined) return await untilAborted(known, signal)
    const opening = start(pick)
    openings.set(key, opening)
    opening.catch(() => openings.delete(key))
    return await untilAborted(opening, signal)
  }

  async function start(
    pick: (servers: McpWorld['servers']) => ReturnType<McpWorld['servers']['all']>,
  ): Promise<McpTools> {
    const { servers, list } = await theWorld()
    closing.signal.throwIfAborted()
    const tools = await list(pick(servers))
    listed.add(tools)
    return tools
  }

  function theWorld(): Promise<McpWorld> {
    world ??= import('./mcp-world.ts').then(({ createMcpWorld }) =>
      createMcpWorld({
        ...options,
        settings: options.settings(),
        requestText: () => request,
        tools: ownTools,
        offered: () => [...listed].flatMap(({ calls }) => calls.index.tools),
        everyServer,
        signal: closing.signal,
      }),
    )
    return world
  }
}

const neverAborted = new AbortController().signal
