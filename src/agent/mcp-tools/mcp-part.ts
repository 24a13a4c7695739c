import { type Runtime, untilAborted } from '../../core/runtime.ts'
import type { Settings } from '../../core/settings.ts'
import type { ServerPool } from '../../tools/server/pool.ts'
import { findWorkspace } from '../../trust/decide.ts'
import { openSession as openWorkflowSession } from '../../tools/workflow/session.ts'
import { AgentUsageError } from '../errors.ts'
import type { AgentSession, SessionPart } from '../session.ts'
import type { AgentTool } from '../types.ts'
import { type McpTools, openMcpTools } from './open-mcp-tools.ts'
import { type McpChoice, ServerSet } from './servers.ts'
import { namesAtGate, WorkflowGate } from './workflow-gate.ts'

interface McpPartOptions {
  /** A directory of the project. */
  project: string
  runtime: Runtime
  settings: () => Pick<Settings, 'tools' | 'workspaceTrust'>
  /** Diagnostics for the user: workflows, repeated attempts, servers that do not answer. */
  note: (line: string) => void
  /** Undefined: no server, until a skill names one. */
  choice: McpChoice | undefined
}

type PickServers = (servers: ServerSet) => ServerPool

/** Servers and workflows of a conversation, made when the first of them is needed. */
interface Opened {
  servers: ServerSet
  gate: WorkflowGate
  list: (pool: ServerPool) => Promise<McpTools>
}

const neverAborted = new AbortController().signal

/**
 * Offers the tools of MCP servers. Servers start with the first run, when a skill names them, or for
 * the steps of a workflow, and end with the session. Workflows are checked before every call, whether
 * any server is offered or not.
 */
export class McpPart implements SessionPart {
  readonly #options: McpPartOptions
  readonly #closing = new AbortController()
  readonly #openings = new Map<string, Promise<McpTools>>()
  readonly #listed = new Set<McpTools>()
  #chosen: McpTools | undefined
  #opened: Opened | undefined
  /** There are no workflows: known after the first call. */
  #isIdle = false
  #request: string | undefined
  #session: AgentSession | undefined
  readonly beforeTool: NonNullable<SessionPart['beforeTool']>
  readonly afterTool: NonNullable<SessionPart['afterTool']>

  constructor(options: McpPartOptions) {
    this.#options = options
    const { beforeTool, afterTool } = this.#workflows(() => this.#ownTools())
    this.beforeTool = beforeTool
    this.afterTool = afterTool
  }

  readonly attach = (session: AgentSession): void => {
    this.#session = session
  }

  readonly instructions: NonNullable<SessionPart['instructions']> = async ({ signal }) => {
    try {
      await this.ready(signal)
    } catch (error) {
      // A cancelled run reports its cancellation itself.
      if (signal?.aborted !== true) throw error
    }
    return undefined
  }

  readonly prompt = async (text: string): Promise<string> => {
    this.#request = text
    return text
  }

  readonly tools = (): readonly AgentTool[] => this.#chosen?.tools ?? []

  /**
   * Starts the chosen servers, where that was not done yet; every run begins with it.
   * @throws {ServerNotFoundError}, {ServerNotTrustedError} for an unusable name; the reason of the signal.
   */
  async ready(signal?: AbortSignal): Promise<void> {
    const { choice } = this.#options
    if (choice === undefined) return
    this.#chosen = await this.#open('chosen', (servers) => servers.choose(choice), signal)
  }

  /**
   * Returns the tools of a configured server that a skill names: none when they are offered anyway.
   * @throws {ServerNotFoundError} for a name that no configuration has; the reason of the signal.
   */
  async serverTools(server: string, signal?: AbortSignal): Promise<readonly AgentTool[]> {
    const isOffered = this.#chosen?.tools.some(
      ({ origin }) => origin.kind === 'mcp' && origin.server === server,
    )
    if (isOffered === true) return []
    const { tools } = await this.#open(`server ${server}`, (all) => all.choose([server]), signal)
    return tools
  }

  /** The part of a subagent's session that checks workflows; empty when there are none. */
  workflowsOfChild(): readonly SessionPart[] {
    if (this.#isIdle) return []
    let child: AgentSession | undefined
    const attach = (session: AgentSession): void => {
      child = session
    }
    return [{ attach, ...this.#workflows(() => child?.tools() ?? []) }]
  }

  readonly close = async (): Promise<void> => {
    this.#closing.abort(
      new AgentUsageError({
        code: 'agent-closed',
        message: 'The agent was closed, and its MCP servers have ended.',
      }),
    )
    this.#chosen = undefined
    await Promise.allSettled(this.#openings.values())
    await this.#opened?.servers.close()
  }

  #ownTools(): readonly AgentTool[] {
    return this.#session?.tools() ?? []
  }

  /** Checks workflows before tools that are not a server's, in the conversation that has these tools. */
  #workflows(
    tools: () => readonly AgentTool[],
  ): Required<Pick<McpPart, 'beforeTool' | 'afterTool'>> {
    return {
      beforeTool: async (tool, input, { signal }) => {
        if (tool.origin.kind === 'mcp' || this.#isIdle) return
        const { gate } = this.#everything()
        this.#isIdle = gate.none
        if (this.#isIdle) return
        const made = { params: input, request: this.#request, signal }
        const calls = namesAtGate(tool).map(({ call }) => ({ ...call, ...made }))
        await gate.pass(calls, tools())
      },
      afterTool: async (tool, input, output, isError) => {
        if (tool.origin.kind === 'mcp' || this.#isIdle) return undefined
        const text = typeof output === 'string' ? output : JSON.stringify(output)
        const made = { params: input, request: this.#request, signal: neverAborted }
        const calls = namesAtGate(tool).map(({ call }) => ({ ...call, ...made }))
        const hasFailed = isError || tool.hasFailed?.(input) === true
        await this.#everything().gate.after(calls, hasFailed ? undefined : { text, value: output })
        return undefined
      },
    }
  }

  /** One opening is shared by all callers, each of whom may give up alone; a failed one is not kept. */
  async #open(
    key: string,
    pick: PickServers,
    signal: AbortSignal = neverAborted,
  ): Promise<McpTools> {
    this.#closing.signal.throwIfAborted()
    signal.throwIfAborted()
    const known = this.#openings.get(key)
    if (known !== undefined) return await untilAborted(known, signal)
    const opening = this.#start(pick)
    this.#openings.set(key, opening)
    opening.catch(() => this.#openings.delete(key))
    return await untilAborted(opening, signal)
  }

  async #start(pick: PickServers): Promise<McpTools> {
    const { servers, list } = this.#everything()
    const tools = await list(pick(servers))
    this.#listed.add(tools)
    return tools
  }

  /** Every server that may have a step of a workflow. */
  async #everyServer(signal: AbortSignal): Promise<McpTools> {
    // Where all servers of the project are offered they are listed already.
    if (this.#options.choice === 'project') {
      return await this.#open('chosen', (servers) => servers.choose('project'), signal)
    }
    return await this.#open('all', (servers) => servers.all(), signal)
  }

  #everything(): Opened {
    this.#opened ??= this.#prepare()
    return this.#opened
  }

  #prepare(): Opened {
    const { runtime, note } = this.#options
    const settings = this.#options.settings()
    const project = findWorkspace(this.#options.project, runtime)
    const lifetimeMs = settings.tools.sessionHours * 3_600_000
    const session = openWorkflowSession({ project, runtime, lifetimeMs, note })
    const place = { project, runtime, settings, session, note }
    const gate = new WorkflowGate({
      ...place,
      offered: () => [...this.#listed].flatMap(({ calls }) => calls.index.tools),
      tools: () => this.#ownTools(),
      servers: (signal) => this.#everyServer(signal),
    })
    /** A server that is listed twice is reported once. */
    const told = new Set<string>()
    const list = (pool: ServerPool): Promise<McpTools> =>
      openMcpTools({
        ...place,
        pool,
        gate: {
          pass: (call) => gate.pass([call]),
          after: (call, text) => gate.after([call], text === undefined ? undefined : { text }),
        },
        requestText: () => this.#request,
        signal: this.#closing.signal,
        told,
      })
    return { servers: new ServerSet(place), gate, list }
  }
}
