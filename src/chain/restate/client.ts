import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf } from '../../core/errors.ts'
import { objectOf, parseJson } from '../../core/json.ts'
import { ChainError } from '../errors.ts'

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
