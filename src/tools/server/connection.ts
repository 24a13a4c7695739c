import type { Client, RequestOptions, StandardSchemaV1 } from '@modelcontextprotocol/client'
import type { Runtime } from '#core/runtime'
import { isObject, type JsonValue, type JsonObject } from '#core/json'
import type { ServerDefinition } from '#tools/config/model'
import { ToolCallError } from '#tools/errors'
import type { ListedTools, ListToolsOptions, ToolCallOptions, ToolOutcome } from '#tools/model'
import {
  callFailure,
  hasCode,
  httpStatus,
  isHeaderMismatch,
  type Mask,
  maskedError,
  readOutcome,
  readTools,
  serverMask,
} from './read-answers.ts'
import { startFailed } from './errors.ts'
import { openHttp } from './open-http.ts'
import { openStdio } from './open-stdio.ts'
import { checkMirroredParameters, parameterHeaders } from './parameter-headers.ts'
import { type HttpSignIn, httpSignIn } from './sign-in.ts'

export interface ConnectOptions {
  runtime: Runtime
  project: string
  signal: AbortSignal
  /** Maximum bytes of one answer; a larger answer fails its call, but the connection continues. */
  answerLimit: number
  note: (message: string) => void
  /** Default: the user's sign-in at the server's address. */
  signIn?: HttpSignIn | undefined
}

export interface OpenOptions extends ConnectOptions {
  mask: Mask
}

export interface OpenedServer {
  client: Client
  instance: string
  ending(): Promise<string | undefined>
  close(): Promise<void>
}

export async function connect(
  definition: ServerDefinition,
  options: ConnectOptions,
): Promise<Connection> {
  const { transport } = definition
  const storedSignIn =
    transport.kind === 'stdio' ? undefined : httpSignIn(transport, options.runtime)
  const { signIn = storedSignIn } = options
  const openOptions = { ...options, signIn, mask: serverMask(transport, signIn?.secrets) }
  const server =
    transport.kind === 'stdio'
      ? await openStdio(definition, transport, openOptions)
      : await openHttp(definition, transport, openOptions)
  await refuseOurselves(definition, server)
  return new Connection(definition, server, openOptions)
}

/** Limits of a listing: the pages of a faulty server may never end. */
const maxPages = 100
const maxTools = 20_000

export class Connection {
  readonly #definition: ServerDefinition
  readonly #opened: OpenedServer
  readonly #mask: Mask
  readonly #schemas = new Map<string, JsonObject>()
  readonly #hasHeaders: boolean
  /** The last list of tools; undefined: the server was not asked, or its tools changed. */
  #listed: ListedTools | undefined
  /** How often the server has said that its tools changed. */
  #changes = 0
  #isClosed = false

  constructor(definition: ServerDefinition, server: OpenedServer, { note, mask }: OpenOptions) {
    const { client } = server
    this.#definition = definition
    this.#opened = server
    this.#mask = mask
    this.#hasHeaders = definition.transport.kind === 'http' && client.getProtocolEra() === 'modern'
    client.setNotificationHandler('notifications/tools/list_changed', () => {
      this.#changes++
      this.#listed = undefined
      note('its tools have changed')
    })
  }

  /** Identifies the server's process; over HTTP its session or address. */
  get instance(): string {
    return this.#opened.instance
  }

  isClosed(): boolean {
    // The client drops a broken transport.
    return this.#isClosed || this.#opened.client.transport === undefined
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#opened.close()
  }

  async list({ signal, reuse = false }: ListToolsOptions = {}): Promise<ListedTools> {
    if (reuse && this.#listed) return this.#listed
    const changes = this.#changes
    const toolList = await this.#listAnew(signal)
    // A list of several pages may have changed while it was read.
    this.#listed = changes === this.#changes ? toolList : undefined
    return toolList
  }

  async #listAnew(signal?: AbortSignal): Promise<ListedTools> {
    // Without the capability, the client would answer by itself and print a warning.
    if (!this.#opened.client.getServerCapabilities()?.tools) return { tools: [], problems: [] }
    const rawTools: unknown[] = []
    const cursors = new Set<string>()
    let ttlMs: number | undefined
    let params: { cursor?: string } = {}
    for (let page = 0; page < maxPages && rawTools.length < maxTools; page++) {
      const { tools, nextCursor: cursor, ttlMs: ttl } = await this.#listPage(params, signal)
      if (Array.isArray(tools)) for (const tool of tools) rawTools.push(tool)
      if (typeof ttl === 'number') ttlMs = Math.min(ttl, ttlMs ?? ttl)
      if (typeof cursor !== 'string') return { ...this.#read(rawTools), ttlMs }
      if (cursors.has(cursor)) break
      cursors.add(cursor)
      params = { cursor }
    }
    const { tools, problems } = this.#read(rawTools)
    const message = `its list of tools has no end; ${tools.length} were read`
    return { tools, problems: [...problems, { code: 'tools-listed', message }] }
  }

  async #listPage(params: JsonObject, signal?: AbortSignal): Promise<JsonObject> {
    const { name: server, callTimeoutMs: timeout } = this.#definition
    try {
      return await this.#request('tools/list', params, { timeout, ...(signal && { signal }) })
    } catch (error) {
      if (hasCode(error, 'REQUEST_TIMEOUT')) {
        const message = `The server ${server} runs and did not list its tools within ${timeout / 1000} s`
        throw startFailed({ message, kind: 'timeout' }, { cause: error })
      }
      if (error instanceof Error) error.message = this.#mask(error.message)
      throw error
    }
  }

  #read(rawTools: readonly unknown[]): ListedTools {
    const toolList = readTools(this.#definition.name, rawTools)
    const checkedList = this.#hasHeaders ? checkMirroredParameters(toolList) : toolList
    for (const { name, inputSchema } of checkedList.tools) this.#schemas.set(name, inputSchema)
    return checkedList
  }

  async call(
    tool: string,
    parameters: JsonObject,
    options: ToolCallOptions = {},
  ): Promise<ToolOutcome> {
    const { name: server, callTimeoutMs } = this.#definition
    const { signal, onProgress, inputSchema, timeoutMs = callTimeoutMs } = options
    // The client passes a call to the transport at once, or not at all.
    const isSent = signal?.aborted !== true && !this.isClosed()
    const ask = async (): Promise<JsonObject> => {
      // The client adds such headers only if it also parses the result.
      const schema = this.#hasHeaders ? (this.#schemas.get(tool) ?? inputSchema) : undefined
      return await this.#request(
        'tools/call',
        { name: tool, arguments: parameters },
        {
          timeout: timeoutMs,
          ...(signal && { signal }),
          ...(schema && { headers: parameterHeaders(schema, parameters) }),
          ...(onProgress && {
            onprogress: (step) => onProgress({ ...step, message: this.#mask(step.message) }),
          }),
        },
      )
    }
    try {
      const result = await ask().catch(async (error: unknown) => {
        // Our schema is out of date (MCP, Server Validation).
        if (!this.#hasHeaders || !isHeaderMismatch(error)) throw error
        await this.list({ signal })
        return await ask()
      })
      return maskedError(readOutcome(result), this.#mask)
    } catch (error) {
      if (error instanceof ToolCallError) throw error
      const isCancelled = signal?.aborted === true
      if (httpStatus(error) === sessionGone) this.#isClosed = true
      const ending = isCancelled ? undefined : await this.#opened.ending()
      const failure = callFailure(error, { server, tool, timeoutMs, isSent, isCancelled, ending })
      const message = this.#mask(failure.message)
      throw new ToolCallError({ ...failure, message }, { cause: error })
    }
  }

  /** Sends a request without the client's result parsing, which drops a whole list for one invalid tool. */
  #request(method: 'tools/list' | 'tools/call', params: JsonObject, limits: RequestOptions) {
    return this.#opened.client.request({ method, params }, anyObject, limits)
  }
}

/** HTTP status of a restarted server, which does not have our session any more. */
const sessionGone = 404

/** Accepts any object as result. The client's schemas drop a whole list for one invalid tool. */
export const anyObject: StandardSchemaV1<unknown, JsonObject> = {
  '~standard': {
    version: 1,
    vendor: 'skillrail',
    validate: (value) =>
      isObject<JsonValue>(value)
        ? { value }
        : { issues: [{ message: 'the result is not an object' }] },
  },
}

/** Refuses Skillrail as its own server, because it would call itself endlessly. */
async function refuseOurselves(definition: ServerDefinition, opened: OpenedServer): Promise<void> {
  if (opened.client.getServerVersion()?.name !== 'skillrail') return
  await opened.close()
  const { name: server, source } = definition
  const message = `The server ${server} is Skillrail itself, which does not call itself`
  const hint = `Take it out of ${source.path}, or keep that file from this project.`
  throw startFailed({ message }, { hint })
}
