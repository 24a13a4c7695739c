import { sha256 } from '#core/json'
import { type Runtime, untilAborted } from '#core/runtime'
import type { Settings } from '#core/settings'
import { indexDefinitions, loadToolIndex, type ToolIndex } from '#tools/cache/tool-index'
import { callContext } from '#tools/call/call-context'
import { callTool } from '#tools/call/call-tool'
import { reasonToAsk } from '#tools/call/consent'
import { outcomeValue } from '#tools/call/content'
import type { CallContext, CallGate } from '#tools/call/context'
import { readsHere } from '#tools/call/foresee'
import { callFailureText } from '#tools/call/failure-text'
import { createSchemaChecker } from '#tools/call/schema-checker'
import type { ServerDefinition } from '#tools/config/model'
import type { ServerFailure, ToolDefinition } from '#tools/model'
import { offerable } from '#tools/schema/usable-schema'
import { definitionOf, listAll, openServers, refuse, type ServerPool } from '#tools/server/pool'
import { openProjectServers, type ProjectServers } from '#tools/server/project-servers'
import { permissionOf } from '#tools/workflow/match'
import type { SessionStore } from '#tools/workflow/session'
import type { McpChoice, McpServer } from '#agent/agent-options'
import { usageError } from '#agent/errors'
import type { AgentTool } from '#agent/types'

/** The project whose servers and workflows a conversation uses. */
export interface ConversationProject {
  project: string
  runtime: Runtime
  settings: Pick<Settings, 'tools' | 'workspaceTrust'>
  session: SessionStore
  /** Notes for the user: repeated attempts, servers that do not answer. */
  note: (line: string) => void
}

interface AgentServersOptions extends ConversationProject {
  choice: McpChoice | undefined
  /** Returns the gate that checks every call. */
  gate: () => CallGate
  /** Returns the last prompt, the only text in which keywords of workflows are searched. */
  requestText: () => string | undefined
  closing: AbortSignal
}

/**
 * The MCP servers of a conversation: those of the program, and those of the project with other names.
 * Each starts when its tools are needed for the first time, and has one process. Calls are checked like
 * all tool calls: allow and deny lists, parameters, workflows. The session logs them.
 */
export class AgentServers {
  readonly #options: AgentServersOptions
  /** The servers that the program defines. */
  readonly #programServers: ServerPool
  readonly #schemas = createSchemaChecker()
  readonly #listings = new Map<string, Promise<void>>()
  readonly #definitions: ToolDefinition[] = []
  readonly #trusted = new Set<string>()
  readonly #tools = new Map<string, readonly AgentTool[]>()
  readonly #failures = new Map<string, ServerFailure>()
  #index: ToolIndex = indexDefinitions([])
  #project: ProjectServers | undefined

  constructor(options: AgentServersOptions) {
    const { choice = [] } = options
    const servers = choice === 'project' ? [] : choice
    const names = servers.map(nameOf)
    const definitions = servers.flatMap((server) =>
      typeof server === 'string' ? [] : [definitionOfProgram(server)],
    )
    const duplicate = definitions.find(
      ({ name }) => names.indexOf(name) !== names.lastIndexOf(name),
    )
    if (duplicate) {
      throw usageError('mcp-server', `Two MCP servers are called ${duplicate.name}.`)
    }
    this.#options = options
    this.#programServers = openServers(definitions, options)
  }

  /** Names of the servers whose tools are offered. */
  get chosen(): string[] {
    const { choice = [] } = this.#options
    const servers = choice === 'project' ? this.#projectServers().definitions : choice
    return [...new Set(servers.map(nameOf))]
  }

  /** All servers that can be used. The project's configuration may change while an agent works. */
  get definitions(): readonly ServerDefinition[] {
    const { definitions } = this.#programServers
    const programNames = new Set(definitions.map(nameOf))
    const ofProject = this.#projectServers().definitions
    return [...definitions, ...ofProject.filter(({ name }) => !programNames.has(name))]
  }

  /** @throws if a required server cannot be used. A server that is not required only lacks its tools. */
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

  /** Servers whose tools could not be listed. */
  get failures() {
    return [...this.#failures.values()]
  }

  get index() {
    return this.#index
  }

  /** Starts servers and lists their tools, once each. A failure of a server is a note. */
  async list(names: readonly string[], signal?: AbortSignal): Promise<void> {
    this.#options.closing.throwIfAborted()
    signal?.throwIfAborted()
    const listings = Promise.all(names.map((name) => this.#listOnce(name)))
    await (signal ? untilAborted(listings, signal) : listings)
  }

  /** Returns the context for calls of tools. */
  callsWith(signal: AbortSignal): CallContext {
    return callContext({
      ...this.#options,
      index: this.#index,
      serverDefinition: (name) =>
        this.#poolOf(name).definitions.find((definition) => definition.name === name),
      servers: { get: (name, options) => this.#poolOf(name).get(name, options) },
      gate: this.#options.gate(),
      schemas: this.#schemas,
      signal,
    })
  }

  async close() {
    await Promise.allSettled(this.#listings.values())
    await Promise.all([this.#programServers.close(), this.#project?.close()])
  }

  #projectServers(): ProjectServers {
    return (this.#project ??= openProjectServers(this.#options))
  }

  #poolOf(name: string): Pick<ProjectServers, 'get' | 'definitions'> {
    const isOfProgram = this.#programServers.definitions.some((one) => one.name === name)
    return isOfProgram ? this.#programServers : this.#projectServers()
  }

  #listOnce(name: string): Promise<void> {
    const current = this.#listings.get(name)
    if (current !== undefined) return current
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
      const advice = hint === undefined ? '' : `. ${hint}`
      note(`The MCP server ${name} cannot be used: ${failure.message}${advice}`)
    }
    if (definition.trusted) this.#trusted.add(name)
    this.#definitions.push(...tools)
    const earlierIndex = loadToolIndex({ project, runtime }).known
    this.#index = indexDefinitions(this.#definitions, {
      trusted: this.#trusted,
      earlierIndex,
    })
    const { settings } = this.#options
    const allowedTools = tools
      .filter(({ id }) => permissionOf(id, settings.tools) !== 'deny')
      .map((tool) => this.#index.definition(tool.id) ?? tool)
    const offer = await offerable(allowedTools, this.#schemas)
    for (const warning of offer.warnings) note(`${warning}.`)
    this.#tools.set(
      name,
      offer.tools.map((tool) => this.#agentTool(tool)),
    )
  }

  #agentTool(tool: ToolDefinition): AgentTool {
    const { id, server, name, description, inputSchema } = tool
    const rules = {
      permissions: this.#options.settings.tools,
      rules: () => ({ trusted: this.#trusted.has(server) }),
    }
    const reason = reasonToAsk(tool, rules)
    const readOnly = readsHere(tool, rules)
    return {
      name: `${server}.${name}`,
      description,
      inputSchema,
      aliases: [id, `mcp__${id}`],
      readOnly,
      // By `tools.allow`: it may still change something, which permission mode plan forbids.
      needsApproval: reason === undefined && !readOnly ? false : undefined,
      mustAsk: reason === 'setting' ? 'the setting tools.ask names it' : undefined,
      origin: { kind: 'mcp', server },
      /** Throws if the result of the server is an error. */
      execute: async (params, { signal }) => {
        const requestText = this.#options.requestText()
        const report = await callTool({ tool: id, params, requestText }, this.callsWith(signal))
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

function definitionOfProgram(server: McpServer): ServerDefinition {
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
