import type { Client, StandardSchemaV1, Transport } from '@modelcontextprotocol/client'
import type { Runtime } from '../../base/index.ts'
import type { ServerDefinition } from '../config/model.ts'
import { isObject } from '../config/fields.ts'
import type { JsonObject, ToolCallOptions, ToolDefinition, ToolOutcome } from '../model.ts'
import { ToolCallError } from '../errors.ts'
import type { CallRecords } from './_call-record.ts'
import { readOutcome } from './_read-outcome.ts'
import { readTools } from './_read-tools.ts'
import { callFailure, isSessionGone } from './call-failure.ts'
import { openHttp } from './open-http.ts'
import { openStdio } from './open-stdio.ts'

/** A server that answered the handshake. */
export interface Connection {
  /** Of the process where there is one, of the session or the address elsewhere. */
  readonly instance: string
  isClosed(): boolean
  list(signal?: AbortSignal): Promise<ListedServer>
  /** Rejects with a {@link ToolCallError}. */
  call(tool: string, parameters: JsonObject, options?: ToolCallOptions): Promise<ToolOutcome>
  close(): Promise<void>
}

/** What a server lists, and what was wrong with it. */
export interface ListedServer {
  tools: readonly ToolDefinition[]
  problems: readonly string[]
  /** How long the list may be kept, where the server says so (MCP of 2026-07-28). */
  ttlMs?: number | undefined
}

export interface ConnectOptions {
  runtime: Runtime
  /** Where a server runs whose configuration names no directory. */
  project: string
  clientInfo: { name: string; version: string }
  signal: AbortSignal
  /** Bytes of one answer; a larger one is a failed call, and the connection goes on. */
  answerLimit: number
  /** Told of things that are wrong but end nothing, and of changes. */
  note: (event: { code: string; message: string }) => void
}

/** A way to a server, with the client already connected. */
export interface OpenedServer {
  client: Client
  transport: Transport
  records: CallRecords
  instance: string
  /** What is known when the connection broke. */
  ending(): Promise<string | undefined>
  close(): Promise<void>
}

/** @throws {ServerStartError} with the last error output of the server. */
export async function connect(
  definition: ServerDefinition,
  options: ConnectOptions,
): Promise<Connection> {
  const { transport } = definition
  const opened =
    transport.kind === 'stdio'
      ? await openStdio(definition, transport, options)
      : await openHttp(definition, transport, options)
  return connectionOf(definition, opened, options)
}

/** Bounds of a listing: a server whose pages never end must not hold us for ever. */
const maxPages = 100
const maxTools = 20_000

function connectionOf(
  definition: ServerDefinition,
  opened: OpenedServer,
  { note }: ConnectOptions,
): Connection {
  const { client, records, instance } = opened
  let isClosed = false
  client.setNotificationHandler('notifications/tools/list_changed', () => {
    note({ code: 'tools-changed', message: 'its tools have changed' })
  })
  return {
    instance,
    // The client lets go of a transport that broke.
    isClosed: () => isClosed || client.transport === undefined,
    list,
    call,
    async close() {
      isClosed = true
      await opened.close()
    },
  }

  async function list(signal?: AbortSignal): Promise<ListedServer> {
    // Without the capability the client would answer by itself, and print.
    if (client.getServerCapabilities()?.tools === undefined) return { tools: [], problems: [] }
    const listed: unknown[] = []
    const seen = new Set<unknown>()
    let ttlMs: number | undefined
    let cursor: string | undefined
    for (let page = 0; page < maxPages && listed.length < maxTools; page++) {
      const result = await request('tools/list', cursor === undefined ? {} : { cursor }, { signal })
      const { tools, nextCursor, ttlMs: ttl } = result
      if (Array.isArray(tools)) for (const tool of tools) listed.push(tool)
      if (typeof ttl === 'number') ttlMs = Math.min(ttl, ttlMs ?? ttl)
      if (typeof nextCursor !== 'string') return { ...readTools(definition.name, listed), ttlMs }
      // The same page again and again.
      if (seen.has(nextCursor)) break
      seen.add(nextCursor)
      cursor = nextCursor
    }
    const { tools, problems } = readTools(definition.name, listed)
    const endless = `its list of tools has no end; ${tools.length} were read`
    return { tools, problems: [...problems, endless] }
  }

  async function call(
    tool: string,
    parameters: JsonObject,
    options: ToolCallOptions = {},
  ): Promise<ToolOutcome> {
    const given = { ...parameters }
    const record = records.open(given)
    const { signal, onProgress } = options
    const timeoutMs = options.timeoutMs ?? definition.callTimeoutMs
    try {
      const result = await request(
        'tools/call',
        { name: tool, arguments: given },
        {
          timeout: timeoutMs,
          signal,
          onprogress: onProgress,
        },
      )
      return readOutcome(result, record.size || Buffer.byteLength(JSON.stringify(result)))
    } catch (error) {
      const cancelled = signal?.aborted === true
      if (isSessionGone(error)) isClosed = true
      const ending = cancelled ? undefined : await opened.ending()
      throw new ToolCallError(
        callFailure(error, {
          server: definition.name,
          tool,
          timeoutMs,
          sent: record.sent,
          cancelled,
          ending,
        }),
        { cause: error },
      )
    }
  }

  /** Past the client's own reading of the result, which drops a whole list for one bad tool. */
  async function request(
    method: 'tools/list' | 'tools/call',
    parameters: JsonObject,
    { timeout = definition.callTimeoutMs, signal, onprogress }: RequestLimits,
  ): Promise<JsonObject> {
    const limits = {
      timeout,
      ...(signal === undefined ? {} : { signal }),
      ...(onprogress === undefined ? {} : { onprogress }),
    }
    return await client.request({ method, params: parameters }, anyObject, limits)
  }
}

interface RequestLimits {
  timeout?: number | undefined
  signal?: AbortSignal | undefined
  onprogress?: ToolCallOptions['onProgress']
}

/** A schema (Standard Schema 1) that takes any object as it is. */
const anyObject: StandardSchemaV1<unknown, JsonObject> = {
  '~standard': {
    version: 1,
    vendor: 'skillrail',
    validate: (value) =>
      isObject(value) ? { value } : { issues: [{ message: 'the result is no object' }] },
  },
}
