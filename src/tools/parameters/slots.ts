import { withoutEnd } from '../../core/text.ts'
/** What a piece of a request is, by its form alone. */
export type SlotKind =
  | 'quoted'
  | 'url'
  | 'email'
  | 'sql'
  | 'repository'
  | 'path'
  | 'date'
  | 'size'
  | 'uid'
  | 'number'
  | 'identifier'

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

interface SlotPattern {
  kind: SlotKind
  /**
   * What every match has in it. A text without it is not searched: compiling all the patterns takes
   * a command longer than everything else it does to a request.
   */
  needs: RegExp
  /** One capture group: the value. Every pattern is linear: no nested quantifier, bounded runs. */
  pattern: RegExp
  /** A value that matches by form but is something else. */
  except?: RegExp
  /** Lets weaker kinds find something in the same place, as an `owner/repo` may be a path. */
  shared?: boolean
}

const slotPatterns: readonly SlotPattern[] = [
  { kind: 'quoted', needs: /"/, pattern: /"([^"\n]{1,4000})"/g },
  { kind: 'quoted', needs: /“/, pattern: /“([^”\n]{1,4000})”/g },
  { kind: 'quoted', needs: /`/, pattern: /`([^`\n]{1,4000})`/g },
  { kind: 'quoted', needs: /'/, pattern: /(?<![\p{L}\p{N}])'([^'\n]{1,4000})'(?![\p{L}\p{N}])/gu },
  {
    kind: 'sql',
    needs: /select|insert|update|delete|with|explain/i,
    pattern:
      /\b((?:select\s(?!(?:the|an?|first|second|third|last|option)\s(?!from\b)|[^;:\n]{0,60}:\s)[^;]{0,2000}?\sfrom|insert\s+into|update\s+\S{1,200}\s+set|delete\s+from|with\s+\S{1,200}\s+as\s*\(|explain\s+select)\s[^;]{1,8000})/gi,
  },
  {
    kind: 'url',
    needs: /:/,
    pattern: /((?:https?|wss?|ftp|file|about|data|chrome):[^\s"'<>`]{1,4000})/gi,
  },
  {
    kind: 'url',
    needs: /localhost|127\.0/i,
    pattern: /((?:localhost|127\.0\.0\.1)(?::\d{1,5})?(?:\/[^\s"'<>`]{0,2000})?)/gi,
  },
  { kind: 'email', needs: /@/, pattern: /([\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8})/g },
  {
    kind: 'date',
    needs: /\d-/,
    pattern: /(?<![\w-])(\d{4}-\d{2}-\d{2}(?:T[\d:.]{4,15}(?:Z|[+-]\d{2}:?\d{2})?)?)(?![\w-])/g,
  },
  { kind: 'size', needs: /\d\s?[x×]/, pattern: /(?<![\w.])(\d{2,5}\s?[x×]\s?\d{2,5})(?![\w.])/g },
  {
    kind: 'path',
    needs: /\//,
    pattern: /(?<![\w./:~-])((?:~|\.{1,2})?\/[\w.@~+*-][^\s"'<>`,;]{0,1000})/g,
  },
  { kind: 'path', needs: /\\/, pattern: /(?<![\w])([A-Za-z]:\\[^\s"'<>`,;]{1,1000})/g },
  {
    kind: 'repository',
    needs: /\//,
    pattern: /(?<![\w./-])([A-Za-z0-9][\w-]{0,38}\/[A-Za-z0-9_.-]{1,100})(?![\w/-])/g,
    except: /^(?:and\/or|he\/she|yes\/no|input\/output|client\/server|i\/o|n\/a)$|^\d+\/\d+$/i,
    shared: true,
  },
  {
    kind: 'path',
    needs: /\//,
    pattern: /(?<![\w./-])([\w@-][\w.@-]{0,200}(?:\/[\w.@+-]{1,200}){1,30}\/?)(?![\w/-])/g,
    except: /^(?:and\/or|he\/she|yes\/no|input\/output|client\/server|i\/o|n\/a)$|^\d+\/\d+$/i,
  },
  {
    kind: 'path',
    needs: /\./,
    pattern:
      /(?<![\w./@-])([\w-]{1,200}(?:\.[\w-]{1,40}){0,3}\.(?:txt|md|json|jsonc|csv|tsv|html?|png|jpe?g|gif|webp|svg|pdf|ts|tsx|js|mjs|cjs|jsx|py|rb|go|rs|java|c|h|cpp|sh|ya?ml|toml|xml|log|zip|gz|tar|sql|db|sqlite|heapsnapshot))(?![\w/])/gi,
  },
  {
    kind: 'url',
    needs: /\./,
    pattern:
      /(?<![\w.@/-])((?:[a-z0-9-]{1,63}\.){1,5}(?:com|org|net|io|dev|app|ai|edu|gov|info|co|uk|de|fr|eu|test|example)(?::\d{1,5})?(?:\/[^\s"'<>`]{0,2000})?)(?![\w-])/gi,
  },
  { kind: 'uid', needs: /\d_/, pattern: /(?<![\w.-])(\d{1,6}_\d{1,6})(?![\w.-])/g },
  { kind: 'number', needs: /#/, pattern: /(?<![\w.-])#(\d{1,15})(?![\w.])/g },
  {
    kind: 'number',
    needs: /\d/,
    pattern:
      /(?<![\w.$#-])(-?\d{1,15}(?:\.\d{1,10})?)(?=(?:ms|s|m|h|px|%|st|nd|rd|th|x)?(?![\w.]|\.\d))/g,
  },
  {
    kind: 'identifier',
    needs: /[._-]/,
    // A `_` is a letter of a word too: beside the other signs it would divide a run in every way.
    pattern:
      /(?<![\w.$/@-])([A-Za-z]\w{0,200}(?:[.-]\w{1,200}){1,8}|[A-Za-z][A-Za-z0-9]{0,100}_\w{1,200})(?![\w/@])/g,
  },
  {
    kind: 'identifier',
    needs: /[a-z0-9][A-Z]/,
    pattern:
      /(?<![\w.$/@-])([a-z]{1,60}[A-Z]\w{0,100}|[A-Z][a-z0-9]{1,60}[A-Z]\w{0,100})(?![\w/@.-])/g,
  },
]

/**
 * Finds the typed pieces of a request, in the order of their place: URLs, paths, e-mail addresses,
 * numbers, `owner/repo`, element ids, SQL, quoted text, identifiers. Pure and linear.
 */
export function findSlots(request: string): Slot[] {
  const text = request.slice(0, maxRequestLength)
  // Routing, planning and mapping ask for the same request, one after the other.
  if (last?.text !== text) last = { text, slots: searched(text) }
  return [...last.slots]
}

let last: { text: string; slots: readonly Slot[] } | undefined

function searched(text: string): Slot[] {
  const found: Slot[] = []
  for (const { kind, needs, pattern, except, shared } of slotPatterns) {
    if (!needs.test(text)) continue
    for (const match of text.matchAll(pattern)) {
      const slot = slotAt(kind, match)
      if (slot === undefined || except?.test(slot.value) === true) continue
      const taken = found.some((other) => overlaps(other, slot) && !mayShare(other, slot, shared))
      if (!taken) found.push(slot)
    }
  }
  return found.toSorted((one, other) => one.start - other.start || one.end - other.end)
}

function slotAt(kind: SlotKind, match: RegExpMatchArray): Slot | undefined {
  const captured = match[1] ?? ''
  const value = kind === 'quoted' ? captured : withoutEnd(captured, '.,;:!?)]}').trim()
  if (value === '') return undefined
  const whole = match[0]
  const start = match.index ?? 0
  const inner = start + whole.indexOf(captured)
  if (kind === 'quoted') return { kind, value, start, end: start + whole.length }
  return { kind, value, start: kind === 'number' ? start : inner, end: inner + value.length }
}

function overlaps(one: Slot, other: Slot): boolean {
  return one.start < other.end && other.start < one.end
}

/** `owner/repo` and a path of two parts look the same: both readings are kept. */
function mayShare(one: Slot, other: Slot, shared: boolean | undefined): boolean {
  const both = new Set([one.kind, other.kind])
  return shared !== true && both.has('repository') && both.has('path')
}
