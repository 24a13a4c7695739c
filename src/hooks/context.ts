import { type InjectedReference, renderInjection } from '#trigger/inject'

/** The size of the context that a client takes from one hook, and the number of our hooks that may share it. */
export interface ContextLimit {
  unit: 'characters' | 'bytes'
  amount: number
  parts: number
  /** Estimated tokens that all references together may have. */
  tokens?: number | undefined
}

export function shareContext(
  references: readonly InjectedReference[],
  limit: ContextLimit,
): { shares: readonly string[]; rest: readonly InjectedReference[] } {
  const whole = fits(references, [], limit)
  if (whole) return { shares: whole, rest: [] }
  const fitted: InjectedReference[] = []
  const rest: InjectedReference[] = []
  for (const reference of references) {
    const fitting = fits([...fitted, reference], rest, limit) !== undefined
    ;(fitting ? fitted : rest).push(reference)
  }
  // The names of files that did not fit need lines too, so a reference that fitted may no longer fit.
  let shares = fits(fitted, rest, limit)
  while (!shares && fitted.length > 0) {
    rest.unshift(...fitted.splice(-1))
    shares = fits(fitted, rest, limit)
  }
  return { shares: shares ?? [], rest }
}

/** How many parts the hook needs so that references of this size arrive whole; at least 1. */
export function partsNeeded(size: number, limit: ContextLimit): number {
  if (size + prefaceSize <= limit.amount) return 1
  const each = limit.amount - labelSize - longestExpectedLine
  return Math.min(limit.parts, Math.ceil((size + prefaceSize) / each))
}

/** Room for the preface and for the names of files that did not fit. */
const prefaceSize = 1000
const labelSize = 100
/** A share ends at the end of a line, so it may be one line shorter than its limit. */
const longestExpectedLine = 400

function fits(
  references: readonly InjectedReference[],
  rest: readonly InjectedReference[],
  limit: ContextLimit,
): readonly string[] | undefined {
  const most = limit.amount * limit.parts
  if (references.some(({ text }) => text.length > most)) return undefined
  const used = references.reduce((sum, { tokens }) => sum + tokens, 0)
  if (used > (limit.tokens ?? Infinity)) return undefined
  const text = composeContext(references, rest)
  const measure = (part: string): number =>
    limit.unit === 'bytes' ? Buffer.byteLength(part) : part.length
  if (measure(text) <= limit.amount) return [text]
  const room = limit.amount - labelSize
  // Cut at the ends of lines. A line that is longer than a share is cut between two characters.
  const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? []
  const fitting = lines.flatMap((line) => (measure(line) > room ? pack(line, room, measure) : line))
  const pieces = pack(fitting, room, measure)
  if (pieces.length > limit.parts) return undefined
  return pieces.map(
    (piece, index) => `[Skillrail, part ${index + 1} of ${pieces.length}]\n${piece}`,
  )
}

function composeContext(
  references: readonly InjectedReference[],
  rest: readonly InjectedReference[],
) {
  const names = references.map(({ skill, path }) => `${skill}/${path}`).join(', ')
  const preface = `Skillrail put these references here for this prompt. They are complete, so do not load them again: ${names}\n\n`
  const files = rest.map(({ file }) => `${file}\n`).join('')
  const notice = `These references did not fit here. Read them before you do anything else:\n${files}`
  const whole = references.length === 0 ? '' : preface + renderInjection(references)
  return rest.length === 0 ? whole : whole + notice
}

function pack(parts: Iterable<string>, room: number, measure: (text: string) => number): string[] {
  const pieces: string[] = []
  let piece = ''
  let used = 0
  for (const part of parts) {
    const size = measure(part)
    if (used + size > room) {
      pieces.push(piece)
      piece = ''
      used = 0
    }
    piece += part
    used += size
  }
  return piece === '' ? pieces : [...pieces, piece]
}
