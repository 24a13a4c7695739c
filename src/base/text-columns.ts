/** How many columns of a terminal a text on one line takes: two for a wide character and an emoji. */
export function columnsOf(text: string): number {
  if (narrow.test(text)) return text.length
  let columns = 0
  for (const { segment } of graphemesOf(text)) columns += columnsOfGrapheme(segment)
  return columns
}

/** The text, or as much of it as leaves a column for `…`; never half a character. */
export function cutToColumns(text: string, columns: number): string {
  if (narrow.test(text)) {
    return text.length <= columns ? text : ended(text.slice(0, Math.max(0, columns - 1)), columns)
  }
  let kept = 0
  let taken = 0
  for (const { segment, index } of graphemesOf(text)) {
    taken += columnsOfGrapheme(segment)
    if (taken > columns) return ended(text.slice(0, kept), columns)
    if (taken < columns) kept = index + segment.length
  }
  return text
}

/** The text with spaces behind it up to a width. */
export function padToColumns(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - columnsOf(text)))
}

function ended(text: string, columns: number): string {
  return columns < 1 ? '' : `${text.trimEnd()}…`
}

/** Nearly every text; the other patterns know Unicode and take milliseconds to compile. */
const narrow = /^[\u0020-\u007e]*$/

let segmenter: Intl.Segmenter | undefined

function graphemesOf(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' })
  return segmenter.segment(text)
}

function columnsOfGrapheme(grapheme: string): number {
  if (wide.test(grapheme)) return 2
  return invisible.test(grapheme) ? 0 : 1
}

// The blocks that Unicode Standard Annex 11 has as wide or fullwidth, and what is drawn as an emoji.
const wide = new RegExp(
  '[\\u1100-\\u115f\\u2e80-\\u303e\\u3041-\\ua4cf\\ua960-\\ua97c\\uac00-\\ud7a3\\uf900-\\ufaff' +
    '\\ufe10-\\ufe19\\ufe30-\\ufe6f\\uff01-\\uff60\\uffe0-\\uffe6' +
    '\\u{16fe0}-\\u{18cff}\\u{1b000}-\\u{1b2ff}\\u{20000}-\\u{3fffd}]' +
    '|\\p{Emoji_Presentation}|\\p{Emoji}\\ufe0f',
  'u',
)
const invisible = /^[\p{Mn}\p{Me}\p{Cf}\p{Cc}]+$/u
