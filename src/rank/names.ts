import { plainWords } from './words.ts'

/**
 * Returns the names that a sentence contains in full. A name of several words counts in one piece
 * (`make-chart`, `make_chart`), from three words on also in words, and any name beside the word "skill" or
 * behind `/`, `$` or `@`: one or two common words alone are prose. Of names within each other the longest counts.
 */
export function namesIn(sentence: string, names: readonly string[]): readonly string[] {
  const prose = spaced(sentence)
  const pieces = spacedPieces(sentence)
  const found = names.filter((name) => {
    const words = spaced(name)
    if (words.trim() === '' || !prose.includes(words)) return false
    const count = words.trim().split(' ').length
    return count > 2 || isBesideKind(prose, words) || isOnePiece(pieces, words, count)
  })
  return found.filter((name) => {
    const rest = found
      .filter((other) => spaced(other) !== spaced(name) && spaced(other).includes(spaced(name)))
      .reduce((text, longer) => text.replaceAll(spaced(longer), ' | '), prose)
    return rest.includes(spaced(name))
  })
}

function spaced(text: string): string {
  return ` ${plainWords(text).join(' ')} `
}

function isBesideKind(prose: string, words: string): boolean {
  return [`${words}skill `, ` skill${words}`].some((text) => prose.includes(text))
}

/** The identifiers of a sentence, with the sign before them. */
function spacedPieces(sentence: string): readonly { sign: string; words: string }[] {
  return [...sentence.matchAll(piecePattern)].map(([, sign = '', text = '']) => {
    return { sign, words: spaced(text) }
  })
}

function isOnePiece(pieces: ReturnType<typeof spacedPieces>, words: string, count: number) {
  return pieces.some((piece) => piece.words === words && (count > 1 || piece.sign !== ''))
}

const piecePattern =
  /(?<![\p{L}\p{N}_/.@$-])([/$@]?)([\p{L}\p{N}]{1,60}(?:[-_:][\p{L}\p{N}]{1,60}){0,12})(?![\p{L}\p{N}_/-])/gu
