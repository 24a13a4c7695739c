import { withoutEnd } from '#core/text'
import { readJsonIn } from '#tools/call/directive-text'

export type SlotKind = (typeof slotPatterns)[number][0]

export interface Slot {
  kind: SlotKind
  /** The piece without its quotes or its closing punctuation. */
  value: string
  /** UTF-16 offsets in the request; `end` is exclusive. */
  start: number
  end: number
}

/** Longer requests are cut here before they are searched: nobody types more into one. */
export const maxRequestLength = 20_000

/** The group that matches is the value. Linear: a run is read from its beginning, or bounded. */
const slotPatterns = [
  ['quoted', /"([^"\n]+)"|“([^“”\n]+)”|`([^`\n]+)`|(?<![\p{L}\p{N}])'([^'\n]+)'(?![\p{L}\p{N}])/gu],
  [
    'sql',
    /\b((?:select\s(?!(?:the|an?|first|second|third|last)\s(?!from\b))[^;:\n]{1,2000}?\sfrom|insert\s+into|update\s+\S+\s+set|delete\s+from|explain\s+select)\s[^;]+)/gi,
  ],
  ['url', /((?:https?|wss?|ftp|file|about|data|chrome):[^\s"'<>`]+)/gi],
  ['url', /((?:localhost|127\.0\.0\.1)(?::\d+)?(?:\/[^\s"'<>`]*)?)/gi],
  ['email', /(?<![\w.+-])([\w.+-]+@[\w-]+(?:\.[\w-]+)+)/g],
  [
    'date',
    /(?<![\w-])(\d{4}-\d{2}-\d{2}(?:T[\d:.]{4,15}(?:Z|[+-]\d{2}:?\d{2})?)?|\d{1,2}:\d{2}(?::\d{2})?)(?![\w-])/g,
  ],
  ['size', /(?<![\w.])(\d{2,5}\s?[x×]\s?\d{2,5})(?![\w.])/g],
  ['path', /(?<![\w./:~-])((?:~|\.{1,2})?\/[\w.@~+*-][^\s"'<>`,;]*)/g],
  ['path', /(?<![\w])([A-Za-z]:\\[^\s"'<>`,;]+)/g],
  ['path', /(?<![\w./@-])([\w@-][\w.@-]*(?:\/[\w.@+-]+)+\/?)(?![\w/-])/g],
  ['path', /(?<![\w./:@-])((?=\S{0,9}\w)[\w*:-]{0,200}\*[\w.*/:-]{0,200})(?![\w/])/g],
  ['path', /(?<![\w./@-])([\w-]+(?:\.[\w-]+){0,3}\.[a-z]{1,5}\d?)(?![\w/.@-])/g],
  ['identifier', /(?<![\w.$/@:-])(\w+(?:[.:-]\w+)+)(?![\w/@:*])/g],
  ['number', /(?<![\w.])#(\d+)(?![\w.])/g],
  ['number', /(?<![\w.$#-])(-?\d+(?:\.\d+)?)(?=(?:ms|s|m|h|px|%|st|nd|rd|th|x)?(?![\w.]|\.\d))/g],
  ['identifier', /(?<![\w.$/@-])([A-Za-z0-9]+_\w+)(?![\w/@])/g],
  [
    'identifier',
    /(?<![\w.$/@-])((?:[a-z]+[A-Z]|[A-Z][a-z0-9]+[A-Z]|[A-Za-z]+\d|\d+[A-Za-z](?:[A-Za-z]{2}|[A-Za-z]?\d))\w*)(?![\w/@.-])/g,
  ],
] as const

/** Finds the typed pieces of a request, in the order of their place. Pure and linear. */
export function findSlots(request: string): Slot[] {
  const text = request.slice(0, maxRequestLength)
  const found: Slot[] = []
  for (const [kind, pattern] of slotPatterns) {
    for (const match of text.matchAll(pattern)) {
      const slot = slotAt(kind, match)
      const isTaken = found.some((other) => other.start < slot.end && slot.start < other.end)
      if (slot.value !== '' && !isTaken && !isProse(slot)) found.push(slot)
    }
  }
  return found.toSorted((one, other) => one.start - other.start || one.end - other.end)
}

function slotAt(kind: SlotKind, match: RegExpExecArray): Slot {
  const captured = match.slice(1).find((group) => group !== undefined) ?? ''
  const { index, 0: whole } = match
  if (kind === 'quoted') return { kind, value: captured, start: index, end: index + whole.length }
  const value = withoutEnd(captured, '.,;:!?)]}').trim()
  const start = index + whole.indexOf(captured)
  return { kind, value, start: kind === 'number' ? index : start, end: start + value.length }
}

/** `and/or` and `3/4` have the form of a path, `pull-request` and `1.5` that of an identifier. */
function isProse({ kind, value }: Slot): boolean {
  if (kind === 'path') return /^(?:[a-z]{1,3}\/[a-z]{1,3}|\d+\/\d+|e\.g|i\.e)$/i.test(value)
  return kind === 'identifier' && (!/[a-z_]/i.test(value) || /^[a-z]+(?:-[a-z]+)+$/i.test(value))
}

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
