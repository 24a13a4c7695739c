import { messageOf, redactText } from '../../base/index.ts'

/** A sentence for a model call that failed, without keys that the provider may have repeated. */
export function modelFailure(error: unknown): string {
  const attempts = attemptsOf(error)
  const last = attempts.at(-1) ?? error
  const status = statusOf(last)
  const facts = [
    status === undefined ? undefined : `HTTP ${status}`,
    attempts.length > 1 ? `${attempts.length} attempts` : undefined,
  ].filter((fact) => fact !== undefined)
  const message = messageOf(last).trim() || 'the provider gave no reason'
  return redactText(
    `The model call failed${facts.length === 0 ? '' : ` (${facts.join(', ')})`}: ${message}`,
  )
}

/** The errors of all attempts, where the error says that there were several. */
function attemptsOf(error: unknown): readonly unknown[] {
  if (typeof error !== 'object' || error === null || !('errors' in error)) return []
  return Array.isArray(error.errors) ? error.errors : []
}

function statusOf(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null || !('statusCode' in error)) return undefined
  return typeof error.statusCode === 'number' ? error.statusCode : undefined
}
