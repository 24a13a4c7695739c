import { setTimeout as wait } from 'node:timers/promises'
import type { Client, StandardSchemaV1, Transport } from '@modelcontextprotocol/client'
import { isObject } from '../../core/json.ts'
import type { Runtime } from '../../core/runtime.ts'
import type { JsonValue } from '../../skill/model.ts'
import type { ServerDefinition } from '../config/model.ts'
import { ToolCallError } from '../errors.ts'
import type { JsonObject, ToolCallOptions, ToolDefinition, ToolOutcome } from '../model.ts'
import {
  callFailure,
  type CallRecords,
  hasCode,
  isHeaderMismatch,
  isSessionGone,
} from './call-failure.ts'
import { inputRequiredText, readInputRequired, readOutcome, readTools } from './read-answers.ts'
import { ServerStartError } from './errors.ts'
import { type Mask, maskedError, serverMask } from './mask-secrets.ts'
import { openHttp } from './open-http.ts'
import { openStdio } from './open-stdio.ts'
import { checkMirrored, parameterHeaders } from './parameter-headers.ts'

export interface Connection {
  /** Of the process where there is one, of the session or the address elsewhere. */
  readonly instance: string
  isClosed(): boolean
  list(signal?: AbortSignal): Promise<ListedServer>
  /** Rejects with a {@link ToolCallError}. */
  call(tool: string, parameters: JsonObject, options?: ToolCallOptions): Promise<ToolOutcome>
  close(): Promise<void>
}

export interface ListedServer {
  tools: readonly ToolDefinition[]
  problems: readonly string[]
  /** How long the list may be kept, where the server says so (MCP of 2026-07-28). */
  ttlMs?: number | undefined
}

export interface ConnectOptions {
  runtime: Runtime
  project: string
  clientInfo: { name: string; version: string }
  signal: AbortSignal
  /** Bytes of one answer; a larger one is a failed call, and the connection continues. */
  answerLimit: number
  /** Told of things that are wrong but end nothing, and of changes. */
  note: (event: { code: string; message: string }) => void
}

export interface OpenOptions extends ConnectOptions {
  /** For whatever the server said that is passed on as words of an error. */
  mask: Mask
}

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
  const mask = serverMask(transport)
  const opened =
    transport.kind === 'stdio'
      ? await openStdio(definition, transport, { ...options, mask })
      : await openHttp(definition, transport, { ...options, mask })
  await refuseOurselves(definition, opened)
  return connectionOf(definition, opened, { ...options, mask })
}

/** Bounds of a listing: a server whose pages never end must not hold us for ever. */
const maxPages = 100
const maxTools = 20_000
/** How often, and after which pause, a server is asked again that wants nothing but that. */
const maxRounds = 10
const pauseMs = 250

function connectionOf(
  definition: ServerDefinition,
  opened: OpenedServer,
  { note, mask }: OpenOptions,
): Connection {
  const { client, records, instance } = opened
  /** By the tool's name, as they were last listed here. */
  const schemas = new Map<string, JsonObject>()
  const hasHeaders = definition.transport.kind === 'http' && client.getProtocolEra() === 'modern'
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
      const result = await listPage(cursor === undefined ? {} : { cursor }, signal)
      const { tools, nextCursor, ttlMs: ttl } = result
      if (Array.isArray(tools)) for (const tool of tools) listed.push(tool)
      if (typeof ttl === 'number') ttlMs = Math.min(ttl, ttlMs ?? ttl)
      if (typeof nextCursor !== 'string') return { ...readListed(listed), ttlMs }
      // The same page again and again.
      if (seen.has(nextCursor)) break
      seen.add(nextCursor)
      cursor = nextCursor
    }
    const { tools, problems } = readListed(listed)
    const endless = `its list of tools has no end; ${tools.length} were read`
    return { tools, problems: [...problems, endless] }
  }

  async function listPage(parameters: JsonObject, signal?: AbortSignal): Promise<JsonObject> {
    try {
      return await request('tools/list', parameters, { signal })
    } catch (error) {
      if (!hasCode(error, 'REQUEST_TIMEOUT')) {
        if (error instanceof Error) error.message = mask(error.message)
        throw error
      }
      const { name: server, callTimeoutMs } = definition
      const message = `The server ${server} runs and did not list its tools within ${callTimeoutMs / 1000} s`
      throw new ServerStartError({ server, message, kind: 'timeout' }, { cause: error })
    }
  }

  function readListed(listed: readonly unknown[]): ListedServer {
    const read = readTools(definition.name, listed)
    const checked = hasHeaders ? checkMirrored(read.tools) : { tools: read.tools, problems: [] }
    for (const { name, inputSchema } of checked.tools) schemas.set(name, inputSchema)
    return { tools: checked.tools, problems: [...read.problems, ...checked.problems] }
  }

  async function call(
    tool: string,
    parameters: JsonObject,
    options: ToolCallOptions = {},
  ): Promise<ToolOutcome> {
    const given = { ...parameters }
    const record = records.open(given)
    const { signal } = options
    const timeoutMs = options.timeoutMs ?? definition.callTimeoutMs
    try {
      const result = await callWithHeaders(tool, given, { ...options, timeoutMs })
      return maskedError(readOutcome(result, record.size), mask)
    } catch (error) {
      if (error instanceof ToolCallError) throw error
      const cancelled = signal?.aborted === true
      if (isSessionGone(error)) isClosed = true
      const ending = cancelled ? undefined : await opened.ending()
      const failure = callFailure(error, {
        server: definition.name,
        tool,
        timeoutMs,
        sent: record.sent,
        cancelled,
        ending,
      })
      throw new ToolCallError({ ...failure, message: mask(failure.message) }, { cause: error })
    }
  }

  /** The client itself adds such headers only where it reads the result, too. */
  async function callWithHeaders(
    tool: string,
    given: JsonObject,
    options: ToolCallOptions & { timeoutMs: number },
  ): Promise<JsonObject> {
    const attempt = (): Promise<JsonObject> => {
      const schema = schemas.get(tool) ?? options.inputSchema
      const headers =
        hasHeaders && schema !== undefined ? parameterHeaders(schema, given) : undefined
      return callInRounds(tool, given, options, headers)
    }
    try {
      return await attempt()
    } catch (error) {
      // The schema that we have is not that of the server any more (MCP, Server Validation).
      if (!hasHeaders || !isHeaderMismatch(error)) throw error
      await list(options.signal)
      return await attempt()
    }
  }

  /** Asks again for a server that wants to be asked again; nobody answers its questions here. */
  async function callInRounds(
    tool: string,
    given: JsonObject,
    { signal, onProgress, timeoutMs, inputSchema }: ToolCallOptions & { timeoutMs: number },
    headers: Record<string, string> | undefined,
  ): Promise<JsonObject> {
    const began = performance.now()
    let state: { requestState?: string } = {}
    for (let round = 1; ; round++) {
      const timeout = Math.max(1, timeoutMs - Math.round(performance.now() - began))
      const result = await request(
        'tools/call',
        { name: tool, arguments: given, ...state },
        {
          timeout,
          signal,
          onprogress:
            onProgress && ((step) => onProgress({ ...step, message: mask(step.message) })),
          headers,
        },
      )
      const asked = readInputRequired(result)
      if (asked === undefined) return result
      const isQuestion = Object.keys(asked.requests).length > 0 || asked.state === undefined
      if (isQuestion || round === maxRounds) {
        const schema = schemas.get(tool) ?? inputSchema
        const message = inputRequiredText(tool, asked, schema, mask)
        throw new ToolCallError({ kind: 'input-required', message, delivered: 'yes' })
      }
      state = { requestState: asked.state ?? '' }
      await wait(pauseMs, undefined, signal === undefined ? {} : { signal })
    }
  }

  /** Past the client's own reading of the result, which drops a whole list for one bad tool. */
  async function request(
    method: 'tools/list' | 'tools/call',
    parameters: JsonObject,
    { timeout = definition.callTimeoutMs, signal, onprogress, headers }: RequestLimits,
  ): Promise<JsonObject> {
    const limits = {
      timeout,
      ...(signal === undefined ? {} : { signal }),
      ...(onprogress === undefined ? {} : { onprogress }),
      ...(headers === undefined ? {} : { headers }),
      allowInputRequired: true,
    }
    return await client.request({ method, params: parameters }, anyObject, limits)
  }
}

interface RequestLimits {
  timeout?: number | undefined
  signal?: AbortSignal | undefined
  onprogress?: ToolCallOptions['onProgress']
  headers?: Readonly<Record<string, string>> | undefined
}

/** A schema (Standard Schema 1) that takes any object as it is. */
const anyObject: StandardSchemaV1<unknown, JsonObject> = {
  '~standard': {
    version: 1,
    vendor: 'skillrail',
    validate: (value) =>
      isObject<JsonValue>(value)
        ? { value }
        : { issues: [{ message: 'the result is not an object' }] },
  },
}

/** As a server of its own Skillrail would call itself, round and round. */
async function refuseOurselves(definition: ServerDefinition, opened: OpenedServer): Promise<void> {
  if (opened.client.getServerVersion()?.name !== 'skillrail') return
  await opened.close()
  const { name, source } = definition
  throw new ServerStartError(
    { server: name, message: `The server ${name} is Skillrail itself, which does not call itself` },
    { hint: `Take it out of ${source.path}, or keep that file from this project.` },
  )
}
