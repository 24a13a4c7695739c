import { isObject } from '../../core/json.ts'
import type { ServerDefinition } from '../config/model.ts'
import { ToolCallError } from '../errors.ts'
import type { ToolProgress, ToolServer } from '../model.ts'
import type { ListedServer } from './connection.ts'
import { ServerNotFoundError, ServerStartError } from './errors.ts'
import { listAll, refuse, type ServerPool } from './pool.ts'
import { readTools } from './read-answers.ts'
import { type ServedClient, ServedConnectionError } from './served-process.ts'
import { decodeOutcome } from './served-protocol.ts'

/** The servers that another process keeps for the project, seen as a pool. Closing it ends none. */
export function servedPool(
  client: ServedClient,
  definitions: readonly ServerDefinition[],
): ServerPool {
  return {
    definitions,
    async get(name, { signal } = {}) {
      const definition = definitions.find((candidate) => candidate.name === name)
      if (definition === undefined)
        throw new ServerNotFoundError(
          name,
          definitions.map((one) => one.name),
        )
      // Every caller must be allowed to by what they see themselves.
      refuse(definition, false)
      const server = servedServer(client, definition)
      await server.start(signal)
      return server
    },
    list: ({ signal, patienceMs } = {}) =>
      listAll(
        definitions,
        (name) => {
          const definition = definitions.find((candidate) => candidate.name === name)
          if (definition === undefined) throw new ServerNotFoundError(name, [])
          return servedServer(client, definition)
        },
        signal,
        patienceMs,
      ),
    close() {
      client.close()
      return Promise.resolve()
    },
  }
}

interface ServedServer extends ToolServer {
  start(signal: AbortSignal | undefined): Promise<void>
  listWithProblems(options?: { signal?: AbortSignal | undefined }): Promise<ListedServer>
}

function servedServer(client: ServedClient, definition: ServerDefinition): ServedServer {
  const { name } = definition
  let instance = ''
  const server: ServedServer = {
    name,
    instance: () => instance,
    async start(signal) {
      note(await asked('/start', { server: name }, signal))
    },
    async list(options) {
      return (await server.listWithProblems(options)).tools
    },
    async listWithProblems({ signal } = {}) {
      refuse(definition, false)
      const answer = note(await asked('/list', { server: name }, signal))
      const tools = isObject(answer) && Array.isArray(answer['tools']) ? answer['tools'] : []
      const problems =
        isObject(answer) && Array.isArray(answer['problems']) ? answer['problems'] : []
      const ttlMs = isObject(answer) ? answer['ttlMs'] : undefined
      return {
        tools: readTools(name, tools).tools,
        problems: problems.map(String),
        ttlMs: typeof ttlMs === 'number' ? ttlMs : undefined,
      }
    },
    async call(tool, parameters, { signal, timeoutMs, onProgress, inputSchema } = {}) {
      const progress = onProgress !== undefined
      const body = { server: name, tool, parameters, timeoutMs, progress, inputSchema }
      try {
        const answer = await client.ask('/call', body, {
          signal,
          onProgress: (progress) => isProgress(progress) && onProgress?.(progress),
        })
        note(answer)
        return decodeOutcome(isObject(answer) ? answer['outcome'] : undefined)
      } catch (error) {
        if (!(error instanceof ServedConnectionError)) throw error
        const cancelled = signal?.aborted === true
        throw new ToolCallError(
          {
            kind: cancelled ? 'cancelled' : 'connection-lost',
            message: cancelled
              ? `The call of ${tool} was cancelled`
              : `The process that keeps the server ${name} was lost during the call of ${tool}: ${error.message}`,
            delivered: error.sent ? 'unknown' : 'no',
          },
          { cause: error },
        )
      }
    },
  }
  return server

  function note(answer: unknown): unknown {
    const known = isObject(answer) ? answer['instance'] : undefined
    if (typeof known === 'string') instance = known
    return answer
  }

  async function asked(
    path: string,
    body: object,
    signal: AbortSignal | undefined,
  ): Promise<unknown> {
    try {
      return await client.ask(path, body, { signal })
    } catch (error) {
      if (!(error instanceof ServedConnectionError)) throw error
      const message = signal?.aborted
        ? `The start of the server ${name} was cancelled`
        : `The process that keeps the server ${name} cannot be reached: ${error.message}`
      throw new ServerStartError(
        { server: name, message, kind: signal?.aborted ? 'cancelled' : undefined },
        {
          hint: 'skillrail tools serve --stop ends it; the next command then starts the server itself.',
          cause: error,
        },
      )
    }
  }
}

function isProgress(value: unknown): value is ToolProgress {
  return isObject(value) && typeof value['progress'] === 'number'
}
