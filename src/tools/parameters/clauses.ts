import { readJsonIn } from '../call/directive-text.ts'
import { findSlots } from './slots.ts'

/** Verbs with which a new clause of a request begins. */
const verbs =
  'add|analy[sz]e|browse|call|capture|check|click|close|copy|count|create|delete|describe|download|drag|edit|execute|fetch|fill|find|get|go|hover|insert|inspect|list|look|merge|move|navigate|open|post|press|query|read|reload|remove|rename|resize|run|save|search|select|send|set|show|take|tell|type|update|upload|wait|write'

/** Where the answer of the same call goes is not a step of its own: `and save it to shot.png`. */
const sameCall = '(?:keep|put|save|store|write)\\s{1,9}(?:it|them|that|this)\\b'

const separators = new RegExp(
  `\\s{0,9};\\s{0,9}|[.!]\\s{1,9}(?=\\p{L})|,?\\s{1,9}(?:and\\s{1,9})?(?:then|afterwards|after that|finally)\\s{1,9}(?!${sameCall})|(?:,\\s{0,9}(?:and\\s{1,9})?|\\s{1,9}and\\s{1,9})(?!${sameCall})(?=(?:${verbs})\\b)`,
  'giu',
)

/** What every separator has in it. */
const mayBeSeveral = /[;.!,]|then|and|afterwards|after that|finally/i

/** At most so many steps are read out of one request; the rest stays with the last. */
const maxClauses = 8

/**
 * Splits a request into what is to be done one after the other: `click submit, then list console
 * errors`. Quoted text, JSON, SQL, URLs and paths are never split.
 */
export function splitClauses(request: string): string[] {
  // Compiling the pattern that knows Unicode costs a command more than the search.
  if (!mayBeSeveral.test(request)) return [request.trim()].filter((clause) => clause !== '')
  const slots = findSlots(request).filter(({ kind }) => kind !== 'number' && kind !== 'identifier')
  const { objects, end: readTo } = readJsonIn(request)
  const whole = [...slots, ...objects, { start: readTo, end: request.length }]
  const clauses: string[] = []
  let from = 0
  for (const match of request.matchAll(separators)) {
    const inside = whole.some(
      ({ start, end }) => start < match.index + match[0].length && match.index < end,
    )
    if (inside || clauses.length === maxClauses - 1) continue
    clauses.push(request.slice(from, match.index))
    from = match.index + match[0].length
  }
  return [...clauses, request.slice(from)]
    .map((clause) => clause.trim())
    .filter((clause) => clause !== '')
}
