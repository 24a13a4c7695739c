import type { CommandArgument, WordPart } from 'unbash'

/**
 * Returns the line of a command after bash has replaced the first brace expression of each word, such as
 * `{git,push}`. Undefined if there is none. Others, also nested ones, remain for the next reading.
 */
export function withoutBraces(words: readonly CommandArgument[]): string | undefined {
  const replaced = words.map((word) => (word.type === 'Word' ? alternatives(word) : undefined))
  if (replaced.every((texts) => texts === undefined)) return undefined
  return words.flatMap((word, at) => replaced[at] ?? [word.text]).join(' ')
}

function alternatives({ parts = [] }: { parts?: readonly WordPart[] | undefined }) {
  const at = parts.findIndex(({ type }) => type === 'BraceExpansion')
  const part = parts[at]
  if (part?.type !== 'BraceExpansion') return undefined
  const textOf = (some: readonly WordPart[]): string => some.map(({ text }) => text).join('')
  const [before, after] = [textOf(parts.slice(0, at)), textOf(parts.slice(at + 1))]
  const inner = part.text.slice(1, -1)
  const texts = sequence(inner) ?? splitAtCommas(inner, part.parts)
  return texts?.map((text) => `${before}${text}${after}`)
}

/** A longer sequence is not replaced. */
const longestSequence = 100

/** Returns the texts of `1..3` and `a..c`. */
function sequence(inner: string): string[] | undefined {
  const [, first = '', last = '', step = '1'] =
    /^(-?\d+|[a-z])\.\.(-?\d+|[a-z])(?:\.\.(-?\d+))?$/i.exec(inner) ?? []
  const isNumbers = /\d/.test(first)
  if (first === '' || isNumbers !== /\d/.test(last)) return undefined
  const numberOf = (text: string): number => (isNumbers ? Number(text) : text.charCodeAt(0))
  const [from, to] = [numberOf(first), numberOf(last)]
  const width = Math.abs(Number(step)) || 1
  const count = Math.floor(Math.abs(to - from) / width) + 1
  if (count > longestSequence) return undefined
  return Array.from({ length: count }, (_, at) => {
    const value = from + Math.sign(to - from) * at * width
    return isNumbers ? String(value) : String.fromCharCode(value)
  })
}

/** Splits the text between braces at its commas, except those in quotes, substitutions and inner braces. */
function splitAtCommas(
  inner: string,
  parts: readonly WordPart[] | undefined,
): string[] | undefined {
  const texts = ['']
  let depth = 0
  const add = (text: string): void => {
    texts.push(`${texts.pop() ?? ''}${text}`)
  }
  for (const part of parts ?? [{ type: 'Literal', text: inner }]) {
    if (part.type !== 'Literal') {
      add(part.text)
      continue
    }
    for (const [sign] of part.text.matchAll(/\\.|./gsu)) {
      if (sign === '{') depth++
      if (sign === '}') depth--
      if (sign === ',' && depth === 0) texts.push('')
      else add(sign)
    }
  }
  return texts.length > 1 ? texts : undefined
}
