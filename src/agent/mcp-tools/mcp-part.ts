import { openSession } from '../../tools/workflow/session.ts'
import { findWorkspace } from '../../trust/decide.ts'
import type { AgentEnvironment } from '../agent-environment.ts'
import { usageError } from '../errors.ts'
import type { AgentSession, SessionPart } from '../session.ts'
import type { AgentTool } from '../types.ts'
import { AgentServers, type ProjectContext } from './servers.ts'
import { namesAtGate, WorkflowGate } from './workflow-gate.ts'

type WorkflowHooks = Required<Pick<SessionPart, 'beforeTool' | 'afterTool'>>

/**
 * Offers the tools of MCP servers. Servers start with the first run, when a skill names them, or for
 * the steps of a workflow, and end with the session. Workflows are checked before every call, whether
 * any server is offered or not.
 */
export class McpPart implements SessionPart {
  readonly #environment: AgentEnvironment
  readonly #note: ProjectContext['note']
  readonly #closing = new AbortController()
  readonly #hooks = this.#workflows(() => this.#session?.tools() ?? [])
  readonly beforeTool: WorkflowHooks['beforeTool'] = this.#hooks.beforeTool
  readonly afterTool: WorkflowHooks['afterTool'] = this.#hooks.afterTool
  #opened: { servers: AgentServers; gate: WorkflowGate } | undefined
  #offered: readonly AgentTool[] = []
  /** There are no workflows: known after the first call. */
  #isIdle = false
  #request: string | undefined
  #session: AgentSession | undefined

  constructor(environment: AgentEnvironment, note: ProjectContext['note']) {
    this.#environment = environment
    this.#note = note
  }

  attach(session: AgentSession): void {
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

  async prompt(text: string): Promise<string> {
    this.#request = text
    return text
  }

  tools(): readonly AgentTool[] {
    return this.#offered
  }

  /** Starts the chosen servers, where that was not done yet; every run begins with it. */
  async ready(signal?: AbortSignal): Promise<void> {
    const { mcp } = this.#environment.options
    if (mcp === undefined) return
    const { servers } = this.#open()
    const { chosen } = servers
    if (mcp !== 'project') servers.require(chosen)
    await servers.list(chosen, signal)
    this.#offered = servers.tools(chosen)
  }

  /** The tools of a configured server that a skill names: none when they are offered anyway. */
  async serverTools(server: string, signal?: AbortSignal): Promise<readonly AgentTool[]> {
    const isOffered = this.#offered.some(
      ({ origin }) => origin.kind === 'mcp' && origin.server === server,
    )
    if (isOffered) return []
    const { servers } = this.#open()
    servers.require([server])
    await servers.list([server], signal)
    return servers.tools([server])
  }

  /** The part of a subagent's session that checks workflows; empty when there are none. */
  workflowsOfChild(): readonly SessionPart[] {
    if (this.#isIdle) return []
    let child: AgentSession | undefined
    const attach = (session: AgentSession): void => void (child = session)
    return [{ attach, ...this.#workflows(() => child?.tools() ?? []) }]
  }

  async close(): Promise<void> {
    const message = 'The agent was closed, and its MCP servers have ended.'
    this.#closing.abort(usageError('agent-closed', message))
    this.#offered = []
    await this.#opened?.servers.close()
  }

  /** Checks workflows before tools that are not a server's, in the conversation that has these tools. */
  #workflows(tools: () => readonly AgentTool[]): WorkflowHooks {
    return {
      beforeTool: async (tool, params, { signal }) => {
        if (tool.origin.kind === 'mcp' || this.#isIdle) return
        const { gate } = this.#open()
        this.#isIdle = gate.none
        const request = this.#request
        const calls = namesAtGate(tool).map((call) => ({ ...call, params, request, signal }))
        if (!this.#isIdle) await gate.pass(calls, tools())
      },
      afterTool: async (tool, params, output, isError) => {
        if (tool.origin.kind === 'mcp' || this.#isIdle) return undefined
        const request = this.#request
        const calls = namesAtGate(tool).map((call) => ({ ...call, params, request }))
        const value = isError || tool.hasFailed?.(params) === true ? undefined : output
        const text = typeof value === 'object' ? JSON.stringify(value) : value?.toString()
        await this.#opened?.gate.after(calls, text, value)
        return undefined
      },
    }
  }

  #open(): { servers: AgentServers; gate: WorkflowGate } {
    this.#closing.signal.throwIfAborted()
    if (this.#opened !== undefined) return this.#opened
    const { runtime, settings, options } = this.#environment
    const note = this.#note
    const project = findWorkspace(this.#environment.project, runtime)
    const lifetimeMs = settings.tools.sessionHours * 3_600_000
    const session = openSession({ project, runtime, lifetimeMs, note })
    const context = { project, runtime, settings, session, note }
    const tools = (): readonly AgentTool[] => this.#session?.tools() ?? []
    const servers = new AgentServers({
      ...context,
      choice: options.mcp,
      gate: {
        pass: (call) => gate.pass([call], tools()),
        after: (call, text) => gate.after([call], text),
      },
      requestText: () => this.#request,
      closing: this.#closing.signal,
    })
    const gate = new WorkflowGate(context, servers, tools)
    this.#opened = { servers, gate }
    return this.#opened
  }
}
