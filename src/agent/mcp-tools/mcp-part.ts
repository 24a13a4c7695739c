import { sha256 } from '#core/json'
import { type Runtime, untilAborted } from '#core/runtime'
import type { Settings } from '#core/settings'
import {
  indexDefinitions,
  holdOf,
  loadToolIndex,
  readsOnly,
  type ToolIndex,
} from '#tools/cache/tool-index'
import { callTool } from '#tools/call/call-tool'
import { outcomeValue } from '#tools/call/content'
import type { CallContext } from '#tools/call/context'
import { callFailureText } from '#tools/call/failure-text'
import { isDeclaredReadOnly, permissionOf } from '#tools/workflow/match'
import { createSchemaChecker } from '#tools/call/schema-checker'
import type { ServerDefinition } from '#tools/config/model'
import type { ServerFailure, ToolDefinition } from '#tools/model'
import { definitionOf, listAll, openServers, refuse } from '#tools/server/pool'
import { openProjectServers, type ProjectServers } from '#tools/server/project-servers'
import { openSession, type SessionStore } from '#tools/workflow/session'
import { findWorkspace } from '#core/read-files'
import type { AgentEnvironment, McpChoice, McpServer } from '#agent/agent-options'
import { usageError } from '#agent/errors'
import type { AgentSession, SessionPart } from '#agent/session'
import type { AgentTool } from '#agent/types'
import { namesAtGate, WorkflowGate } from './workflow-gate.ts'

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
  readonly beforeTool = this.#hooks.beforeTool
  readonly afterTool = this.#hooks.afterTool
  #opened: AgentServers | undefined
  #isIdle = false
  #offered: readonly AgentTool[] = []
  #request: string | undefined
  #session: AgentSession | undefined

  constructor(environment: AgentEnvironment, note: ProjectContext['note']) {
    this.#environment = environment
    this.#note = note
  }

  attach(session: AgentSession) {
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

  get isIdle() {
    this.#isIdle ||= this.#open().gate.none
    return this.#isIdle
  }

  tools() {
    return this.#offered
  }

  /** Starts the chosen servers, where that was not done yet; every run begins with it. */
  async ready(signal?: AbortSignal): Promise<void> {
    const { mcp } = this.#environment.options
    if (mcp === undefined) return
    const servers = this.#open()
    this.#offered = await servers.tools(servers.chosen, mcp !== 'project', signal)
  }

  /** The tools of a configured server that a skill names: none when they are offered anyway. */
  async serverTools(server: string, signal?: AbortSignal) {
    const isOfServer = ({ origin }: AgentTool) => origin.kind === 'mcp' && origin.server === server
    if (this.#offered.some(isOfServer)) return []
    return await this.#open().tools([server], true, signal)
  }

  /** The part of a subagent's session that checks workflows; empty when there are none. */
  workflowsOfChild(): readonly SessionPart[] {
    if (this.#isIdle) return []
    let child: AgentSession | undefined
    const attach = (session: AgentSession) => void (child = session)
    return [{ attach, ...this.#workflows(() => child?.tools() ?? []) }]
  }

  async close() {
    this.#closing.abort(usageError('agent-closed', 'The agent was closed.'))
    this.#offered = []
    await this.#opened?.close()
  }

  /** Checks workflows before tools that are not a server's, in the conversation that has these tools. */
  #workflows(tools: () => readonly AgentTool[]) {
    return {
      beforeTool: async (tool, params, { signal }) => {
        if (tool.origin.kind === 'mcp' || this.isIdle) return
        const request = this.#request
        const calls = namesAtGate(tool).map((call) => ({ ...call, params, request, signal }))
        await this.#open().gate.passOnce(calls, tools())
      },
      afterTool: async (tool, params, output, isError) => {
        const gate = this.#opened?.gate
        if (tool.origin.kind === 'mcp' || gate?.none !== false) return undefined
        const value = isError || tool.hasFailed?.(params) === true ? undefined : output
        const text = typeof value === 'object' ? JSON.stringify(value) : value?.toString()
        for (const call of namesAtGate(tool)) {
          const made = { ...call, params, request: this.#request }
          await gate.after(made, text, value)
        }
        return undefined
      },
    } satisfies SessionPart
  }

  #open(): AgentServers {
    this.#closing.signal.throwIfAborted()
    if (this.#opened) return this.#opened
    const { runtime, settings, options } = this.#environment
    const note = this.#note
    const project = findWorkspace(this.#environment.project, runtime)
    const session = openSession({ project, runtime, settings, note })
    const context = { project, runtime, settings, session, note }
    const tools = () => this.#session?.tools() ?? []
    this.#opened = new AgentServers({
      ...context,
      choice: options.mcp,
      gate: (servers) => new WorkflowGate(context, servers, tools),
      requestText: () => this.#request,
      closing: this.#closing.signal,
    })
    return this.#opened
  }
}

/** What the parts of a conversation know of the project whose servers and workflows they use. */
export interface ProjectContext {
  project: string
  runtime: Runtime
  settings: Pick<Settings, 'tools' | 'workspaceTrust'>
  session: SessionStore
  /** Notes for the user: repeated attempts, servers that do not answer. */
  note: (line: string) => void
}

interface AgentServersOptions extends ProjectContext {
  choice: McpChoice | undefined
  gate: (servers: AgentServers) => WorkflowGate
  /** What the user asked for last; keywords of workflows see nothing else. */
  requestText: () => string | undefined
  closing: AbortSignal
}

/**
 * The MCP servers of a conversation: those of the program, and those of the project that it does not
 * hide by a name. Each starts when its tools are first asked for, and has one process. Every call
 * goes the way of all calls of tools: allow and deny lists, the check of its parameters, the gate of
 * workflows, the session's log.
 */
export class AgentServers {
  readonly gate: WorkflowGate
  readonly #options: AgentServersOptions
  readonly #own
  readonly #schemas = createSchemaChecker()
  readonly #listings = new Map<string, Promise<void>>()
  readonly #found: ToolDefinition[] = []
  readonly #trusted = new Set<string>()
  readonly #tools = new Map<string, readonly AgentTool[]>()
  readonly #failures = new Map<string, ServerFailure>()
  #index: ToolIndex = indexDefinitions([])
  #project: ProjectServers | undefined

  constructor(options: AgentServersOptions) {
    const { choice = [] } = options
    const given = choice === 'project' ? [] : choice
    const names = given.map(nameOf)
    const own = given.flatMap((one) => (typeof one === 'string' ? [] : [ownDefinition(one)]))
    const twice = own.find(({ name }) => names.indexOf(name) !== names.lastIndexOf(name))
    if (twice) {
      throw usageError('mcp-server', `Two MCP servers are called ${twice.name}.`)
    }
    this.#options = options
    this.#own = openServers(own, options)
    this.gate = options.gate(this)
  }

  get chosen() {
    const { choice = [] } = this.#options
    return [...new Set((choice === 'project' ? this.#ofProject().definitions : choice).map(nameOf))]
  }

  /** What is configured now may change while an agent works. */
  get definitions(): readonly ServerDefinition[] {
    const own = this.#own.definitions
    const hidden = new Set(own.map(nameOf))
    return [...own, ...this.#ofProject().definitions.filter(({ name }) => !hidden.has(name))]
  }

  /** Who requires a server cannot do without it: a name that cannot be used is refused. */
  async tools(
    names: readonly string[],
    isRequired: boolean,
    signal?: AbortSignal,
  ): Promise<readonly AgentTool[]> {
    for (const name of isRequired ? names : []) {
      refuse(definitionOf(this.#poolOf(name).definitions, name), false)
    }
    await this.list(names, signal)
    return names.flatMap((name) => this.#tools.get(name) ?? [])
  }

  /** Servers that could not be listed; what they have is not known. */
  get failures() {
    return [...this.#failures.values()]
  }

  get index() {
    return this.#index
  }

  /** Starts servers and lists their tools, once each. A server that cannot be listed is a note. */
  async list(names: readonly string[], signal?: AbortSignal): Promise<void> {
    this.#options.closing.throwIfAborted()
    signal?.throwIfAborted()
    const all = Promise.all(names.map((name) => this.#listOnce(name)))
    await (signal ? untilAborted(all, signal) : all)
  }

  calls(signal: AbortSignal): CallContext {
    const { session, settings, runtime, note } = this.#options
    const { retryWaits, replaySafe, neverReplay } = settings.tools
    const index = this.#index
    return {
      index,
      servers: { get: (name, options) => this.#poolOf(name).get(name, options) },
      rules: (name) =>
        this.#poolOf(name).definitions.find((one) => one.name === name) ?? { trusted: false },
      hold: ({ id }) => holdOf(id, index),
      permissions: settings.tools,
      gate: this.gate,
      log: (record) => session.log(record),
      retry: { waitsMs: retryWaits.map((seconds) => seconds * 1000), replaySafe, neverReplay },
      schemas: this.#schemas,
      runtime,
      signal,
      note,
    }
  }

  async close() {
    await Promise.allSettled(this.#listings.values())
    await Promise.all([this.#own.close(), this.#project?.close()])
  }

  #ofProject(): ProjectServers {
    return (this.#project ??= openProjectServers(this.#options))
  }

  #poolOf(name: string): Pick<ProjectServers, 'get' | 'definitions'> {
    const isOwn = this.#own.definitions.some((one) => one.name === name)
    return isOwn ? this.#own : this.#ofProject()
  }

  #listOnce(name: string): Promise<void> {
    const known = this.#listings.get(name)
    if (known !== undefined) return known
    const listing = this.#list(name)
    this.#listings.set(name, listing)
    listing.catch(() => this.#listings.delete(name))
    return listing
  }

  async #list(name: string): Promise<void> {
    const { project, runtime, note, closing } = this.#options
    const pool = this.#poolOf(name)
    const definition = definitionOf(pool.definitions, name)
    const { tools, failures } = await listAll(
      [definition],
      () => ({ list: async (options) => (await pool.get(name, options)).list(options) }),
      { signal: closing },
    )
    for (const failure of failures) {
      this.#failures.set(name, failure)
      const hint = definition.blocked?.hint
      const next = hint === undefined ? '' : `. ${hint}`
      note(`The MCP server ${name} cannot be used: ${failure.message}${next}`)
    }
    if (definition.trusted) this.#trusted.add(name)
    this.#found.push(...tools)
    const known = loadToolIndex({ project, runtime }).index
    this.#index = indexDefinitions(this.#found, { trusted: this.#trusted, known })
    const { settings } = this.#options
    const offered = tools
      .filter(({ id }) => permissionOf(id, settings.tools) !== 'deny')
      .map((tool) => this.#agentTool(this.#index.definition(tool.id) ?? tool))
    this.#tools.set(name, offered)
  }

  #agentTool(tool: ToolDefinition): AgentTool {
    const { id, server, name, description, inputSchema, annotations } = tool
    const { settings } = this.#options
    const said = permissionOf(id, settings.tools)
    return {
      name: `${server}.${name}`,
      description,
      inputSchema: { ...inputSchema, type: 'object' },
      aliases: [id, `mcp__${id}`],
      readOnly:
        said !== 'ask' &&
        (said === 'allow' ||
          isDeclaredReadOnly(id, settings.tools) ||
          readsOnly({ name, annotations }, this.#trusted.has(server))),
      origin: { kind: 'mcp', server },
      /** An answer that is an error is thrown, as every failure of a tool is. */
      execute: async (params, { signal }) => {
        const requestText = this.#options.requestText()
        const report = await callTool({ tool: id, params, requestText }, this.calls(signal))
        if (report.status === 'success') {
          const value = outcomeValue(report.outcome)
          const pictures = report.outcome.content.flatMap((block) =>
            block.type === 'image' ? [block] : [],
          )
          return pictures.length === 0 ? value : [value, ...pictures].flat()
        }
        throw new Error(callFailureText(report).replace(/^Error: /, ''))
      },
    }
  }
}

function nameOf(server: string | { name: string }) {
  return typeof server === 'string' ? server : server.name
}

function ownDefinition(server: McpServer): ServerDefinition {
  const { name, command = '', url, args = [], env = {}, cwd, headers = {}, allow, deny } = server
  if ((server.command === undefined) === (url === undefined)) {
    throw usageError('mcp-server', `The MCP server ${name} needs either a command or a url.`)
  }
  return {
    name,
    transport:
      url === undefined
        ? { kind: 'stdio', command, args, env, cwd }
        : { kind: 'http', url, headers },
    source: { client: 'claude-code', path: '', scope: 'user' },
    startupTimeoutMs: 30_000,
    callTimeoutMs: server.callTimeoutMs ?? 60_000,
    allow,
    deny,
    disabled: false,
    trusted: server.trusted ?? true,
    digest: sha256(JSON.stringify(server)),
  }
}
