import { isObject, messageOf } from '../../base/index.ts'
import { lastAttempt, statusOf } from './model-failure.ts'

/**
 * Whether a server refused a request because an answer of a certain shape was asked for. Each says it
 * in its own words; all of them name what they were sent (llama.cpp: what it makes of it).
 */
export function refusesFormat(error: unknown): boolean {
  const last = lastAttempt(error)
  const status = statusOf(last) ?? 0
  return (
    status >= 400 &&
    /response.?format|json.?(?:schema|object)|structured|grammar/i.test(saidBy(last))
  )
}

function saidBy(error: unknown): string {
  const body = isObject(error) ? error['responseBody'] : undefined
  return `${messageOf(error)}\n${typeof body === 'string' ? body : ''}`
}
