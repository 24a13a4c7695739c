import type { Runtime, Settings } from '../../base/index.ts'
import {
  openLiveServers,
  openServers,
  type ProjectServers,
  refuseServer,
  type ServerDefinition,
  ServerNotFoundError,
  type ServerPool,
} from '../../tools/index.ts'
import { AgentUsageError } from '../agent-errors.ts'
import { definitionOf, type McpChoice } from './server-choice.ts'

/**
 * Every server that a conversation may come to use. Each has one process at the most, whoever asks
 * for it, and none is started here.
 */
export interface ServerSet {
  /**
   * @throws {ServerNotFoundError} for a name that no configuration has; {ServerNotTrustedError} and
   *   {ServerStartError} for a server that is held back: who names one cannot do without it.
   */
  choose(choice: McpChoice): ServerPool
  /** Those of the project and those that a program brought along, which hide others of their name. */
  all(): ServerPool
  close(): Promise<void>
}

export interface ServerSetOptions {
  /** The root of the project. */
  project: string
  runtime: Runtime
  settings: Pick<Settings, 'workspaceTrust'>
}

export function createServerSet(options: ServerSetOptions): ServerSet {
  const brought: ServerPool[] = []
  let configured: ProjectServers | undefined
  const ofProject = (): ProjectServers => (configured ??= openLiveServers(options))
  return {
    choose(choice) {
      if (choice === 'project') return ofProject()
      const own = choice.flatMap((one) => (typeof one === 'string' ? [] : [definitionOf(one)]))
      const names = new Set(choice.filter((one) => typeof one === 'string'))
      refuseTwins([...own.map(({ name }) => name), ...names])
      const pools: ServerPool[] = []
      if (names.size > 0) pools.push(onlyNamed(ofProject(), names))
      if (own.length > 0) {
        const pool = openServers(own, options)
        brought.push(pool)
        pools.unshift(pool)
      }
      return joinPools(pools)
    },
    all() {
      const hidden = new Set(
        brought.flatMap(({ definitions }) => definitions.map((one) => one.name)),
      )
      const project = ofProject()
      const hides = project.definitions.some(({ name }) => hidden.has(name))
      const seen = hides ? partOf(project, (name) => !hidden.has(name)) : project
      return joinPools([...brought, seen])
    },
    async close() {
      const pools: ServerPool[] = configured === undefined ? brought : [...brought, configured]
      await Promise.all(pools.map((pool) => pool.close()))
    },
  }
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
