import type { Client } from '@modelcontextprotocol/client'
import { isAlive, isOnThisMachine } from '#core/file-lock'
import { messageOf } from '#core/errors'
import { isObject, type JsonObject, type JsonValue, objectOf } from '#core/json'
import { poll } from '#core/poll'
import { clientInfo } from '#core/runtime'
import type { ServerDefinition } from '#tools/config/model'
import { ToolCallError } from '#tools/errors'
import type { ListToolsOptions, ToolCallOptions } from '#tools/model'
import { failBrokenRequests } from './broken-streams.ts'
import { startCancelled, startFailed } from './errors.ts'
import { anyObject } from './connection.ts'
import {
  controlPath,
  controlTools,
  decodeError,
  type KeptRecord,
  keptSchemas,
  metaKey,
  type Place,
  readKeptRecord,
  runningKeeper,
  serverPath,
} from './kept-process.ts'
import type { ServerConnection, ServerState } from './pool.ts'
import { neverReached, readOutcome, readTools } from './read-answers.ts'

export interface KeptStatus {
  project: string
  pid: number
  startedAt: string
  /** 0: the process does not end by itself. */
  idleExitMs: number
  servers: readonly ServerState[]
}

export async function keptStatus(place: Place): Promise<KeptStatus | undefined> {
  const record = readKeptRecord(place)
  if (!record) return undefined
  try {
    const signal = AbortSignal.timeout(5000)
    const answer = await withClient(record, controlPath, signal, (client) =>
      callControl(client, controlTools.status, {}, signal),
    )
    const { project, startedAt, process } = record
    return { project, pid: process.pid, startedAt, ...keptSchemas().status.parse(answer) }
  } catch (error) {
    if (error instanceof KeeperUnreachableError) return undefined
    throw error
  }
}

export type StopResult = 'stopped' | 'not-running' | 'still-running'

export async function stopKept(place: Place): Promise<StopResult> {
  const record = runningKeeper(place)
  if (!record) return 'not-running'
  try {
    if (record.version !== 2) throw new Error('it speaks the protocol of an earlier version')
    const signal = AbortSignal.timeout(2000)
    await withClient(record, controlPath, signal, (client) =>
      callControl(client, controlTools.stop, {}, signal),
    )
  } catch {
    // Without an answer, TERM has the same effect. On another machine the ID means another process.
    const isHere = isOnThisMachine(record.process)
    if (isHere && isAlive(record.process)) process.kill(record.process.pid, 'SIGTERM')
  }
  const hasEnded = (): boolean => !isAlive(record.process)
  return (await poll(hasEnded, { everyMs: 25, patienceMs: 10_000 })) ? 'stopped' : 'still-running'
}

/**
 * Connects to a server through the process that keeps it. The connection counts as closed if another
 * process keeps the server, or no process does.
 *
 * @throws {ToolCallError}
 */
export async function connectKept(
  definition: ServerDefinition,
  record: KeptRecord,
  place: Place,
  signal: AbortSignal,
): Promise<ServerConnection> {
  const { name } = definition
  const control = await openClient(record, controlPath, signal).catch((error: unknown) => {
    throw unreachable(name, error, signal)
  })
  const client = await openClient(record, serverPath(name), signal).catch(
    async (error: unknown) => {
      await control.close()
      throw unreachable(name, error, signal)
    },
  )
  const connection = new KeptConnection(definition, record, place, { control, client })
  try {
    await connection.renew(signal)
  } catch (error) {
    await connection.close()
    throw error
  }
  return connection
}

class KeptConnection implements ServerConnection {
  readonly #definition: ServerDefinition
  readonly #record: KeptRecord
  readonly #place: Place
  readonly #clients: { control: Client; client: Client }
  #isClosed = false
  instance = ''

  constructor(
    definition: ServerDefinition,
    record: KeptRecord,
    place: Place,
    clients: { control: Client; client: Client },
  ) {
    this.#definition = definition
    this.#record = record
    this.#place = place
    this.#clients = clients
  }

  isClosed(): boolean {
    return this.#isClosed || readKeptRecord(this.#place)?.token !== this.#record.token
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const { control, client } = this.#clients
    await Promise.all([control.close(), client.close()])
  }

  async renew(signal: AbortSignal | undefined): Promise<void> {
    const { name: server } = this.#definition
    try {
      const { control } = this.#clients
      const answer = await callControl(control, controlTools.start, { server }, signal)
      this.instance = keptSchemas().started.parse(answer).instance
    } catch (error) {
      throw unreachable(server, error, signal)
    }
  }

  async list({ signal }: ListToolsOptions = {}) {
    const { name } = this.#definition
    try {
      const result = await request(this.#clients.client, 'tools/list', {}, { signal })
      const meta = keptSchemas().listed.parse(metaOf(result))
      const rawTools: readonly unknown[] = Array.isArray(result['tools']) ? result['tools'] : []
      const { tools, problems } = readTools(name, rawTools.map(definitionIn))
      this.instance = meta.instance
      return { tools, problems: [...meta.problems, ...problems], ttlMs: meta.ttlMs }
    } catch (error) {
      throw unreachable(name, error, signal)
    }
  }

  async call(tool: string, parameters: JsonObject, options: ToolCallOptions = {}) {
    const { signal, onProgress, timeoutMs, inputSchema } = options
    const { name, callTimeoutMs, startupTimeoutMs } = this.#definition
    const isEarly = signal?.aborted === true
    try {
      const meta = { timeoutMs, inputSchema }
      const params = {
        name: tool,
        arguments: parameters,
        _meta: { [metaKey]: withoutUndefined(meta) },
      }
      const result = await request(this.#clients.client, 'tools/call', params, {
        signal,
        // The other process measures the time-out of the call, from the moment when its server runs.
        timeout: (timeoutMs ?? callTimeoutMs) + startupTimeoutMs + graceMs,
        ...(onProgress && { onprogress: onProgress }),
      })
      const { instance, size, problems } = keptSchemas().called.parse(metaOf(result))
      this.instance = instance
      const { problems: _, ...outcome } = readOutcome(result)
      return { ...outcome, size, ...(problems && { problems }) }
    } catch (error) {
      if (!(error instanceof KeeperUnreachableError)) throw error
      const isCancelled = signal?.aborted === true
      const kind = isCancelled ? 'cancelled' : 'connection-lost'
      const message = isCancelled
        ? `The call of ${tool} was cancelled`
        : `The process that keeps the server ${name} was lost during the call of ${tool}: ${error.message}`
      const delivered = error.isSent && !isEarly ? 'unknown' : 'no'
      throw new ToolCallError({ kind, message, delivered }, { cause: error })
    }
  }
}

/** Additional time for the other process before and after the measured time. */
const graceMs = 10_000

function unreachable(server: string, error: unknown, signal: AbortSignal | undefined): unknown {
  if (!(error instanceof KeeperUnreachableError)) return error
  if (signal?.aborted === true) return startCancelled(server)
  const message = `The process that keeps the server ${server} cannot be reached: ${error.message}`
  const hint =
    'skillrail tools serve --stop ends it; the next command then starts the server itself.'
  return startFailed({ message }, { hint, cause: error })
}

/** The connection to the process that keeps a project's servers broke, or could not be opened. */
class KeeperUnreachableError extends Error {
  /** Whether the process may have read the request. */
  readonly isSent: boolean

  constructor(error: unknown) {
    super(messageOf(error), { cause: error })
    this.isSent = neverReached(error) === undefined
  }
}

/** The newest protocol, which has no sessions, so no session of an ended client remains. */
const protocol = '2026-07-28'

async function openClient(
  { port, token }: KeptRecord,
  path: string,
  signal: AbortSignal,
): Promise<Client> {
  const sdk = await import('@modelcontextprotocol/client')
  const headers = { authorization: `Bearer ${token}` }
  const url = new URL(`http://127.0.0.1:${port}${path}`)
  const transport = new sdk.StreamableHTTPClientTransport(url, { requestInit: { headers } })
  failBrokenRequests(transport)
  const client = new sdk.Client(clientInfo(), {
    capabilities: {},
    versionNegotiation: { mode: { pin: protocol } },
  })
  try {
    await client.connect(transport, { signal })
    return client
  } catch (error) {
    await client.close().catch(() => undefined)
    throw new KeeperUnreachableError(error)
  }
}

async function withClient<T>(
  record: KeptRecord,
  path: string,
  signal: AbortSignal,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const client = await openClient(record, path, signal)
  try {
    return await work(client)
  } finally {
    await client.close()
  }
}

async function callControl(
  client: Client,
  name: string,
  parameters: JsonObject,
  signal: AbortSignal | undefined,
): Promise<unknown> {
  // A server may take minutes to start. The other process limits that time.
  const limits = { signal, timeout: longestStartMs }
  const result = await request(client, 'tools/call', { name, arguments: parameters }, limits)
  return result['structuredContent']
}

const longestStartMs = 60 * 60 * 1000

interface RequestLimits {
  signal?: AbortSignal | undefined
  timeout?: number
  onprogress?: ToolCallOptions['onProgress']
}

/** @throws {SkillrailError} the error of the other process; {@link KeeperUnreachableError} */
async function request(
  client: Client,
  method: 'tools/call' | 'tools/list',
  params: JsonObject,
  { signal, onprogress, timeout = longestStartMs }: RequestLimits,
): Promise<JsonObject> {
  try {
    return await client.request({ method, params }, anyObject, {
      timeout,
      ...(signal && { signal }),
      ...(onprogress && { onprogress }),
    })
  } catch (error) {
    const data = isObject(error) ? error['data'] : undefined
    throw decodeError(data) ?? new KeeperUnreachableError(error)
  }
}

/** Returns the definition of a tool, even if the protocol does not allow it. */
function definitionIn(tool: unknown): unknown {
  return (isObject<JsonValue>(tool) ? metaOf(tool) : undefined) ?? tool
}

function metaOf(result: JsonObject): unknown {
  return objectOf(result['_meta'])[metaKey]
}

/** Removes undefined members, which JSON cannot contain. */
function withoutUndefined(value: {
  timeoutMs?: number | undefined
  inputSchema?: JsonObject | undefined
}): JsonObject {
  const { timeoutMs, inputSchema } = value
  return {
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(inputSchema && { inputSchema }),
  }
}
