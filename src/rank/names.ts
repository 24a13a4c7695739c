import { plainWords } from './words.ts'

/**
 * Returns the names that a sentence contains in full. A name of several words counts in one piece
 * (`make-chart`, `make_chart`), and from three words on also as separate words. Any name counts beside the
 * word "skill" or behind `/`, `$` or `@`, because one or two common words alone are prose. If names contain
 * each other, the longest counts.
 */
export function namesIn(sentence: string, names: readonly string[]): readonly string[] {
  const text = separateNames(sentence)
  const prose = spaceWords(text)
  const pieces = spacedPieces(text)
  const spaced = spacedNames(names)
  const matches = names.filter((name, at) => {
    const words = spaced[at] ?? ''
    if (words.trim() === '' || !prose.includes(words)) return false
    const count = words.trim().split(' ').length
    return count > 2 || isBesideKind(prose, words) || isOnePiece(pieces, words, count)
  })
  return matches.filter((name) => {
    const textBesideLonger = matches
      .filter(
        (other) =>
          spaceWords(other) !== spaceWords(name) && spaceWords(other).includes(spaceWords(name)),
      )
      .reduce((text, longer) => text.replaceAll(spaceWords(longer), ' | '), prose)
    return textBesideLonger.includes(spaceWords(name))
  })
}

/** Removes a possessive `'s`, and puts a blank where the script changes: `用pdf-proof检查` names `pdf-proof`. */
function separateNames(sentence: string): string {
  return sentence.replaceAll(/(?<=[\p{L}\p{N}])['’]s(?!\p{L})/gu, '').replaceAll(scriptChange, ' ')
}

const otherLetter = '(?!\\p{Script=Latin})\\p{L}'
const scriptChange = new RegExp(
  `(?<=[A-Za-z0-9])(?=${otherLetter})|(?<=${otherLetter})(?=[A-Za-z0-9])`,
  'gu',
)

const spacedByNames = new WeakMap<readonly string[], readonly string[]>()

/** Thousands of names take longer to split than to look up. */
function spacedNames(names: readonly string[]): readonly string[] {
  const spaced = spacedByNames.get(names) ?? names.map(spaceWords)
  spacedByNames.set(names, spaced)
  return spaced
}

function spaceWords(text: string): string {
  return ` ${plainWords(text).join(' ')} `
}

function isBesideKind(prose: string, words: string): boolean {
  return [`${words}skill `, ` skill${words}`].some((text) => prose.includes(text))
}

/**
 * Returns the identifiers of a sentence, with the sign before them. Clients call the skill of a plugin
 * `plugin:skill`, so such an identifier also names the part behind the colon.
 */
function spacedPieces(sentence: string): readonly { sign: string; words: string }[] {
  return [...sentence.matchAll(piecePattern)].flatMap(([, sign = '', text = '']) => {
    const parts = new Set([text, text.slice(text.lastIndexOf(':') + 1)])
    return Array.from(parts, (part) => ({ sign, words: spaceWords(part) }))
  })
}

function isOnePiece(pieces: ReturnType<typeof spacedPieces>, words: string, count: number) {
  return pieces.some((piece) => piece.words === words && (count > 1 || piece.sign !== ''))
}

const piecePattern =
  /(?<![\p{L}\p{N}_/.@$-])([/$@]?)([\p{L}\p{N}]{1,60}(?:[-_:][\p{L}\p{N}]{1,60}){0,12})(?![\p{L}\p{N}_/-])/gu
