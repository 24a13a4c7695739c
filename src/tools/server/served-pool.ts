import type { ServerDefinition } from '../config/model.ts'
import { ToolCallError } from '../errors.ts'
import { ServerStartError, startCancelled } from './errors.ts'
import { definitionOf, listAll, type ListingServer, refuse, type ServerPool } from './pool.ts'
import { type ServedClient, ServedConnectionError } from './served-process.ts'
import { servedSchemas } from './served-protocol.ts'

/** The servers that another process keeps for the project, seen as a pool. Closing it ends none. */
export function servedPool(
  client: ServedClient,
  definitions: readonly ServerDefinition[],
): ServerPool {
  const serverOf = (name: string): ListingServer =>
    servedServer(client, definitionOf(definitions, name))
  return {
    definitions,
    async get(name, { signal } = {}) {
      const server = serverOf(name)
      await server.start(signal)
      return server
    },
    list: ({ signal, patienceMs } = {}) => listAll(definitions, serverOf, signal, patienceMs),
    close: async () => client.close(),
  }
}

function servedServer(client: ServedClient, definition: ServerDefinition): ListingServer {
  const { name } = definition
  let instance = ''
  const server: ListingServer = {
    name,
    instance: () => instance,
    async start(signal) {
      const answer = await asked(client, '/start', definition, signal)
      instance = servedSchemas().started.parse(answer).instance
    },
    list: async (options) => (await server.listWithProblems(options)).tools,
    async listWithProblems({ signal } = {}) {
      const answer = await asked(client, '/list', definition, signal)
      const listed = servedSchemas().listed.parse(answer)
      instance = listed.instance
      return listed
    },
    async call(tool, parameters, { signal, timeoutMs, onProgress, inputSchema } = {}) {
      const progress = onProgress !== undefined
      const body = { server: name, tool, parameters, timeoutMs, progress, inputSchema }
      const schemas = servedSchemas()
      try {
        const answer = await client.ask('/call', body, {
          signal,
          onProgress: (step) => onProgress?.(schemas.progress.parse(step)),
        })
        const called = schemas.called.parse(answer)
        instance = called.instance
        return called.outcome
      } catch (error) {
        if (!(error instanceof ServedConnectionError)) throw error
        const delivered = error.sent ? 'unknown' : 'no'
        const failure = signal?.aborted
          ? ({ kind: 'cancelled', message: `The call of ${tool} was cancelled` } as const)
          : ({
              kind: 'connection-lost',
              message: `The process that keeps the server ${name} was lost during the call of ${tool}: ${error.message}`,
            } as const)
        throw new ToolCallError({ ...failure, delivered }, { cause: error })
      }
    },
  }
  return server
}

/** Every caller must be allowed to by what they see themselves. */
async function asked(
  client: ServedClient,
  path: string,
  definition: ServerDefinition,
  signal: AbortSignal | undefined,
): Promise<unknown> {
  refuse(definition, false)
  const { name: server } = definition
  try {
    return await client.ask(path, { server }, { signal })
  } catch (error) {
    if (!(error instanceof ServedConnectionError)) throw error
    if (signal?.aborted === true) throw startCancelled(server)
    const message = `The process that keeps the server ${server} cannot be reached: ${error.message}`
    const hint =
      'skillrail tools serve --stop ends it; the next command then starts the server itself.'
    throw new ServerStartError({ server, message }, { hint, cause: error })
  }
}
