import type { JsonValue } from '../../skill/index.ts'
import type { ServerResponse } from 'node:http'
import { isObject, type LocalRoute } from '../../base/index.ts'
import { ToolError } from '../errors.ts'
import type { JsonObject } from '../model.ts'
import type { KeptServers } from './pool.ts'
import { encodeError, encodeOutcome, type ServedLine } from './served-protocol.ts'

export interface ServedParts {
  pool: KeptServers
  status(): object
  stop(): void
  /** Called before every request that reaches a server. */
  refresh(): Promise<void>
}

/** Bytes: parameters may hold a whole file. */
export const largestRequest: number = 64 * 1024 * 1024

/** What a request is answered with, besides the progress that is written on the way. */
type Answer = (
  body: JsonObject,
  options: { signal: AbortSignal; write: (line: ServedLine) => void },
) => Promise<unknown>

/** What a local server answers for those who want to use the servers of a project. */
export function servedRoutes(parts: ServedParts): Readonly<Record<string, LocalRoute>> {
  const { pool } = parts
  return {
    '/status': route(async () => parts.status()),
    '/stop': route(async () => {
      setImmediate(() => parts.stop())
      return {}
    }),
    '/list': route(async (body, { signal }) => {
      await parts.refresh()
      return await pool.listOne(text(body, 'server'), signal)
    }),
    '/start': route(async (body, { signal }) => {
      await parts.refresh()
      const server = await pool.get(text(body, 'server'), { signal })
      return { instance: server.instance() }
    }),
    '/call': route(async (body, { signal, write }) => {
      await parts.refresh()
      const server = await pool.get(text(body, 'server'), { signal })
      const { parameters, timeoutMs, progress, inputSchema } = body
      const outcome = await server.call(
        text(body, 'tool'),
        isObject<JsonValue>(parameters) ? parameters : {},
        {
          signal,
          timeoutMs: typeof timeoutMs === 'number' ? timeoutMs : undefined,
          inputSchema: isObject<JsonValue>(inputSchema) ? inputSchema : undefined,
          onProgress: progress === true ? (step) => write({ progress: step }) : undefined,
        },
      )
      return { outcome: encodeOutcome(outcome), instance: server.instance() }
    }),
  }
}

function route(perform: Answer): LocalRoute {
  return {
    method: 'POST',
    answer: (body, response) => answer(perform, isObject<JsonValue>(body) ? body : {}, response),
  }
}

async function answer(perform: Answer, body: JsonObject, response: ServerResponse): Promise<void> {
  const given = new AbortController()
  response.on('close', () => given.abort())
  const write = (line: ServedLine): void => {
    if (!response.writableEnded && !response.destroyed) response.write(`${JSON.stringify(line)}\n`)
  }
  response.writeHead(200, { 'content-type': 'application/x-ndjson' })
  try {
    write({ done: await perform(body, { signal: given.signal, write }) })
  } catch (error) {
    write({ error: encodeError(error) })
  }
  response.end()
}

function text(body: JsonObject, key: string): string {
  const value = body[key]
  if (typeof value === 'string') return value
  throw new ToolError({ code: 'request-invalid', message: `The request has no ${key}` })
}
