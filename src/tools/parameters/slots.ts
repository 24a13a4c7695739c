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

/** Longer requests are cut before the search: no user types more. */
export const maxRequestLength = 20_000

/** The matching group is the value. Linear: each run is read once from its start, or has a maximum length. */
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

/** Returns the typed pieces of a request, in their order. Pure and linear. */
export function findSlots(request: string): Slot[] {
  const text = request.slice(0, maxRequestLength)
  const slots: Slot[] = []
  for (const [kind, pattern] of slotPatterns) {
    for (const match of text.matchAll(pattern)) {
      const slot = slotAt(kind, match)
      const isTaken = slots.some((other) => other.start < slot.end && slot.start < other.end)
      if (slot.value !== '' && !isTaken && !isProse(slot)) slots.push(slot)
    }
  }
  return slots.toSorted((one, other) => one.start - other.start || one.end - other.end)
}

function slotAt(kind: SlotKind, match: RegExpExecArray): Slot {
  const captured = match.slice(1).find((group) => group !== undefined) ?? ''
  const { index, 0: whole } = match
  if (kind === 'quoted') return { kind, value: captured, start: index, end: index + whole.length }
  const value = withoutEnd(captured, '.,;:!?)]}').trim()
  const start = index + whole.indexOf(captured)
  return { kind, value, start: kind === 'number' ? index : start, end: start + value.length }
}

/** Whether a piece is only text: `and/or`, `3/4` look like paths, `pull-request`, `1.5` like identifiers. */
function isProse({ kind, value }: Slot): boolean {
  if (kind === 'path') return /^(?:[a-z]{1,3}\/[a-z]{1,3}|\d+\/\d+|e\.g|i\.e)$/i.test(value)
  return kind === 'identifier' && (!/[a-z_]/i.test(value) || /^[a-z]+(?:-[a-z]+)+$/i.test(value))
}

/** Excludes a verb that belongs to the same call: `and save it to shot.png`. */
const sameCall = '(?!\\p{L}{1,12}\\s{1,9}(?:it|them|that|this)\\b)'

/** Separators that always divide a request, and weak ones that do so only before a tool's verb. */
const separators = new RegExp(
  `\\s{0,9};\\s{0,9}|[.!]\\s{1,9}(?=\\p{L})|,?\\s{1,9}(?:and\\s{1,9})?(?:then|afterwards|after that|finally)\\s{1,9}${sameCall}|(?<weak>(?:,\\s{0,9}(?:and\\s{1,9})?|\\s{1,9}and\\s{1,9})${sameCall}(?=(?<verb>\\p{L}{1,30})\\b))`,
  'giu',
)

/** Maximum number of steps in one request; the rest belongs to the last one. */
const maxClauses = 8

/**
 * Splits a request into consecutive actions: `click submit, then list console errors`. Quoted text, JSON,
 * SQL, URLs and paths are never split.
 *
 * @param tools names of all tools: `and` divides only before the first word of one of them
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
