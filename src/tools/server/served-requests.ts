import { timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { isObject } from '../config/fields.ts'
import { ToolError } from '../errors.ts'
import type { JsonObject } from '../model.ts'
import type { KeptServers } from './pool.ts'
import { encodeError, encodeOutcome, type ServedLine } from './served-protocol.ts'

export interface ServedParts {
  token: string
  pool: KeptServers
  status(): object
  stop(): void
  /** Called before every request that reaches a server. */
  refresh(): Promise<void>
  /** Marks a request as going on until the returned function is called. */
  busy(): () => void
}

const maxBodyBytes = 64 * 1024 * 1024

/** Answers those who have the token, and no page of a browser: its host and its type are wrong. */
export function answerRequests(parts: ServedParts): RequestListener {
  return (request, response) => {
    const refusal = refusalOf(request, parts.token)
    if (refusal !== undefined) {
      response.writeHead(refusal).end()
      return
    }
    const done = parts.busy()
    void answer(parts, request, response).finally(done)
  }
}

function refusalOf(request: IncomingMessage, token: string): number | undefined {
  const { host, origin, authorization = '' } = request.headers
  if (host !== `127.0.0.1:${request.socket.localPort}` || origin !== undefined) return 403
  if (!isSame(authorization, `Bearer ${token}`)) return 401
  if (request.method !== 'POST') return 405
  return request.headers['content-type'] === 'application/json' ? undefined : 415
}

function isSame(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)]
  return a.length === b.length && timingSafeEqual(a, b)
}

async function answer(
  parts: ServedParts,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const given = new AbortController()
  response.on('close', () => given.abort())
  const write = (line: ServedLine): void => {
    if (!response.writableEnded && !response.destroyed) response.write(`${JSON.stringify(line)}\n`)
  }
  try {
    const body = await readBody(request)
    response.writeHead(200, { 'content-type': 'application/x-ndjson' })
    write({ done: await perform(parts, request.url ?? '', body, { signal: given.signal, write }) })
  } catch (error) {
    if (!response.headersSent) response.writeHead(200, { 'content-type': 'application/x-ndjson' })
    write({ error: encodeError(error) })
  }
  response.end()
}

async function perform(
  parts: ServedParts,
  path: string,
  body: JsonObject,
  { signal, write }: { signal: AbortSignal; write: (line: ServedLine) => void },
): Promise<unknown> {
  if (path === '/status') return parts.status()
  if (path === '/stop') {
    setImmediate(() => parts.stop())
    return {}
  }
  await parts.refresh()
  const name = text(body, 'server')
  if (path === '/list') return await parts.pool.listOne(name, signal)
  const server = await parts.pool.get(name, { signal })
  if (path === '/start') return { instance: server.instance() }
  if (path !== '/call')
    throw new ToolError({ code: 'unknown-request', message: `There is no request ${path}` })
  const { parameters, timeoutMs, progress, inputSchema } = body
  const outcome = await server.call(text(body, 'tool'), isObject(parameters) ? parameters : {}, {
    signal,
    timeoutMs: typeof timeoutMs === 'number' ? timeoutMs : undefined,
    inputSchema: isObject(inputSchema) ? inputSchema : undefined,
    onProgress: progress === true ? (step) => write({ progress: step }) : undefined,
  })
  return { outcome: encodeOutcome(outcome), instance: server.instance() }
}

async function readBody(request: IncomingMessage): Promise<JsonObject> {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const chunk of request) {
    const part = Buffer.from(chunk)
    bytes += part.length
    if (bytes > maxBodyBytes)
      throw new ToolError({
        code: 'request-too-large',
        message: `A request may have ${maxBodyBytes} bytes`,
      })
    parts.push(part)
  }
  const value: unknown = JSON.parse(Buffer.concat(parts).toString('utf8') || '{}')
  return isObject(value) ? value : {}
}

function text(body: JsonObject, key: string): string {
  const value = body[key]
  if (typeof value === 'string') return value
  throw new ToolError({ code: 'request-invalid', message: `The request has no ${key}` })
}
