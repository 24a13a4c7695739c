import { readJsonIn } from '../call/directive-text.ts'
import { findSlots } from './slots.ts'

/** Where the answer of the same call goes is not a step of its own: `and save it to shot.png`. */
const sameCall = '(?!\\p{L}{1,12}\\s{1,9}(?:it|them|that|this)\\b)'

/** What always divides a request, and what does so only before the verb of a tool. */
const separators = new RegExp(
  `\\s{0,9};\\s{0,9}|[.!]\\s{1,9}(?=\\p{L})|,?\\s{1,9}(?:and\\s{1,9})?(?:then|afterwards|after that|finally)\\s{1,9}${sameCall}|(?<weak>(?:,\\s{0,9}(?:and\\s{1,9})?|\\s{1,9}and\\s{1,9})${sameCall}(?=(?<verb>\\p{L}{1,30})\\b))`,
  'giu',
)

/** At most so many steps are read out of one request; the rest stays with the last. */
const maxClauses = 8

/**
 * Splits a request into what is to be done one after the other: `click submit, then list console
 * errors`. Quoted text, JSON, SQL, URLs and paths are never split.
 *
 * @param tools names of all tools: `and` divides only before a word with which one of them begins
 */
export function splitClauses(request: string, tools?: readonly string[]): string[] {
  const verbs = tools && new Set(tools.map((name) => /^[a-z]+/.exec(name)?.[0] ?? ''))
  const slots = findSlots(request).filter(({ kind }) => kind !== 'number' && kind !== 'identifier')
  const { objects, end: readTo } = readJsonIn(request)
  const whole = [...slots, ...objects, { start: readTo, end: request.length }]
  const clauses: string[] = []
  let from = 0
  for (const match of request.matchAll(separators)) {
    const { weak, verb = '' } = match.groups ?? {}
    const isInside = whole.some(
      ({ start, end }) => start < match.index + match[0].length && match.index < end,
    )
    const isOpen = weak === undefined || (verbs?.has(verb.toLowerCase()) ?? true)
    if (isInside || !isOpen || clauses.length === maxClauses - 1) continue
    clauses.push(request.slice(from, match.index))
    from = match.index + match[0].length
  }
  return [...clauses, request.slice(from)]
    .map((clause) => clause.trim())
    .filter((clause) => clause !== '')
}
