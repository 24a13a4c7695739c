import type { ServerDefinition } from '../config/model.ts'
import type { ToolServer } from '../model.ts'
import { allowsTool, requireAllowed } from './allowed-tools.ts'
import { connect, type Connection, type ConnectOptions, type ListedServer } from './connection.ts'
import { ServerNotTrustedError, ServerStartError } from './errors.ts'

/** One server of a pool, started when it is needed and again when it ended. */
export interface PooledServer extends ToolServer {
  start(signal?: AbortSignal): Promise<void>
  isRunning(): boolean
  /** Why the last start or listing failed; undefined after one that did not. */
  lastError(): string | undefined
  listWithProblems(options?: { signal?: AbortSignal | undefined }): Promise<ListedServer>
  close(): Promise<void>
}

export function poolServer(
  definition: ServerDefinition,
  context: Omit<ConnectOptions, 'signal'>,
): PooledServer {
  const { name } = definition
  const stopped = new AbortController()
  let connection: Connection | undefined
  let starting: Promise<Connection> | undefined
  let instance = ''
  let lastError: string | undefined

  const server: PooledServer = {
    name,
    instance: () => instance,
    isRunning: () => connection?.isClosed() === false,
    lastError: () => lastError,
    async start(signal) {
      await running(signal)
    },
    async list(options) {
      return (await server.listWithProblems(options)).tools
    },
    async listWithProblems({ signal } = {}) {
      const listed = await (await running(signal)).list(signal)
      return { ...listed, tools: listed.tools.filter((tool) => allowsTool(definition, tool.name)) }
    },
    async call(tool, parameters, options) {
      requireAllowed(definition, tool)
      return await (await running(options?.signal)).call(tool, parameters, options)
    },
    async close() {
      stopped.abort()
      await starting?.catch(() => undefined)
      await connection?.close()
    },
  }
  return server

  /** One start for all who wait; each of them may give up alone. */
  async function running(signal: AbortSignal | undefined): Promise<Connection> {
    if (connection?.isClosed() === false) return connection
    starting ??= startAnew().finally(() => (starting = undefined))
    return await abortable(starting, signal, name)
  }

  async function startAnew(): Promise<Connection> {
    refuse(definition, stopped.signal.aborted)
    try {
      // What the last process left is ended before the next one starts.
      await connection?.close()
      connection = await connect(definition, { ...context, signal: stopped.signal })
    } catch (error) {
      lastError = error instanceof Error ? error.message : String(error)
      throw error
    }
    lastError = undefined
    instance = connection.instance
    context.note({ code: 'server-started', message: `it runs as ${instance}` })
    return connection
  }
}

/** @throws {ServerNotTrustedError} | {ServerStartError} for a server that must not be started. */
export function refuse(
  { name, blocked, disabled, source }: ServerDefinition,
  isStopped: boolean,
): void {
  if (isStopped) {
    throw new ServerStartError({
      server: name,
      message: `The server ${name} is being ended`,
      kind: 'cancelled',
    })
  }
  if (blocked !== undefined) {
    const Refusal = blocked.reason === 'unresolved' ? ServerStartError : ServerNotTrustedError
    const message = `The server ${name} is not started: ${blocked.message}`
    throw new Refusal({ server: name, message }, { hint: blocked.hint })
  }
  if (disabled) {
    throw new ServerStartError(
      { server: name, message: `The server ${name} is disabled in ${source.path}` },
      { hint: 'Enable it there, or remove its entry.' },
    )
  }
}

async function abortable<T>(
  work: Promise<T>,
  signal: AbortSignal | undefined,
  name: string,
): Promise<T> {
  if (signal === undefined) return await work
  const cancelled = (): ServerStartError =>
    new ServerStartError({
      server: name,
      message: `The start of the server ${name} was cancelled`,
      kind: 'cancelled',
    })
  if (signal.aborted) throw cancelled()
  let onAbort = (): void => undefined
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(cancelled())
    signal.addEventListener('abort', onAbort, { once: true })
  })
  try {
    return await Promise.race([work, aborted])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}
