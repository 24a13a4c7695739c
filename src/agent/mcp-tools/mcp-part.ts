import { findWorkspace } from '#core/read-files'
import { openSession } from '#tools/workflow/session'
import type { AgentEnvironment } from '#agent/agent-options'
import { usageError } from '#agent/errors'
import type { JoinedSession, SessionPart } from '#agent/session-contract'
import type { AgentTool } from '#agent/types'
import { AgentServers, type ConversationProject } from './agent-servers.ts'
import { namesAtGate, WorkflowGate } from './workflow-gate.ts'

/**
 * Offers the tools of MCP servers. Servers start with the first run, when a skill names them, or for
 * the steps of a workflow, and end with the session. Workflows are checked before every call, even if
 * no server is offered.
 */
export class McpPart implements SessionPart {
  readonly #environment: AgentEnvironment
  readonly #note: ConversationProject['note']
  readonly #closing = new AbortController()
  readonly #hooks = this.#workflows(() => this.#session?.tools() ?? [])
  readonly beforeTool = this.#hooks.beforeTool
  readonly afterTool = this.#hooks.afterTool
  #opened: OpenedServers | undefined
  #isIdle = false
  #offered: readonly AgentTool[] = []
  #request: string | undefined
  #session: JoinedSession | undefined

  constructor(environment: AgentEnvironment, note: ConversationProject['note']) {
    this.#environment = environment
    this.#note = note
  }

  attach(session: JoinedSession) {
    this.#session = session
  }

  async instructions({ signal }: { signal: AbortSignal | undefined }): Promise<undefined> {
    try {
      await this.ready(signal)
    } catch (error) {
      // A cancelled run reports its cancellation itself.
      if (signal?.aborted !== true) throw error
    }
  }

  async prompt(text: string) {
    this.#request = text
    return text
  }

  /** Whether no workflow can affect a call. Once true, it stays true. */
  get isIdle() {
    this.#isIdle ||= this.#open().gate.none
    return this.#isIdle
  }

  tools() {
    return this.#offered
  }

  /** Starts the chosen servers that have not started yet. Every run begins with it. */
  async ready(signal?: AbortSignal): Promise<void> {
    const { mcp } = this.#environment.options
    if (mcp === undefined) return
    const { servers } = this.#open()
    this.#offered = await servers.tools(servers.chosen, mcp !== 'project', signal)
  }

  /** Returns the tools of a configured server that a skill names; none if they are already offered. */
  async serverTools(server: string, signal?: AbortSignal) {
    const isOfServer = ({ origin }: AgentTool) => origin.kind === 'mcp' && origin.server === server
    if (this.#offered.some(isOfServer)) return []
    return await this.#open().servers.tools([server], true, signal)
  }

  /** Returns the part of a subagent's session that checks workflows; none if there are no workflows. */
  subagentWorkflows(): readonly SessionPart[] {
    if (this.#isIdle) return []
    let subagent: JoinedSession | undefined
    const attach = (session: JoinedSession) => void (subagent = session)
    return [{ attach, ...this.#workflows(() => subagent?.tools() ?? []) }]
  }

  async close() {
    this.#closing.abort(usageError('agent-closed', 'The agent was closed.'))
    this.#offered = []
    await this.#opened?.servers.close()
  }

  /** Checks workflows before calls of the agent's own tools. `tools` are those of the conversation that calls. */
  #workflows(tools: () => readonly AgentTool[]) {
    return {
      beforeTool: async (tool, params, { signal }) => {
        if (tool.origin.kind === 'mcp' || this.isIdle) return
        const request = this.#request
        const calls = namesAtGate(tool).map((call) => ({ ...call, params, request, signal }))
        await this.#open().gate.passOnce(calls, tools())
      },
      afterTool: async ({ tool, input: params, output, failure }) => {
        const gate = this.#opened?.gate
        if (tool.origin.kind === 'mcp' || gate?.none !== false) return undefined
        const value = failure === undefined ? output : undefined
        const text = typeof value === 'object' ? JSON.stringify(value) : value?.toString()
        for (const call of namesAtGate(tool)) {
          await gate.after({ ...call, params, request: this.#request }, text, value)
        }
        return undefined
      },
    } satisfies SessionPart
  }

  #open(): OpenedServers {
    this.#closing.signal.throwIfAborted()
    if (this.#opened) return this.#opened
    const { runtime, settings, options } = this.#environment
    const note = this.#note
    const project = findWorkspace(this.#environment.project, runtime)
    const session = openSession({ project, runtime, settings, note })
    const context = { project, runtime, settings, session, note }
    const servers = new AgentServers({
      ...context,
      choice: options.mcp,
      requestText: () => this.#request,
      gate: (): WorkflowGate => gate,
      closing: this.#closing.signal,
    })
    const gate = new WorkflowGate(context, servers, () => this.#session?.tools() ?? [])
    this.#opened = { servers, gate }
    return this.#opened
  }
}

/** The servers of a conversation, and the workflows that are checked before every call. */
interface OpenedServers {
  servers: AgentServers
  gate: WorkflowGate
}
