import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import type * as Sdk from '@modelcontextprotocol/server'
import type { JSONRPCRequest, Result, ServerContext } from '@modelcontextprotocol/server'
import { acquireFileLock, ownIdentity } from '#core/file-lock'
import { idleTimer, type LocalRoute, type LocalServer, openLocalServer } from '#core/local-server'
import { clientInfo, type Runtime } from '#core/runtime'
import type { Settings } from '#core/settings'
import { messageOf, SkillrailError } from '#core/errors'
import { writeFileAtomic } from '#core/write-files'
import { findWorkspace } from '#core/read-files'
import { sendResponse, webRequest } from '#core/web-requests'
import { ToolError, ToolRefusedError } from '#tools/errors'
import type { ToolProgress, ToolServer } from '#tools/model'
import { permissionOf } from '#tools/workflow/match'
import {
  controlPath,
  controlTools,
  encodeError,
  type KeptRecord,
  keptRecordPath,
  keptSchemas,
  metaKey,
} from './kept-process.ts'
import { openServers, type OpenServersOptions, type ServerPool } from './pool.ts'
import { currentConfiguration } from './project-servers.ts'
import { callResult, listedTool } from './write-answers.ts'

export type ServingSettings = Pick<Settings, 'workspaceTrust' | 'tools'>

export interface ServeProjectOptions extends Pick<OpenServersOptions, 'onLog'> {
  project: string
  runtime: Runtime
  /** Called for each request, so that a new restriction applies at once; may throw. */
  settings: () => ServingSettings
  /** The process ends after this time without a request; 0: never. */
  idleExitMs: number
  signal: AbortSignal
}

export interface KeptServers {
  record: KeptRecord
  /** Resolves when every server has ended. */
  ended: Promise<'stopped' | 'idle'>
}

/**
 * Keeps the servers of a project for other commands: MCP over HTTP on the loopback interface, for programs
 * with the token from the user's state directory. Settings, configuration and trust are read again before
 * every request: a server with a changed definition, or without permission to run, is ended first.
 *
 * @throws {SkillrailError} `servers-already-served`
 */
export async function serveProject(options: ServeProjectOptions): Promise<KeptServers> {
  const { runtime } = options
  const project = findWorkspace(options.project, runtime)
  const path = keptRecordPath(project, runtime)
  const lock = acquireFileLock(path)
  if (!lock.ok) {
    throw new SkillrailError({
      code: 'servers-already-served',
      message: `The servers of ${project} are kept already, by process ${lock.holder.pid}`,
      hint: 'skillrail tools serve --status shows them, and --stop ends them.',
    })
  }
  try {
    return await startServing({ ...options, project }, path, lock.release)
  } catch (error) {
    lock.release()
    throw error
  }
}

/** Maximum bytes: parameters may contain a whole file. */
const largestBody = 64 * 1024 * 1024

/** Calls `release` after everything has ended. If the start fails, the caller must do that. */
async function startServing(
  options: ServeProjectOptions,
  path: string,
  release: () => void,
): Promise<KeptServers> {
  const { project, runtime, idleExitMs } = options
  const sdk = await import('@modelcontextprotocol/server')
  const token = randomBytes(32).toString('hex')
  const startedAt = new Date(runtime.now()).toISOString()
  const stop = new AbortController()
  const ends = AbortSignal.any([options.signal, stop.signal])
  const idle = idleTimer(idleExitMs, () => stop.abort('idle'))
  let latest = options.settings()
  const settings = (): ServingSettings => (latest = options.settings())
  const current = currentConfiguration({ project, runtime, trust: () => latest.workspaceTrust })
  const pool = openServers(() => current().servers, options)
  const endpoints: EndpointOptions = {
    sdk,
    pool,
    settings,
    idleExitMs,
    stop: () => stop.abort('stopped'),
  }
  const handler = sdk.createMcpHandler(
    ({ requestInfo }) => endpointAt(new URL(requestInfo?.url ?? '').pathname, endpoints),
    // An event stream sends comments, so that a call may take longer than the client's time-out for headers.
    { responseMode: 'sse', onerror: (error) => options.onLog?.(messageOf(error)) },
  )
  const route: LocalRoute = {
    method: 'POST',
    async answer(body, response, request) {
      const address = new URL(request.url ?? '', 'http://127.0.0.1').href
      const webStandard = webRequest(request, response, address)
      await sendResponse(await handler.fetch(webStandard, { parsedBody: body }), response)
    },
  }
  let server: LocalServer | undefined
  const endAll = async (): Promise<void> => {
    idle.end()
    // No new requests. Current requests still get an answer, at least that the servers end.
    server?.stop()
    await pool.close()
    await handler.close()
    server?.destroy()
  }
  const untilEnd = async (): Promise<'stopped' | 'idle'> => {
    if (!ends.aborted) await once(ends, 'abort')
    try {
      rmSync(path, { force: true })
    } catch {
      // The record names a process that has ended, so that nothing uses it.
    }
    await endAll()
    release()
    return stop.signal.reason === 'idle' ? 'idle' : 'stopped'
  }
  try {
    const routes = (path: string): LocalRoute | undefined =>
      path === controlPath || path.startsWith(`${controlPath}/`) ? route : undefined
    server = await openLocalServer({ token, routes, largestBody, onRequest: idle.busy })
    const identity = { project, process: ownIdentity(), startedAt }
    const record: KeptRecord = { version: 2, ...identity, port: server.port, token }
    await writeFileAtomic(path, `${JSON.stringify(record)}\n`, { mode: 0o600 })
    return { record, ended: untilEnd() }
  } catch (error) {
    await endAll()
    throw error
  }
}

interface EndpointOptions extends Pick<ServeProjectOptions, 'settings' | 'idleExitMs'> {
  sdk: typeof Sdk
  pool: Pick<ServerPool, 'get' | 'states'>
  stop(): void
}

type Answer = (params: JSONRPCRequest['params'], context: ServerContext) => Promise<Result>

function endpointAt(path: string, options: EndpointOptions): Sdk.Server {
  if (path === controlPath) return endpoint(options, controlMethods(options))
  const name = decodeURIComponent(path.slice(controlPath.length + 1))
  return endpoint(options, serverMethods(name, options))
}

/** Passes results of other servers through unchanged, without the SDK's schemas. */
function endpoint({ sdk }: EndpointOptions, methods: Readonly<Record<string, Answer>>): Sdk.Server {
  const server = new sdk.Server(clientInfo(), { capabilities: { tools: {} } })
  server.fallbackRequestHandler = async ({ method, params }, context) => {
    const answer = methods[method]
    if (!answer)
      throw new sdk.ProtocolError(sdk.ProtocolErrorCode.MethodNotFound, 'Method not found')
    try {
      return await answer(params, context)
    } catch (error) {
      throw new sdk.ProtocolError(failureCode, messageOf(error), encodeError(error))
    }
  }
  return server
}

/** A code in JSON-RPC's range for servers; the error's data has the details. */
const failureCode = -32_000

/** The tools of the process itself: list servers, start one, end all. */
function controlMethods(options: EndpointOptions): Readonly<Record<string, Answer>> {
  const { pool, settings, idleExitMs, stop } = options
  const schemas = keptSchemas()
  return {
    'tools/list': async () => ({ tools: controlDefinitions }),
    'tools/call': async (params, { mcpReq: { signal } }) => {
      const call = requestOf(schemas.call, params)
      switch (call.name) {
        case controlTools.status:
          return structuredResult({ idleExitMs, servers: pool.states() })
        case controlTools.start: {
          settings()
          const { server } = requestOf(schemas.server, call.arguments)
          return structuredResult({ instance: (await pool.get(server, { signal })).instance() })
        }
        case controlTools.stop:
          setImmediate(stop)
          return structuredResult({})
        default:
          throw new ToolError({ code: 'tool-not-found', message: `There is no tool ${call.name}` })
      }
    },
  }
}

const controlDefinitions = [
  { name: controlTools.status, description: 'Lists the servers and their states' },
  { name: controlTools.start, description: 'Starts a server if it is not running' },
  { name: controlTools.stop, description: 'Ends all servers and this process' },
].map((tool) => {
  const hasServer = tool.name === controlTools.start
  const properties = hasServer ? { server: { type: 'string' } } : {}
  return { ...tool, inputSchema: { type: 'object', properties, required: Object.keys(properties) } }
})

function structuredResult(value: object): Result {
  return { content: [{ type: 'text', text: JSON.stringify(value) }], structuredContent: value }
}

/** The tools of one server, which starts at the first request. */
function serverMethods(name: string, options: EndpointOptions): Readonly<Record<string, Answer>> {
  const { sdk, pool, settings } = options
  const schemas = keptSchemas()
  return {
    async 'tools/list'(_params, { mcpReq: { signal } }) {
      settings()
      const server = await pool.get(name, { signal })
      const { tools, problems, ttlMs } = await server.list({ signal })
      const meta = { instance: server.instance(), problems, ttlMs }
      const ttl = ttlMs !== undefined && { ttlMs }
      const toolEntries = tools.map((tool) => listedTool(tool, metaKey, sdk.isSpecType.Tool))
      return { tools: toolEntries, ...ttl, _meta: { [metaKey]: meta } }
    },
    async 'tools/call'(params, { mcpReq }) {
      const call = requestOf(schemas.call, params)
      const { _meta: meta } = params ?? {}
      const limits = requestOf(schemas.limits, meta?.[metaKey] ?? {})
      requireAllowed(`${name}__${call.name}`, settings())
      const { signal } = mcpReq
      const server: ToolServer = await pool.get(name, { signal })
      const onProgress = progressOf(mcpReq)
      const callOptions = { ...limits, signal, onProgress }
      const outcome = await server.call(call.name, call.arguments, callOptions)
      const { size, problems } = outcome
      const facts = { instance: server.instance(), size, problems }
      return { ...callResult(outcome), _meta: { [metaKey]: facts } }
    },
  }
}

function requireAllowed(id: string, { tools: permissions }: ServingSettings): void {
  if (permissionOf(id, permissions) !== 'deny') return
  const message = `the setting tools.deny forbids ${id}`
  throw new ToolRefusedError({ code: 'tool-not-allowed', message })
}

function progressOf({
  _meta: meta,
  notify,
}: ServerContext['mcpReq']): ((step: ToolProgress) => void) | undefined {
  const progressToken = meta?.progressToken
  if (progressToken === undefined) return undefined
  return ({ message, ...step }) => {
    const params = { progressToken, ...step, ...(message !== undefined && { message }) }
    // A disconnected caller gets no progress; its call is cancelled at the same time.
    notify({ method: 'notifications/progress', params }).catch(() => undefined)
  }
}

interface ParsedWith<T> {
  safeParse(value: unknown):
    | { success: true; data: T }
    | {
        success: false
        error: { issues: readonly { path: readonly PropertyKey[]; message: string }[] }
      }
}

function requestOf<T>(schema: ParsedWith<T>, value: unknown): T {
  const reading = schema.safeParse(value)
  if (reading.success) return reading.data
  const [issue] = reading.error.issues
  const message = `The request is invalid at ${issue?.path.join('.')}: ${issue?.message}`
  throw new ToolError({ code: 'request-invalid', message })
}
