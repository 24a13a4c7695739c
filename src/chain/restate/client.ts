import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf } from '../../core/errors.ts'
import { isObject, objectOf, parseJson } from '../../core/json.ts'
import { ChainError } from '../errors.ts'
import { handlerNames, type RunAnswer, type RunRequest, serviceName } from './protocol.ts'

export interface ServerAddress {
  url: string
  adminUrl: string
  /** Sent as a bearer token to both. */
  token?: string | undefined
}

export class RestateServerError extends ChainError {}

interface ServerAnswer {
  status: number
  body: unknown
}

/** One request to the server. */
export async function ask(
  address: ServerAddress,
  place: 'ingress' | 'admin',
  path: string,
  request: {
    method?: 'GET' | 'POST' | 'PATCH' | undefined
    body?: unknown
    headers?: Readonly<Record<string, string>> | undefined
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
      ...(signal === undefined ? {} : { signal }),
    })
    return { status: response.status, body: bodyOf(await response.text()) }
  } catch (error) {
    if (signal?.aborted === true) throw error
    throw new RestateServerError({
      code: 'restate-away',
      message: `no Restate server answers at ${base}: ${reasonOf(error)}`,
      hint: 'Start one (docs/scale.md says how), or name it with --url and --admin-url.',
      cause: error,
    })
  }
}

export function refusal(what: string, { status, body }: ServerAnswer): RestateServerError {
  const told = objectOf(body)['message'] ?? body
  const detail = typeof told === 'string' && told !== '' ? `: ${told}` : ''
  return new RestateServerError({
    code: 'restate-refused',
    message: `the Restate server did not ${what} (HTTP ${status})${detail}`,
    hint: 'skillrail doctor --engine restate checks the server and its workers.',
  })
}

function bodyOf(text: string): unknown {
  return parseJson(text) ?? (text === '' ? undefined : text)
}

function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined
  return messageOf(cause ?? error)
}

/** Rows of the tables that the admin interface has about invocations. */
export async function select(
  address: ServerAddress,
  query: string,
): Promise<Record<string, unknown>[]> {
  for (let left = attempts; ; left--) {
    const answer = await ask(address, 'admin', '/query', {
      method: 'POST',
      body: { query },
      signal: AbortSignal.timeout(10_000),
    })
    const { body, status } = answer
    const { rows } = objectOf(body)
    if (status === 200 && rows !== undefined) return Array.isArray(rows) ? rows : []
    if (status < 500 || left <= 1) throw refusal('answer a query', answer)
    await sleep(pauseMs)
  }
}

/** A server that has just started takes requests before its tables can be read. */
const attempts = 10
const pauseMs = 300

/** Older servers do not know the retry policy that our service declares. */
const oldest = [1, 5] as const
const tried = [1, 7] as const

type VersionVerdict =
  | { kind: 'known'; version: string }
  | { kind: 'newer'; version: string; message: string }
  | { kind: 'refused'; code: 'restate-too-old' | 'restate-version-unknown'; message: string }

/** What the version that a server told means; undefined when it told none. */
export function judgeVersion(version: string | undefined): VersionVerdict {
  const [, major, minor] = /^v?(\d+)\.(\d+)(?:\.|$)/.exec(version ?? '') ?? []
  if (version === undefined || major === undefined || minor === undefined) {
    const told =
      version === undefined
        ? 'does not report a version of Restate'
        : `reports the version ${JSON.stringify(version.slice(0, 40))}`
    return {
      kind: 'refused',
      code: 'restate-version-unknown',
      message: `what answers there ${told}; Restate ${oldest.join('.')} or newer is needed`,
    }
  }
  const own = [Number(major), Number(minor)] as const
  if (isBefore(own, oldest)) {
    return {
      kind: 'refused',
      code: 'restate-too-old',
      message: `the server is Restate ${version}; at least ${oldest.join('.')} is needed`,
    }
  }
  if (own[0] === tried[0]) return { kind: 'known', version }
  const message = `the server is Restate ${version}; this Skillrail was tested with ${tried.join('.')}`
  return { kind: 'newer', version, message }
}

export async function askVersion(address: ServerAddress): Promise<VersionVerdict> {
  const signal = AbortSignal.timeout(5000)
  const { status, body } = await ask(address, 'admin', '/version', { signal })
  const { version } = objectOf(body)
  const isTold = status === 200 && typeof version === 'string' && version !== ''
  return judgeVersion(isTold ? version : undefined)
}

/** Refuses an incompatible server before anything is submitted. */
export async function requireVersion(address: ServerAddress): Promise<void> {
  const verdict = await askVersion(address)
  if (verdict.kind !== 'refused') return
  throw new RestateServerError({
    code: verdict.code,
    message: `${address.adminUrl}: ${verdict.message}`,
    hint: 'Name the admin interface with --admin-url, or upgrade the server (docs/scale.md).',
  })
}

function isBefore(a: readonly [number, number], b: readonly [number, number]): boolean {
  return a[0] < b[0] || (a[0] === b[0] && a[1] < b[1])
}

export type Sdk = typeof import('@restatedev/restate-sdk')

/** Loads Restate's SDK, an optional peer. */
export async function loadSdk(): Promise<Sdk> {
  try {
    return await import('@restatedev/restate-sdk')
  } catch (error) {
    throw new ChainError({
      code: 'restate-sdk-missing',
      message: `a worker needs the package @restatedev/restate-sdk, which cannot be loaded: ${messageOf(error).split('\n')[0]}`,
      hint: 'npm i @restatedev/restate-sdk',
      cause: error,
    })
  }
}

export interface SubmittedRun {
  runId: string
  part: number
}

/**
 * Hands a run to the server, which executes it independently of this process. Submitting it again
 * changes nothing. Returns the ID of the invocation.
 */
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
  const { status, body } = answer
  if (status === 404) {
    throw new RestateServerError({
      code: 'restate-no-worker',
      message: `no Skillrail worker is registered at ${address.url}`,
      hint: 'Start one: skillrail worker --register http://HOST:PORT',
    })
  }
  if (status >= 300 || !isObject(body) || typeof body['invocationId'] !== 'string') {
    throw refusal('accept the run', answer)
  }
  return body['invocationId']
}

const absenceMs = 120_000

/** Time limit of one request, whatever stands between us and the server. */
const attachMs = 60_000

/** Waits for the end of a run, also across a restart of the server. */
export async function awaitRun(
  address: ServerAddress,
  run: SubmittedRun,
  planDigest: string,
  signal?: AbortSignal,
): Promise<RunAnswer> {
  let awaySince: number | undefined
  for (;;) {
    const once = AbortSignal.timeout(attachMs)
    const scope = signal === undefined ? once : AbortSignal.any([signal, once])
    try {
      const answer = await ask(address, 'ingress', placeOf(run, 'attach'), { signal: scope })
      awaySince = undefined
      if (answer.status === 200) return answerOf(answer.body, run, planDigest)
      if (answer.status < 500 && answer.status !== 408) throw refusal('finish the run', answer)
      if (isVerdict(answer.body)) throw refusal('finish the run', answer)
    } catch (error) {
      if (signal?.aborted === true) throw error
      if (error instanceof RestateServerError) {
        if (error.code !== 'restate-away') throw error
        awaySince ??= performance.now()
        if (performance.now() - awaySince > absenceMs) throw error
      } else if (!once.aborted) throw error
    }
    await sleep(200)
  }
}

/** Where a run stands now: its answer, `running`, or `unknown` to the server. */
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

export async function cancelInvocation(
  address: ServerAddress,
  invocationId: string,
): Promise<void> {
  const answer = await ask(address, 'admin', `/invocations/${invocationId}/cancel`, {
    method: 'PATCH',
  })
  if (answer.status >= 300) throw refusal('cancel the run', answer)
}

export function keyOf({ runId, part }: SubmittedRun): string {
  return part === 1 ? runId : `${runId}.${part}`
}

export function placeOf(run: SubmittedRun, what: 'attach' | 'output'): string {
  return `/restate/invocation/${serviceName}/${handlerNames.run}/${encodeURIComponent(keyOf(run))}/${what}`
}

export function answerOf(body: unknown, { runId }: SubmittedRun, planDigest: string): RunAnswer {
  if (!isAnswer(body)) throw refusal('return a run', { status: 200, body })
  if (body.planDigest === planDigest) return body
  throw new ChainError({
    code: 'run-id-taken',
    message: `the server has another run under the id ${runId}: its plan differs from this one`,
    hint: 'Run IDs are unique; do not use one for two plans.',
  })
}

export function isAnswer(body: unknown): body is RunAnswer {
  return isObject(body) && typeof body['planDigest'] === 'string' && isObject(body['result'])
}

/** An invocation that failed for good is an error with a code of its own. */
function isVerdict(body: unknown): boolean {
  return isObject(body) && typeof body['code'] === 'number' && typeof body['message'] === 'string'
}
