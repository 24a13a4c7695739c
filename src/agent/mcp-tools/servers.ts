import type { Runtime } from '../../core/runtime.ts'
import type { Settings } from '../../core/settings.ts'
import { sha256 } from '../../core/json.ts'
import { openLiveServers, type ProjectServers } from '../../tools/server/project-servers.ts'
import { openServers, refuse as refuseServer, type ServerPool } from '../../tools/server/pool.ts'
import type { ServerDefinition } from '../../tools/config/model.ts'
import { ServerNotFoundError } from '../../tools/server/errors.ts'
import { AgentUsageError } from '../errors.ts'

/** An MCP server that a program brings along. What it says of its tools is believed by default. */
export interface McpServer {
  name: string
  /** A program to start … */
  command?: string | undefined
  args?: readonly string[] | undefined
  env?: Readonly<Record<string, string>> | undefined
  cwd?: string | undefined
  /** … or the address of one that runs. */
  url?: string | undefined
  headers?: Readonly<Record<string, string>> | undefined
  allow?: readonly string[] | undefined
  deny?: readonly string[] | undefined
  /** Milliseconds for one call; default 60,000. */
  callTimeoutMs?: number | undefined
  /** Whether its hints, such as that a tool only reads, are believed; default true. */
  trusted?: boolean | undefined
}

/** `project`: every server that is configured; else names of such servers, and servers of one's own. */
export type McpChoice = 'project' | readonly (string | McpServer)[]

/** @throws {AgentUsageError} for one that could not be reached, or in two ways. */
function definitionOf(server: McpServer): ServerDefinition {
  const { name, command, url, args = [], env = {}, cwd, headers = {} } = server
  if ((command === undefined) === (url === undefined)) {
    throw new AgentUsageError({
      code: 'mcp-server',
      message: `The MCP server ${name} needs either a command or a url.`,
    })
  }
  return {
    name,
    transport:
      url === undefined
        ? { kind: 'stdio', command: command ?? '', args, env, cwd }
        : { kind: 'http', url, headers },
    source: { client: 'claude-code', path: '', scope: 'user' },
    startupTimeoutMs: 30_000,
    callTimeoutMs: server.callTimeoutMs ?? 60_000,
    allow: server.allow,
    deny: server.deny,
    disabled: false,
    trusted: server.trusted ?? true,
    digest: sha256(JSON.stringify(server)),
  }
}

/**
 * Every server that a conversation may use. Each has at most one process, every caller for it, and
 * none is started here.
 */
export class ServerSet {
  readonly #options: ServerSetOptions
  /** Of the program. */
  readonly #own: ServerPool[] = []
  #project: ProjectServers | undefined

  constructor(options: ServerSetOptions) {
    this.#options = options
  }

  /**
   * @throws {ServerNotFoundError} for a name that no configuration has; {ServerNotTrustedError} and
   *   {ServerStartError} for a blocked server: who names one cannot do without it.
   */
  choose(choice: McpChoice): ServerPool {
    if (choice === 'project') return this.#ofProject()
    const own = choice.flatMap((one) => (typeof one === 'string' ? [] : [definitionOf(one)]))
    const names = new Set(choice.filter((one) => typeof one === 'string'))
    refuseTwins([...own.map(({ name }) => name), ...names])
    const pools: ServerPool[] = []
    if (names.size > 0) pools.push(onlyNamed(this.#ofProject(), names))
    if (own.length > 0) {
      const pool = openServers(own, this.#options)
      this.#own.push(pool)
      pools.unshift(pool)
    }
    return joinPools(pools)
  }

  /** The servers of the program and of the project; those of the program hide others of their name. */
  all(): ServerPool {
    const hidden = new Set(
      this.#own.flatMap(({ definitions }) => definitions.map(({ name }) => name)),
    )
    const project = this.#ofProject()
    const hides = project.definitions.some(({ name }) => hidden.has(name))
    return joinPools([...this.#own, hides ? partOf(project, (name) => !hidden.has(name)) : project])
  }

  async close(): Promise<void> {
    const pools = this.#project === undefined ? this.#own : [...this.#own, this.#project]
    await Promise.all(pools.map((pool) => pool.close()))
  }

  #ofProject(): ProjectServers {
    return (this.#project ??= openLiveServers(this.#options))
  }
}

interface ServerSetOptions {
  /** The root of the project. */
  project: string
  runtime: Runtime
  settings: Pick<Settings, 'workspaceTrust'>
}

function onlyNamed(pool: ServerPool, names: ReadonlySet<string>): ServerPool {
  const known = pool.definitions.map(({ name }) => name)
  for (const name of names) {
    if (!known.includes(name)) throw new ServerNotFoundError(name, known)
  }
  const part = partOf(pool, (name) => names.has(name))
  for (const definition of part.definitions) refuseServer(definition, false)
  return part
}

/** What the project says of its servers may change while an agent works. */
function partOf(pool: ServerPool, has: (name: string) => boolean): ServerPool {
  const definitions = (): ServerDefinition[] => pool.definitions.filter(({ name }) => has(name))
  return {
    get definitions() {
      return definitions()
    },
    get: (name, options) => pool.get(name, options),
    async list(options) {
      const enabled = definitions().filter(({ disabled }) => !disabled)
      const results = await Promise.all(
        enabled.map(async ({ name }) => {
          try {
            const server = await pool.get(name, options)
            return { tools: await server.list(options), failures: [] }
          } catch (error) {
            options?.signal?.throwIfAborted()
            const message = error instanceof Error ? error.message : String(error)
            return { tools: [], failures: [{ server: name, message, stderrTail: '' }] }
          }
        }),
      )
      return {
        tools: results.flatMap(({ tools }) => tools),
        failures: results.flatMap(({ failures }) => failures),
        diagnostics: [],
        ttlMs: new Map<string, number>(),
      }
    },
    close: () => pool.close(),
  }
}

function joinPools(pools: readonly ServerPool[]): ServerPool {
  const [only] = pools
  if (only !== undefined && pools.length === 1) return only
  const definitions = (): ServerDefinition[] => pools.flatMap((pool) => pool.definitions)
  return {
    get definitions() {
      return definitions()
    },
    async get(name, options) {
      const pool = pools.find((one) => one.definitions.some((server) => server.name === name))
      if (pool !== undefined) return await pool.get(name, options)
      throw new ServerNotFoundError(
        name,
        definitions().map((one) => one.name),
      )
    },
    async list(options) {
      const listings = await Promise.all(pools.map((pool) => pool.list(options)))
      return {
        tools: listings.flatMap(({ tools }) => tools),
        failures: listings.flatMap(({ failures }) => failures),
        diagnostics: listings.flatMap(({ diagnostics }) => diagnostics),
        ttlMs: new Map(listings.flatMap(({ ttlMs }) => [...ttlMs])),
      }
    },
    async close() {
      await Promise.all(pools.map((pool) => pool.close()))
    },
  }
}

function refuseTwins(names: readonly string[]): void {
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice === undefined) return
  throw new AgentUsageError({
    code: 'mcp-server',
    message: `Two MCP servers are called ${twice}.`,
  })
}
