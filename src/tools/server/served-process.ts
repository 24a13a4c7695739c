import type { Agent, IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { isAlive, type ProcessIdentity } from '../../core/file-lock.ts'
import { isObject, sha256 } from '../../core/json.ts'
import { messageOf, systemCode } from '../../core/errors.ts'
import { readRegularFile } from '../../core/read-files.ts'
import { type Runtime, userDirectories } from '../../core/runtime.ts'
import { findWorkspace } from '../../trust/decide.ts'
import type { ServerState } from './pool.ts'
import { decodeError, type ServedError } from './served-protocol.ts'

/** How the servers that are kept for a project are reached; in a file that only the user can read. */
export interface ServedRecord {
  version: 1
  project: string
  process: ProcessIdentity
  /** On 127.0.0.1. */
  port: number
  token: string
  startedAt: string
}

export function servedRecordPath(project: string, runtime: Pick<Runtime, 'env' | 'home'>): string {
  const key = sha256(project).slice('sha256:'.length, 'sha256:'.length + 24)
  return join(userDirectories(runtime).state, 'servers', `${key}.json`)
}

/** The record of a process that still runs. One left by a dead process is as good as none. */
export function readServedRecord(
  project: string,
  runtime: Pick<Runtime, 'env' | 'home'>,
): ServedRecord | undefined {
  const file = readRegularFile(servedRecordPath(project, runtime), { maxBytes: 65_536 })
  const record = file.ok ? parse(file.text) : undefined
  // Whoever has the port of a dead process must not be told the parameters of our calls.
  return record?.project === project && isAlive(record.process) ? record : undefined
}

function parse(text: string): ServedRecord | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (!isObject(value) || value['version'] !== 1 || !isObject(value['process'])) return undefined
  const { project, port, token, startedAt } = value
  const { pid, host, startedAt: ticks } = value['process']
  if (typeof project !== 'string' || typeof port !== 'number' || typeof token !== 'string')
    return undefined
  if (typeof startedAt !== 'string' || typeof pid !== 'number' || typeof host !== 'string')
    return undefined
  const identity = { pid, host, startedAt: typeof ticks === 'string' ? ticks : undefined }
  return { version: 1, project, port, token, startedAt, process: identity }
}

export interface ServedStatus {
  project: string
  pid: number
  startedAt: string
  /** 0: it does not end by itself. */
  idleExitMs: number
  servers: readonly ServerState[]
}

interface Place {
  project: string
  runtime: Runtime
}

/** Undefined where nothing is kept, or where the process does not answer. */
export async function servedStatus(place: Place): Promise<ServedStatus | undefined> {
  const record = readServedRecord(findWorkspace(place.project, place.runtime), place.runtime)
  if (record === undefined) return undefined
  const client = servedClient(record)
  try {
    const answer = await client.ask('/status', {}, { signal: AbortSignal.timeout(5000) })
    const { project, startedAt } = record
    const idleExitMs = isObject(answer) ? Number(answer['idleExitMs']) : 0
    const servers = isObject(answer) && Array.isArray(answer['servers']) ? answer['servers'] : []
    return {
      project,
      pid: record.process.pid,
      startedAt,
      idleExitMs,
      servers: servers.filter(isState),
    }
  } catch (error) {
    if (error instanceof ServedConnectionError) return undefined
    throw error
  } finally {
    client.close()
  }
}

export type StopResult = 'stopped' | 'not-running' | 'still-running'

/** Ends the process and its servers; waits until it is gone, for 10 s. */
export async function stopServed(place: Place): Promise<StopResult> {
  const record = readServedRecord(findWorkspace(place.project, place.runtime), place.runtime)
  if (record === undefined) return 'not-running'
  const client = servedClient(record)
  try {
    await client.ask('/stop', {}, { signal: AbortSignal.timeout(2000) })
  } catch {
    // It does not answer: TERM ends it in the same way.
    if (isAlive(record.process)) process.kill(record.process.pid, 'SIGTERM')
  } finally {
    client.close()
  }
  for (let waited = 0; waited < 10_000; waited += 25) {
    if (!isAlive(record.process)) return 'stopped'
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
  return 'still-running'
}

function isState(value: unknown): value is ServerState {
  return isObject(value) && typeof value['name'] === 'string' && typeof value['state'] === 'string'
}

/** The connection to the process that keeps the servers of a project broke, or never came about. */
export class ServedConnectionError extends Error {
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

export interface ServedClient {
  /** Rejects with what the other side threw, or a {@link ServedConnectionError}. */
  ask(path: string, body: object, options?: ServedRequestOptions): Promise<unknown>
  close(): void
}

export function servedClient({ port, token }: Pick<ServedRecord, 'port' | 'token'>): ServedClient {
  let agent: Agent | undefined
  return {
    async ask(path, body, options = {}) {
      // Most commands talk to nobody, and this takes them milliseconds to load.
      const http = await import('node:http')
      agent ??= new http.Agent({ keepAlive: true })
      return await new Promise((resolve, reject) => {
        const fail = (error: unknown): void => reject(new ServedConnectionError(error))
        const request = http.request(
          {
            host: '127.0.0.1',
            port,
            path,
            method: 'POST',
            agent,
            headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
            ...(options.signal === undefined ? {} : { signal: options.signal }),
          },
          (response) => {
            readAnswer(response, options.onProgress).then(resolve, (error: unknown) =>
              reject(
                error instanceof AnsweredError
                  ? decodeError(error.answer)
                  : new ServedConnectionError(error),
              ),
            )
          },
        )
        request.on('error', fail)
        request.end(JSON.stringify(body))
      })
    },
    close: () => agent?.destroy(),
  }
}

class AnsweredError extends Error {
  readonly answer: ServedError

  constructor(answer: ServedError) {
    super(answer.message)
    this.answer = answer
  }
}

async function readAnswer(
  response: IncomingMessage,
  onProgress: ((progress: unknown) => void) | undefined,
): Promise<unknown> {
  if (response.statusCode !== 200) {
    response.resume()
    throw new Error(`it answered with HTTP ${response.statusCode}`)
  }
  const parts: Buffer[] = []
  let answer: { done: unknown } | undefined
  const read = (line: string): void => {
    const value: unknown = JSON.parse(line)
    if (!isObject(value)) return
    if ('progress' in value) onProgress?.(value['progress'])
    else if ('done' in value) answer = { done: value['done'] }
    else throw new AnsweredError(errorOf(value['error']))
  }
  for await (const chunk of response) {
    let rest = Buffer.from(chunk)
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      read(Buffer.concat([...parts, rest.subarray(0, end)]).toString('utf8'))
      parts.length = 0
      rest = rest.subarray(end + 1)
    }
    if (rest.length > 0) parts.push(rest)
  }
  if (answer === undefined) throw new Error('it broke off its answer')
  return answer.done
}

function errorOf(value: unknown): ServedError {
  return isServedError(value)
    ? value
    : { type: 'other', code: 'internal', message: 'it failed without a reason' }
}

function isServedError(value: unknown): value is ServedError {
  return (
    isObject(value) && typeof value['type'] === 'string' && typeof value['message'] === 'string'
  )
}
