import { type Runtime, sha256 } from '../../base/index.ts'
import {
  openServers,
  type ProjectServers,
  refuseServer,
  type ServerDefinition,
  ServerNotFoundError,
  type ServerPool,
} from '../../tools/index.ts'
import { AgentUsageError } from '../agent-errors.ts'

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

/** The servers of a choice as one pool. Nothing is started here. */
export function chooseServers(
  choice: McpChoice,
  openProject: () => ProjectServers,
  place: { runtime: Runtime; project: string },
): ServerPool {
  if (choice === 'project') return openProject()
  const own = choice.flatMap((one) => (typeof one === 'string' ? [] : [definitionOf(one)]))
  const named = new Set(choice.filter((one) => typeof one === 'string'))
  const pools: ServerPool[] = []
  if (own.length > 0) pools.push(openServers(own, place))
  if (named.size > 0) pools.push(onlyNamed(openProject(), named))
  return joinPools(pools)
}

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
 * @throws {ServerNotFoundError} for a name that no configuration has; {ServerNotTrustedError} and
 *   {ServerStartError} for a server that is held back: who names one cannot do without it.
 */
function onlyNamed(pool: ProjectServers, names: ReadonlySet<string>): ServerPool {
  const known = pool.definitions.map(({ name }) => name)
  for (const name of names) {
    if (!known.includes(name)) throw new ServerNotFoundError(name, known)
  }
  const definitions = pool.definitions.filter(({ name }) => names.has(name))
  for (const definition of definitions) refuseServer(definition, false)
  return {
    definitions,
    get: (name, options) => pool.get(name, options),
    async list(options) {
      const results = await Promise.all(
        [...names].map(async (name) => {
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
  const definitions = pools.flatMap((pool) => pool.definitions)
  const names = definitions.map(({ name }) => name)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) {
    throw new AgentUsageError({
      code: 'mcp-server',
      message: `Two MCP servers are called ${twice}.`,
    })
  }
  return {
    definitions,
    async get(name, options) {
      const pool = pools.find((one) => one.definitions.some((server) => server.name === name))
      if (pool === undefined) throw new ServerNotFoundError(name, names)
      return await pool.get(name, options)
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
