import type { RequiredText } from './_required-text.ts'

/** A prompt made ready for many patterns: split into lines, with a filter for what it contains. */
export interface PromptText {
  lines: readonly string[]
  /** False only if no line can match; cheap enough for thousands of patterns. */
  mayContain(required: RequiredText): boolean
  contains(text: string): boolean
}

/** CRLF counts as a line feed; nothing is trimmed, so a prompt has at least one line. */
export function promptText(prompt: string): PromptText {
  const text = prompt.includes('\r\n') ? prompt.replaceAll('\r\n', '\n') : prompt
  const seen = trigrams(text)
  const contains = (part: string): boolean => mayHold(seen, part) && text.includes(part)
  return {
    lines: text.split('\n'),
    contains,
    mayContain: (required) => required.every((clause) => clause.some(contains)),
  }
}

/** Which groups of three characters there are, by a hash of 16 bits: a set bit may be a collision. */
function trigrams(text: string): Uint8Array {
  const seen = new Uint8Array(1 << 16)
  let first = 0
  let second = 0
  for (let at = 0; at < text.length; at++) {
    const third = text.charCodeAt(at)
    seen[hash(first, second, third)] = 1
    first = second
    second = third
  }
  return seen
}

function mayHold(seen: Uint8Array, part: string): boolean {
  // From the end: many patterns begin alike.
  for (let at = part.length - 1; at >= 2; at--) {
    if (seen[hash(part.charCodeAt(at - 2), part.charCodeAt(at - 1), part.charCodeAt(at))] === 0)
      return false
  }
  return true
}

function hash(first: number, second: number, third: number): number {
  return ((first << 10) ^ (second << 5) ^ third) & 0xffff
}
