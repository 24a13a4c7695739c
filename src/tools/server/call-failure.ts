import type { JSONRPCMessage } from '@modelcontextprotocol/client'
import { messageOf, systemCode } from '../../core/errors.ts'
import { isObject } from '../../core/json.ts'
import type { CallFailure } from '../model.ts'

interface FailedCall {
  server: string
  tool: string
  timeoutMs: number
  sent: boolean
  cancelled: boolean
  /** What is known of the end of the server's process, as in "it ended with exit code 1". */
  ending?: string | undefined
}

/**
 * Why a call has no outcome. A refusal before the tool ran (unknown method, invalid parameters)
 * counts as not delivered; whatever was sent and never answered is unknown.
 */
export function callFailure(error: unknown, call: FailedCall): CallFailure {
  const { server, tool, timeoutMs } = call
  const unanswered = call.sent ? 'unknown' : 'no'
  if (call.cancelled) return failure('cancelled', `The call of ${tool} was cancelled`, unanswered)
  const code = codeOf(error)
  if (typeof code === 'number') return answeredWithError(code, messageOf(error), call)
  if (code === 'REQUEST_TIMEOUT')
    return failure('timeout', `${tool} gave no answer within ${timeoutMs} ms`, unanswered)
  if (code === 'INVALID_RESULT' || code === 'UNSUPPORTED_RESULT_TYPE') {
    const message = `The server ${server} answered the call of ${tool} with what is not a result: ${messageOf(error)}`
    return failure('protocol', message, 'yes')
  }
  const status = httpStatus(error)
  if (status !== undefined) return answeredOverHttp(status, call)
  if (code === 'CLIENT_HTTP_UNEXPECTED_CONTENT') {
    const message = `The address of the server ${server} answered with something that is not a message of the protocol, such as a web page`
    return failure('protocol', message, unanswered)
  }
  const reason = neverReached(error)
  if (reason !== undefined)
    return failure('server-unavailable', `The server ${server} cannot be reached: ${reason}`, 'no')
  const message = `The connection to the server ${server} was lost during the call of ${tool}: ${call.ending ?? messageOf(error)}`
  return failure('connection-lost', message, unanswered)
}

function failure(kind: CallFailure['kind'], message: string, delivered: CallFailure['delivered']) {
  return { kind, message, delivered }
}

export function isHeaderMismatch(error: unknown): boolean {
  return codeOf(error) === headerMismatch
}

function answeredWithError(
  code: number,
  text: string,
  { server, tool }: Pick<FailedCall, 'server' | 'tool'>,
): CallFailure {
  const said = text.replace(/^MCP error -?\d+: /, '')
  switch (code) {
    case methodNotFound:
      return failure('tool-not-found', `The server ${server} has no tool ${tool}: ${said}`, 'no')
    case invalidParams:
      // Servers answer a missing tool with this code, too (MCP, Tools, Error Handling).
      return /not found|unknown tool|no such tool/i.test(said)
        ? answeredWithError(methodNotFound, said, { server, tool })
        : failure('invalid-parameters', said, 'no')
    case unusableAnswer: {
      const message = `The answer of ${tool} on the server ${server} cannot be used: ${said}`
      return failure('protocol', message, 'yes')
    }
    case missingCapability: {
      const message = `${tool} was not finished, because its server ${server} wants to ask during a call, which Skillrail does not answer: ${said}`
      return failure('input-required', message, 'no')
    }
    default: {
      const message = `The server ${server} answered the call of ${tool} with error ${code}: ${said}`
      return failure('protocol', message, refusedUnseen.includes(code) ? 'no' : 'yes')
    }
  }
}

/** Ours, for an answer that came and is none; in the range left to implementations. */
export const unusableAnswer = -32_050
const headerMismatch = -32_020
const missingCapability = -32_021
const methodNotFound = -32_601
const invalidParams = -32_602
/** Parse error, invalid request, and the refusals of the protocol of 2026-07-28 before any work. */
const refusedUnseen: readonly number[] = [-32_700, -32_600, headerMismatch, -32_022]

function answeredOverHttp(status: number, { server, tool, sent }: FailedCall): CallFailure {
  if (status === 401 || status === 403)
    return failure('server-unavailable', signInNeeded(server, status), 'no')
  if (status === 404) {
    const message = `The server ${server} no longer knows this session (HTTP 404)`
    return failure('connection-lost', message, 'no')
  }
  const message = `The server ${server} answered the call of ${tool} with HTTP ${status}`
  return failure('protocol', message, status < 500 || !sent ? 'no' : 'unknown')
}

export function signInNeeded(server: string, status: number): string {
  return `The server ${server} wants a sign-in (HTTP ${status}). Skillrail cannot sign in with OAuth yet; a token can be given as an Authorization header in the configuration of the server`
}

export function httpStatus(error: unknown): number | undefined {
  if (!isObject(error)) return undefined
  const { status, data, code } = error
  if (typeof status === 'number') return status
  if (isObject(data) && typeof data['status'] === 'number') return data['status']
  return typeof code === 'number' && code >= 400 && code < 600 ? code : undefined
}

function* causesOf(error: unknown): Generator<Error> {
  for (let at = error; at instanceof Error; at = at.cause) yield at
}

export function neverReached(error: unknown): string | undefined {
  return [...causesOf(error)]
    .map((cause) => systemCode(cause) ?? '')
    .find((code) => unreachable.includes(code))
}

export function hasCode(error: unknown, code: string): boolean {
  return [...causesOf(error)].some((cause) => 'code' in cause && cause.code === code)
}

const unreachable =
  'ECONNREFUSED ENOTFOUND EAI_AGAIN EHOSTUNREACH ENETUNREACH UND_ERR_CONNECT_TIMEOUT'.split(' ')

/** A number for an error of the protocol, a name for one of the client (see its `SdkErrorCode`). */
function codeOf(error: unknown): number | string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  const { code } = error
  return typeof code === 'string' || (typeof code === 'number' && code < 0) ? code : undefined
}

/** The arguments of calls that were handed to a transport; the client keeps the identity of the object. */
export type SentCalls = WeakSet<object>

export function noteSent(message: JSONRPCMessage, sent: SentCalls): void {
  if (!('method' in message) || message.method !== 'tools/call') return
  const given = message.params?.['arguments']
  if (isObject(given)) sent.add(given)
}
