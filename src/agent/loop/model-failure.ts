import { messageOf, systemCode } from '../../core/errors.ts'
import { redactText } from '../../core/redact.ts'

/** A sentence for a model call that failed, without keys that the provider may have repeated. */
export function modelFailure(error: unknown): string {
  const attempts = attemptsOf(error)
  const last = lastAttempt(error)
  const status = statusOf(last)
  const facts = [
    status === undefined ? undefined : `HTTP ${status}`,
    attempts.length > 1 ? `${attempts.length} attempts` : undefined,
  ].filter((fact) => fact !== undefined)
  const message = unreached(last) ?? (messageOf(last).trim() || 'the provider gave no reason')
  return redactText(
    `The model call failed${facts.length === 0 ? '' : ` (${facts.join(', ')})`}: ${message}`,
  )
}

/** Why a connection was not made, by the code of the system, and what to look at. */
export const connectionFailures: Readonly<Record<string, readonly [why: string, check: string]>> = {
  ECONNREFUSED: ['nothing listens at', 'Check that the server runs, and its address'],
  ENOTFOUND: ['no machine has the name in', 'Check the network, and the address'],
  EAI_AGAIN: ['no machine was found for the name in', 'Check the network, and the address'],
  ETIMEDOUT: ['no answer came from', 'Check the network, and the address'],
  EHOSTUNREACH: ['there is no way to', 'Check the network, and the address'],
  ENETUNREACH: ['there is no way to', 'Check the network, and the address'],
  UND_ERR_CONNECT_TIMEOUT: ['no answer came from', 'Check the network, and the address'],
}

/** A sentence with the address for a provider that was not reached, or has nothing there. */
export function unreached(error: unknown): string | undefined {
  const address = addressOf(error)
  if (address === undefined) return undefined
  if (statusOf(error) === 404) {
    const said = messageOf(error).trim().replace(/\.$/, '')
    return `${said}. Asked was ${address}: check the name of the model, and the address (${whereSet}).`
  }
  const cause = error instanceof Error ? error.cause : undefined
  if (statusOf(error) !== undefined || cause === undefined) return undefined
  const known = connectionFailures[systemCode(cause) ?? '']
  return known === undefined
    ? `${address} cannot be reached: ${messageOf(cause)}. Check the address (${whereSet}).`
    : `${known[0]} ${address}. ${known[1]} (${whereSet}).`
}

export const whereSet = '--base-url or agent.baseUrl sets it'

/** Without a query, in which some providers have a key. */
export function addressOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('url' in error)) return undefined
  const url = typeof error.url === 'string' ? URL.parse(error.url) : null
  return url === null ? undefined : `${url.origin}${url.pathname}`
}

/** The error of the last attempt. */
export function lastAttempt(error: unknown): unknown {
  return attemptsOf(error).at(-1) ?? error
}

/** The errors of all attempts, where the error says that there were several. */
export function attemptsOf(error: unknown): readonly unknown[] {
  if (typeof error !== 'object' || error === null || !('errors' in error)) return []
  return Array.isArray(error.errors) ? error.errors : []
}

/** The HTTP status of an answer that was none. */
export function statusOf(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null || !('statusCode' in error)) return undefined
  return typeof error.statusCode === 'number' ? error.statusCode : undefined
}
