import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf, systemCode } from '#core/errors'
import { isList, isObject, objectOf, parseJson } from '#core/json'
import type { Outcome } from '#chain/engine'
import { ChainError } from '#chain/errors'
import {
  type Decision,
  handlerNames,
  type NestedAnswer,
  type RunAnswer,
  type RunRequest,
  serviceName,
  type WaitingNotice,
} from './protocol.ts'

export interface ServerAddress {
  url: string
  adminUrl: string
  /** The bearer token for both URLs. */
  token?: string | undefined
}

export class RestateServerError extends ChainError {}

interface ServerAnswer {
  status: number
  body: unknown
}

export async function ask(
  address: ServerAddress,
  place: 'ingress' | 'admin',
  path: string,
  request: {
    method?: 'GET' | 'POST' | 'PATCH'
    body?: unknown
    headers?: Readonly<Record<string, string>>
    signal?: AbortSignal | undefined
  } = {},
): Promise<ServerAnswer> {
  const base = place === 'ingress' ? address.url : address.adminUrl
  const { method = 'GET', body, headers = {}, signal } = request
  const bearer = address.token === undefined ? {} : { authorization: `Bearer ${address.token}` }
  const content = body === undefined ? {} : { 'content-type': 'application/json' }
  try {
    const response = await fetch(new URL(path, base), {
      method,
      headers: { accept: 'application/json', ...content, ...bearer, ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal ? { signal } : {}),
    })
    const text = await response.text()
    return { status: response.status, body: parseJson(text) ?? text }
  } catch (error) {
    if (signal?.aborted) throw error
    const cause = error instanceof Error ? error.cause : undefined
    throw new RestateServerError(
      'restate-away',
      `no Restate server answers at ${base}: ${messageOf(cause ?? error)}`,
      'Start one (docs/scale.md), or name it with --url and --admin-url.',
      { cause: error },
    )
  }
}

function refusal(action: string, { status, body }: ServerAnswer): RestateServerError {
  const reason = objectOf(body)['message'] ?? body
  const detail = typeof reason === 'string' && reason !== '' ? `: ${reason}` : ''
  return new RestateServerError(
    'restate-refused',
    `the Restate server did not ${action} (HTTP ${status})${detail}`,
    'Check it with: skillrail doctor --engine restate',
  )
}

async function select(address: ServerAddress, query: string): Promise<Record<string, unknown>[]> {
  for (let attemptsLeft = attempts; ; attemptsLeft--) {
    const signal = AbortSignal.timeout(10_000)
    const request = { method: 'POST', body: { query }, signal } as const
    const answer = await ask(address, 'admin', '/query', request)
    const { rows } = objectOf(answer.body)
    if (answer.status === 200 && rows !== undefined) return Array.isArray(rows) ? rows : []
    if (answer.status < 500 || attemptsLeft <= 1) throw refusal('answer a query', answer)
    await sleep(intervalMs)
  }
}

/** A server that has just started accepts requests before its tables can be read. */
const attempts = 10
const intervalMs = 300

/** Older servers do not support the retry policy that our service declares. */
const oldest = [1, 5] as const

/** Returns the version of the server. Refuses an incompatible server before a run is submitted. */
export async function requireVersion(address: ServerAddress): Promise<string> {
  const signal = AbortSignal.timeout(5000)
  const { status, body } = await ask(address, 'admin', '/version', { signal })
  const version = status === 200 ? String(objectOf(body)['version']) : ''
  const [, major = '', minor = ''] = /^v?(\d+)\.(\d+)(?:\.|$)/.exec(version) ?? []
  const isNewEnough = +major > oldest[0] || (+major === oldest[0] && +minor >= oldest[1])
  if (isNewEnough) return version
  const description =
    major === '' ? 'does not report a version of Restate' : `is Restate ${version}`
  throw new RestateServerError(
    major === '' ? 'restate-version-unknown' : 'restate-too-old',
    `${address.adminUrl} ${description}; at least ${oldest.join('.')} is needed`,
    'Name another with --admin-url, or upgrade it.',
  )
}

/** Refuses a server that cannot take a run, before a run is recorded: every answer shows that it is there. */
export async function requireAnswer(address: ServerAddress): Promise<void> {
  const signal = AbortSignal.timeout(10_000)
  try {
    await ask(address, 'ingress', '/restate/health', { signal })
  } catch (error) {
    if (!signal.aborted) throw error
    throw new RestateServerError(
      'restate-away',
      `no Restate server answers at ${address.url}: nothing within 10 seconds`,
      'Start one (docs/scale.md), or name it with --url and --admin-url.',
      { cause: error },
    )
  }
}

export interface SubmittedRun {
  runId: string
  part: number
}

/** Submits a run; a second submission changes nothing. Returns the ID of its invocation. */
export async function submitRun(
  address: ServerAddress,
  request: RunRequest,
  part: number,
): Promise<string> {
  const answer = await ask(address, 'ingress', `/${serviceName}/${handlerNames.run}/send`, {
    method: 'POST',
    body: request,
    headers: { 'idempotency-key': keyOf({ runId: request.runId, part }) },
  })
  if (answer.status === 404) {
    throw new RestateServerError(
      'restate-no-worker',
      `no Skillrail worker is registered at ${address.url}`,
      'Start one: skillrail runs worker --register http://HOST:PORT',
    )
  }
  const { invocationId } = objectOf(answer.body)
  if (answer.status < 300 && typeof invocationId === 'string') return invocationId
  throw refusal('accept the run', answer)
}

/** Error codes of connections that were never made, so that the server has received no request. */
const connectionErrors: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
])

/** Whether the server certainly has not received a run whose submission failed. */
export function wasNotTaken(error: unknown): boolean {
  if (!(error instanceof RestateServerError)) return false
  if (error.code !== 'restate-away') return error.code === 'restate-no-worker'
  const { cause } = error
  const code = cause instanceof Error ? systemCode(cause.cause) : undefined
  return code !== undefined && connectionErrors.has(code)
}

const absenceMs = 120_000

const attachMs = 60_000

/** Waits for the end of a run, even across a restart of the server. */
export async function awaitRun(
  address: ServerAddress,
  run: SubmittedRun,
  planDigest: string,
  signal?: AbortSignal,
): Promise<RunAnswer> {
  for (let lastContact = performance.now(); ;) {
    const attempt = AbortSignal.timeout(attachMs)
    const scope = signal ? AbortSignal.any([signal, attempt]) : attempt
    try {
      const answer = await ask(address, 'ingress', placeOf(run, 'attach'), { signal: scope })
      const { status, body } = answer
      if (status === 200) return answerOf(body, run, planDigest)
      // The server reports a final failure of an invocation with an error code.
      const isFinal = (status < 500 && status !== 408) || typeof objectOf(body)['code'] === 'number'
      if (isFinal) throw refusal('finish the run', answer)
      lastContact = performance.now()
    } catch (error) {
      if (signal?.aborted) throw error
      const isAway = error instanceof RestateServerError && error.code === 'restate-away'
      if (attempt.aborted) lastContact = performance.now()
      else if (!isAway || performance.now() - lastContact > absenceMs) throw error
    }
    await sleep(200)
  }
}

/** Returns the answer of a run, `running`, or `unknown` if the server does not have the run. */
export async function lookAtRun(
  address: ServerAddress,
  run: SubmittedRun,
  planDigest: string,
): Promise<RunAnswer | 'running' | 'unknown'> {
  const signal = AbortSignal.timeout(5000)
  const answer = await ask(address, 'ingress', placeOf(run, 'output'), { signal })
  if (answer.status === 200) return answerOf(answer.body, run, planDigest)
  if (answer.status === 404) return 'unknown'
  if (answer.status === 470) return 'running'
  throw refusal('report the status of the run', answer)
}

export async function findInvocation(
  address: ServerAddress,
  run: SubmittedRun,
): Promise<string | undefined> {
  const [row] = await select(
    address,
    `select id from sys_invocation where target_service_name = '${serviceName}' ` +
      `and idempotency_key = '${keyOf(run)}' and status <> 'completed'`,
  )
  const id = row?.['id']
  return typeof id === 'string' ? id : undefined
}

export async function cancelInvocation(
  address: ServerAddress,
  invocationId: string,
): Promise<void> {
  const path = `/invocations/${invocationId}/cancel`
  const answer = await ask(address, 'admin', path, { method: 'PATCH' })
  if (answer.status >= 300) throw refusal('cancel the run', answer)
}

function keyOf({ runId, part }: SubmittedRun): string {
  return part === 1 ? runId : `${runId}.${part}`
}

function placeOf(run: SubmittedRun, operation: 'attach' | 'output'): string {
  return `/restate/invocation/${serviceName}/${handlerNames.run}/${encodeURIComponent(keyOf(run))}/${operation}`
}

function answerOf(body: unknown, { runId }: SubmittedRun, planDigest: string): RunAnswer {
  if (!isAnswer(body)) throw refusal('return a run', { status: 200, body })
  if (body.planDigest === planDigest) return body
  throw new ChainError(
    'run-id-taken',
    `the server has another run under the id ${runId}`,
    'Use one ID for one plan.',
  )
}

function isAnswer(body: unknown): body is RunAnswer {
  return isObject(body) && typeof body['planDigest'] === 'string' && isObject(body['pass'])
}

export type ServerEntry =
  | { kind: 'started'; completion: number; key: string; at: string; nested: string | undefined }
  | { kind: 'ended'; completion: number; at: string; value: Outcome | NestedAnswer | undefined }

/** Reads the entries of the server's journal from `next` on. The `next` of the answer continues after them. */
export async function readServerJournal(
  address: ServerAddress,
  invocationId: string,
  next: number,
): Promise<{ entries: ServerEntry[]; next: number }> {
  const rows = await journalRows(address, invocationId, `and index >= ${next} order by index`)
  const last = rows.at(-1)?.['index']
  return {
    entries: rows.flatMap((row) => parseRow(row) ?? []),
    next: typeof last === 'number' ? last + 1 : next,
  }
}

/** A run that waits for a user, with the end of its journal on the server. */
export interface Waiting extends WaitingNotice {
  next: number
}

export async function lookAtWaiting(
  address: ServerAddress,
  invocationId: string,
): Promise<Waiting | undefined> {
  const [row = {}] = await journalRows(address, invocationId, 'order by index desc limit 1')
  const entry = parseRow(row)
  const { index } = row
  if (entry?.kind !== 'ended' || typeof index !== 'number') return undefined
  // The run still waits if the notice is the last entry: an answer would follow it.
  return isNotice(entry.value) ? { ...entry.value, next: index + 1 } : undefined
}

function journalRows(address: ServerAddress, invocationId: string, condition: string) {
  const columns = 'select index, name, appended_at, entry_json from sys_journal'
  return select(address, `${columns} where id = '${invocationId}' ${condition}`)
}

/** Parses a run or a call, in the format of the admin interface of Restate 1.7. */
function parseRow(row: Record<string, unknown>): ServerEntry | undefined {
  const { entry_json: text, appended_at: at, name: key } = row
  if (typeof text !== 'string' || typeof at !== 'string') return undefined
  const { Command: command, Notification: notification } = JSON.parse(text)
  const call = command?.Run ?? command?.Call
  if (call !== undefined) {
    const completion = call.completion_id ?? call.result_completion_id
    if (typeof completion !== 'number' || typeof key !== 'string') return undefined
    return { kind: 'started', completion, key, at, nested: call.request?.invocation_id }
  }
  const completionEntry = notification?.Completion?.Run ?? notification?.Completion?.Call
  const completion = completionEntry?.completion_id
  if (typeof completion !== 'number') return undefined
  const bytes = completionEntry.result?.Success
  const value = Array.isArray(bytes) ? JSON.parse(Buffer.from(bytes).toString('utf8')) : undefined
  return { kind: 'ended', completion, at, value }
}

function isNotice(value: unknown): value is WaitingNotice {
  const { awakeable, gates, pass } = objectOf(value)
  return typeof awakeable === 'string' && isList(gates) && isObject(pass)
}

export async function untilWaiting(
  address: ServerAddress,
  invocationId: string,
  answeredAwakeable: string | undefined,
  over: AbortSignal,
): Promise<Waiting> {
  for (;;) {
    await sleep(intervalMs, undefined, { signal: over })
    try {
      const waiting = await lookAtWaiting(address, invocationId)
      if (waiting && waiting.awakeable !== answeredAwakeable) return waiting
    } catch (error) {
      // `awaitRun` reports a server that stays unreachable.
      if (!(error instanceof RestateServerError)) throw error
    }
  }
}

export async function answerWaiting(
  address: ServerAddress,
  awakeable: string,
  decision: Decision,
): Promise<void> {
  const path = `/restate/awakeables/${encodeURIComponent(awakeable)}/resolve`
  const answer = await ask(address, 'ingress', path, { method: 'POST', body: decision })
  if (answer.status >= 300) throw refusal('accept the decision', answer)
}
