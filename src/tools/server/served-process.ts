import type { IncomingMessage } from 'node:http'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type * as Zod from 'zod'
import { isAlive } from '#core/file-lock'
import { exitCode, type ExitCode, messageOf, SkillrailError, systemCode } from '#core/errors'
import { findWorkspace, readRegularFile } from '#core/read-files'
import { type Runtime, userDirectories } from '#core/runtime'
import { hexDigest, isObject, parseJson, type JsonValue } from '#core/json'
import { splitLines } from './open-stdio.ts'
import type { ServerDefinition } from '#tools/config/model'
import { ToolCallError, ToolError } from '#tools/errors'
import type { CallFailure, ListedTools, ToolOutcome, ToolProgress } from '#tools/model'
import { startCancelled, startFailed } from './errors.ts'
import type { ServerConnection, ServerState } from './pool.ts'

export function servedRecordPath(project: string, runtime: Pick<Runtime, 'env' | 'home'>): string {
  return join(userDirectories(runtime).state, 'servers', `${hexDigest(project, 24)}.json`)
}

export function readServedRecord(
  project: string,
  runtime: Pick<Runtime, 'env' | 'home'>,
): ServedRecord | undefined {
  const file = readRegularFile(servedRecordPath(project, runtime), { maxBytes: 65_536, own: true })
  if (!file.ok) return undefined
  const { data: record } = servedSchemas().record.safeParse(parseJson(file.text))
  // Whoever has the port of a dead process must not be told the parameters of our calls.
  return record?.project === project && isAlive(record.process) ? record : undefined
}

export type ServedStatus = NonNullable<Awaited<ReturnType<typeof servedStatus>>>

interface Place {
  project: string
  runtime: Runtime
}

function servedAt({ project, runtime }: Place): ServedRecord | undefined {
  return readServedRecord(findWorkspace(project, runtime), runtime)
}

export async function servedStatus(place: Place) {
  const record = servedAt(place)
  if (!record) return undefined
  try {
    const answer = await askServed(record, '/status', {}, { signal: AbortSignal.timeout(5000) })
    const { project, startedAt, process } = record
    return { project, pid: process.pid, startedAt, ...servedSchemas().status.parse(answer) }
  } catch (error) {
    if (error instanceof ServedConnectionError) return undefined
    throw error
  }
}

export type StopResult = 'stopped' | 'not-running' | 'still-running'

export async function stopServed(place: Place): Promise<StopResult> {
  const record = servedAt(place)
  if (!record) return 'not-running'
  try {
    await askServed(record, '/stop', {}, { signal: AbortSignal.timeout(2000) })
  } catch {
    // It does not answer: TERM ends it in the same way.
    if (isAlive(record.process)) process.kill(record.process.pid, 'SIGTERM')
  }
  for (let waited = 0; waited < 10_000; waited += 25) {
    if (!isAlive(record.process)) return 'stopped'
    await sleep(25)
  }
  return 'still-running'
}

/** The connection to the process that keeps the servers of a project broke, or never came about. */
class ServedConnectionError extends Error {
  /** Whether the request can have been read. */
  readonly sent: boolean

  constructor(error: unknown) {
    super(messageOf(error), { cause: error })
    this.sent = systemCode(error) !== 'ECONNREFUSED'
  }
}

interface ServedRequestOptions {
  signal?: AbortSignal | undefined
  onProgress?: ((progress: unknown) => void) | undefined
}

async function askServed(
  { port, token }: ServedRecord,
  path: string,
  body: object,
  { signal, onProgress }: ServedRequestOptions,
): Promise<unknown> {
  // Most commands talk to nobody, and this takes them milliseconds to load.
  const http = await import('node:http')
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const address = { host: '127.0.0.1', port, path, method: 'POST', headers }
  const request = http.request({ ...address, ...(signal && { signal }) })
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    request.on('response', resolve)
    request.on('error', reject)
  })
  request.end(JSON.stringify(body))
  const line = await answered
    .then((response) => readAnswer(response, onProgress))
    .catch((error: unknown) => {
      throw new ServedConnectionError(error)
    })
  if ('error' in line) throw decodeError(line['error'])
  return line['done']
}

async function readAnswer(
  response: IncomingMessage,
  onProgress: ServedRequestOptions['onProgress'],
): Promise<Readonly<Record<string, unknown>>> {
  if (response.statusCode !== 200) {
    response.resume()
    throw new Error(`it answered with HTTP ${response.statusCode}`)
  }
  let last: Readonly<Record<string, unknown>> | undefined
  const read = splitLines(Infinity, (text) => {
    const value: unknown = JSON.parse(text)
    if (!isObject(value)) return
    if ('progress' in value) onProgress?.(value['progress'])
    else last = value
  })
  for await (const chunk of response) read(Buffer.from(chunk))
  if (!last) throw new Error('it broke off its answer')
  return last
}

/**
 * Reaches a server through the process that keeps it. The connection counts as closed once that is
 * another process, or none.
 *
 * @throws {ToolCallError}
 */
export async function connectKept(
  definition: ServerDefinition,
  record: ServedRecord,
  { project, runtime }: Place,
  signal: AbortSignal,
): Promise<ServerConnection> {
  const { name: server } = definition
  const schemas = servedSchemas()
  let isClosed = false
  const asked = async (path: string, startSignal: AbortSignal | undefined): Promise<unknown> => {
    try {
      return await askServed(record, path, { server }, { signal: startSignal })
    } catch (error) {
      if (!(error instanceof ServedConnectionError)) throw error
      if (startSignal?.aborted === true) throw startCancelled(server)
      const message = `The process that keeps the server ${server} cannot be reached: ${error.message}`
      const hint =
        'skillrail tools serve --stop ends it; the next command then starts the server itself.'
      throw startFailed({ message }, { hint, cause: error })
    }
  }
  let instance = ''
  const renew = async (startSignal: AbortSignal | undefined): Promise<void> => {
    instance = schemas.started.parse(await asked('/start', startSignal)).instance
  }
  await renew(signal)
  return {
    renew,
    get instance() {
      return instance
    },
    isClosed: () => isClosed || readServedRecord(project, runtime)?.token !== record.token,
    async list(listSignal) {
      const listed = schemas.listed.parse(await asked('/list', listSignal))
      instance = listed.instance
      return listed
    },
    async call(tool, parameters, { onProgress, signal: callSignal, ...limits } = {}) {
      const progress = onProgress !== undefined
      try {
        const answer = await askServed(
          record,
          '/call',
          { server, tool, parameters, progress, ...limits },
          {
            signal: callSignal,
            onProgress: (step) => onProgress?.(schemas.progress.parse(step)),
          },
        )
        const called = schemas.called.parse(answer)
        instance = called.instance
        return called.outcome
      } catch (error) {
        if (!(error instanceof ServedConnectionError)) throw error
        const isCancelled = callSignal?.aborted === true
        const kind = isCancelled ? 'cancelled' : 'connection-lost'
        const message = isCancelled
          ? `The call of ${tool} was cancelled`
          : `The process that keeps the server ${server} was lost during the call of ${tool}: ${error.message}`
        const delivered = error.sent ? 'unknown' : 'no'
        throw new ToolCallError({ kind, message, delivered }, { cause: error })
      }
    },
    async close() {
      isClosed = true
    },
  }
}

export type ServedLine = { progress: unknown } | { done: unknown } | { error: ServedError }

type Schemas = ReturnType<typeof schemasOf>
type ServedError = Zod.infer<Schemas['error']>
export type ServedRequest = Zod.infer<Schemas['request']>
/** How the servers that are kept for a project are reached; in a file that only the user can read. */
export type ServedRecord = Zod.infer<Schemas['record']>

/** Loaded only by commands that find a process which keeps servers, and by that process. */
export function servedSchemas(): Schemas {
  const z: typeof Zod = createRequire(import.meta.url)('zod')
  return (schemas ??= schemasOf(z))
}

let schemas: Schemas | undefined

/** What was checked when it was read from a server is not checked again on its way between our processes. */
function schemasOf(z: typeof Zod) {
  const text = z.string()
  const maybe = text.optional()
  const object = z.record(text, z.custom<JsonValue>())
  return {
    record: z.object({
      version: z.literal(1),
      project: text,
      process: z.object({ pid: z.number(), host: text, startedAt: maybe }),
      /** On 127.0.0.1. */
      port: z.number(),
      token: text,
      startedAt: text,
    }),
    request: z.object({
      server: text,
      tool: text.default(''),
      parameters: object.default({}),
      timeoutMs: z.number().optional(),
      inputSchema: object.optional(),
      progress: z.boolean().default(false),
    }),
    error: z.object({
      code: text,
      message: text,
      hint: maybe,
      exitCode: z.custom<ExitCode>((value) => typeof value === 'number'),
      failure: z.custom<CallFailure>(isObject).optional(),
    }),
    started: z.object({ instance: text }),
    listed: z.custom<ListedTools & { instance: string }>(isObject),
    called: z.custom<{ instance: string; outcome: ToolOutcome }>(isObject),
    progress: z.custom<ToolProgress>(isObject),
    /** `idleExitMs` 0: it does not end by itself. */
    status: z.custom<{ idleExitMs: number; servers: readonly ServerState[] }>(isObject),
  }
}

export function encodeError(error: unknown): ServedError {
  if (!(error instanceof SkillrailError))
    return { code: 'internal', message: messageOf(error), exitCode: exitCode.failed }
  const { code, message, hint, exitCode: status } = error
  const failure = error instanceof ToolCallError ? error.failure : undefined
  return { code, message, hint, exitCode: status, failure }
}

export function decodeError(value: unknown): SkillrailError {
  const { failure, ...facts } = servedSchemas().error.parse(value)
  return failure ? new ToolCallError(failure, facts) : new ToolError(facts)
}
