import { type Diagnostic, exitCode, messageOf } from '#core/errors'
import { type Runtime, untilAborted } from '#core/runtime'
import type { ServerDefinition } from '#tools/config/model'
import { allowsTool } from '#tools/config/tool-rules'
import { ToolCallError, ToolError } from '#tools/errors'
import type {
  ListOptions,
  ServerFailure,
  ToolDefinition,
  ToolListing,
  ToolServer,
} from '#tools/model'
import { connect, type Connection, type ConnectOptions } from './connection.ts'
import { ServerNotFoundError, startCancelled, startFailed } from './errors.ts'

/** The servers of a project or a program. Each has one process, which starts when a call needs it. */
export interface ServerPool {
  /** One definition per name, including disabled and blocked servers. */
  readonly definitions: readonly ServerDefinition[]
  /** Reads the definitions again; ends the servers whose definition changed. */
  update(): readonly ServerDefinition[]
  /**
   * Returns the server, and starts it if necessary. The returned object stays valid: a later call restarts
   * a server that has ended in the meantime.
   * @throws {ServerNotFoundError}, {ToolCallError} (exit code 4 without trust).
   */
  get(name: string, options?: { signal?: AbortSignal | undefined }): Promise<ToolServer>
  list(options?: ListOptions): Promise<ToolListing>
  states(): ServerState[]
  /** Ends every process; resolves when all are gone. */
  close(): Promise<void>
}

export interface OpenServersOptions {
  runtime: Runtime
  /** The directory of servers without a configured directory; default: the working directory. */
  project?: string | undefined
  /** Gets lines such as `NAME: it runs as INSTANCE`. */
  onLog?: ((line: string) => void) | undefined
  /** Maximum bytes of a server's answer; default 32 MiB. A larger answer fails its call. */
  answerLimit?: number | undefined
  /** Connects to a server that another process keeps; undefined if the server must be started here. */
  connectKept?:
    | ((definition: ServerDefinition, signal: AbortSignal) => Promise<ServerConnection | undefined>)
    | undefined
}

export interface ServerConnection extends Pick<
  Connection,
  'instance' | 'isClosed' | 'list' | 'call' | 'close'
> {
  /** For a server that others can restart: ensures that it runs, and updates `instance`. */
  renew?(signal: AbortSignal | undefined): Promise<void>
}

export interface ServerState {
  name: string
  state: 'running' | 'idle' | 'failed' | 'disabled' | 'blocked'
  instance?: string | undefined
  message?: string | undefined
}

const defaultAnswerLimit = 32 * 1024 * 1024

/**
 * Opens a pool of servers. Nothing is started yet.
 *
 * @param source the definitions, or a function that is called before every use. Servers whose definitions
 *   changed or disappeared are ended first.
 */
export function openServers(
  source: readonly ServerDefinition[] | (() => readonly ServerDefinition[]),
  options: OpenServersOptions,
): ServerPool {
  const servers = new Map<string, PooledServer>()
  const readDefinitions = typeof source === 'function' ? source : () => source
  let current = readDefinitions()
  let ending: Promise<unknown> = Promise.resolve()
  const update = (): readonly ServerDefinition[] => {
    const definitions = readDefinitions()
    if (definitions === current) return definitions
    current = definitions
    const currentKeys = new Set(definitions.map((definition) => JSON.stringify(definition)))
    const outdatedServers = [...servers.values()].filter(
      ({ definition }) => !currentKeys.has(JSON.stringify(definition)),
    )
    for (const { name } of outdatedServers) servers.delete(name)
    ending = Promise.allSettled([ending, ...outdatedServers.map((server) => server.close())])
    return definitions
  }
  return {
    get definitions() {
      return update()
    },
    update,
    async get(
      name: string,
      { signal }: { signal?: AbortSignal | undefined } = {},
    ): Promise<ToolServer> {
      update()
      await ending
      const server = pooledServer(name)
      await server.start(signal)
      return server
    },
    async list(listing?: ListOptions) {
      const definitions = update()
      await ending
      return await listAll(definitions, pooledServer, listing)
    },
    states: (): ServerState[] =>
      update().map((definition) => stateOf(definition, servers.get(definition.name))),
    async close() {
      await Promise.all([ending, ...[...servers.values()].map((server) => server.close())])
    },
  }

  function pooledServer(name: string): PooledServer {
    const existing = servers.get(name)
    if (existing) return existing
    const server = poolServer(definitionOf(current, name), {
      runtime: options.runtime,
      project: options.project ?? options.runtime.cwd,
      answerLimit: options.answerLimit ?? defaultAnswerLimit,
      note: (message) => options.onLog?.(`${name}: ${message}`),
      connectKept: options.connectKept,
    })
    servers.set(name, server)
    return server
  }
}

export function definitionOf(
  definitions: readonly ServerDefinition[],
  name: string,
): ServerDefinition {
  const definition = definitions.find((candidate) => candidate.name === name)
  if (definition) return definition
  const names = definitions.map((one) => one.name)
  throw new ServerNotFoundError(name, names)
}

function stateOf(definition: ServerDefinition, server: PooledServer | undefined): ServerState {
  const { name, disabled, blocked } = definition
  if (disabled) return { name, state: 'disabled' }
  if (blocked) return { name, state: 'blocked', message: blocked.message }
  if (server?.isRunning() === true) return { name, state: 'running', instance: server.instance() }
  const message = server?.lastError()
  return { name, state: message === undefined ? 'idle' : 'failed', message }
}

export async function listAll(
  definitions: readonly ServerDefinition[],
  serverOf: (name: string) => Pick<ToolServer, 'list'>,
  { signal, patienceMs, onServer }: ListOptions = {},
): Promise<ToolListing> {
  const tools = new Map<string, ToolDefinition>()
  const failures: ServerFailure[] = []
  const diagnostics: Diagnostic[] = []
  const ttlMs = new Map<string, number>()
  const enabledDefinitions = definitions.filter(({ disabled }) => !disabled)
  const results = await Promise.all(
    enabledDefinitions.map(async ({ name, source: { path }, blocked }) => {
      onServer?.({ server: name, state: 'starting' })
      try {
        const toolList = await inTime(serverOf(name).list({ signal }), patienceMs?.(name), name)
        onServer?.({ server: name, state: 'running' })
        return { name, path, toolList }
      } catch (error) {
        onServer?.({ server: name, state: 'failed' })
        return failureOf(name, error, blocked?.hint)
      }
    }),
  )
  signal?.throwIfAborted()
  for (const result of results) {
    if ('message' in result) {
      failures.push(result)
      continue
    }
    const { name, path, toolList } = result
    const problems = [...toolList.problems]
    for (const tool of toolList.tools) {
      const message = `the tool ${tool.id} is listed again; the first one counts`
      if (tools.has(tool.id)) problems.push({ code: 'tool-repeated', message })
      else tools.set(tool.id, tool)
    }
    if (toolList.ttlMs !== undefined) ttlMs.set(name, toolList.ttlMs)
    for (const { code, message } of problems)
      diagnostics.push({ code, severity: 'warning', message: `server "${name}": ${message}`, path })
  }
  return { tools: [...tools.values()], failures, diagnostics, ttlMs }
}

/** Waits for work, at most `waitMs`; late work continues until its pool is closed. */
async function inTime<T>(work: Promise<T>, waitMs: number | undefined, server: string): Promise<T> {
  if (waitMs === undefined) return await work
  const limit = new AbortController()
  const message = `The server ${server} gave no answer within ${waitMs / 1000} s and was not waited for`
  const late = startFailed({ message, kind: 'timeout' })
  const timer = setTimeout(() => limit.abort(late), waitMs)
  try {
    return await untilAborted(work, limit.signal)
  } finally {
    clearTimeout(timer)
  }
}

function failureOf(server: string, error: unknown, hint: string | undefined): ServerFailure {
  const { stderrTail = '' } = error instanceof ToolCallError ? error.failure : {}
  const reason = failureReason(messageOf(error), stderrTail)
  const isRefused = error instanceof ToolError && error.exitCode === exitCode.refused
  const message = hint === undefined ? reason : `${reason.replace(/\.?$/, '.')} ${hint}`
  return { server, message, stderrTail, ...(isRefused && { notTrusted: true }) }
}

interface PooledServer extends ToolServer {
  readonly definition: ServerDefinition
  start(signal?: AbortSignal): Promise<void>
  isRunning(): boolean
  lastError(): string | undefined
  close(): Promise<void>
}

type PoolContext = Omit<ConnectOptions, 'signal'> & Pick<OpenServersOptions, 'connectKept'>

function poolServer(definition: ServerDefinition, context: PoolContext) {
  const { name } = definition
  const stopController = new AbortController()
  let connection: ServerConnection | undefined
  let starting: Promise<ServerConnection> | undefined
  let lastError: string | undefined

  const server: PooledServer = {
    name,
    definition,
    instance: () => connection?.instance ?? '',
    isRunning: () => connection?.isClosed() === false,
    lastError: () => lastError,
    async start(signal) {
      if (connection?.isClosed() === false) await connection.renew?.(signal)
      else await running(signal)
    },
    async list(options = {}) {
      const toolList = await (await running(options.signal)).list(options)
      return {
        ...toolList,
        tools: toolList.tools.filter((tool) => allowsTool(definition, tool.name)),
      }
    },
    async call(tool, parameters, options) {
      requireAllowed(definition, tool)
      return await (await running(options?.signal)).call(tool, parameters, options)
    },
    async close() {
      stopController.abort()
      await starting?.catch(() => undefined)
      await connection?.close()
    },
  }
  return server

  /** Starts the server once for all callers. Each caller can stop waiting separately. */
  async function running(signal: AbortSignal | undefined): Promise<ServerConnection> {
    if (connection?.isClosed() === false) return connection
    starting ??= startAnew().finally(() => (starting = undefined))
    if (!signal) return await starting
    try {
      return await untilAborted(starting, signal)
    } catch (error) {
      throw signal.aborted ? startCancelled(name) : error
    }
  }

  async function startAnew(): Promise<ServerConnection> {
    refuse(definition, stopController.signal.aborted)
    try {
      // Remains of the last process are ended before the next one starts.
      await connection?.close()
      const { signal } = stopController
      connection =
        (await context.connectKept?.(definition, signal)) ??
        (await connect(definition, { ...context, signal }))
    } catch (error) {
      lastError = messageOf(error)
      throw error
    }
    lastError = undefined
    context.note(`it runs as ${connection.instance}`)
    return connection
  }
}

export function refuse(
  { name: server, blocked, disabled, source }: ServerDefinition,
  isStopped: boolean,
): void {
  if (isStopped) {
    const message = `The server ${server} is being ended`
    throw startFailed({ message, kind: 'cancelled' })
  }
  if (blocked) {
    const code = blocked.reason === 'unresolved' ? exitCode.failed : exitCode.refused
    const message = `The server ${server} is not started: ${blocked.message}`
    throw startFailed({ message }, { hint: blocked.hint, exitCode: code })
  }
  if (disabled) {
    const message = `The server ${server} is disabled in ${source.path}`
    throw startFailed({ message }, { hint: 'Enable it there, or remove its entry.' })
  }
}

function requireAllowed(definition: ServerDefinition, tool: string): void {
  if (allowsTool(definition, tool)) return
  const { name, source } = definition
  const message = `The tool ${tool} of the server ${name} may not be called: its configuration in ${source.path} does not allow it`
  throw new ToolCallError(
    { kind: 'tool-not-found', message, delivered: 'no' },
    {
      code: 'tool-not-allowed',
      hint: 'Change the lists of enabled or disabled tools there.',
      exitCode: exitCode.refused,
    },
  )
}

/** Returns why a server failed: the first line of the message, and one line of its error output. */
function failureReason(message: string, stderrTail: string): string {
  const head = (message.split('\n')[0] ?? '').replace(/\. Its last error output:$/, '')
  const lines = stderrTail.trim().split('\n')
  const errorLine = lines.find((line) => /error|fatal|cannot|failed/i.test(line)) ?? lines.at(-1)
  const detail = errorLine?.trim().slice(0, 200) ?? ''
  return detail === '' || head.includes(detail) ? head : `${head}: ${detail}`
}
