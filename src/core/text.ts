/**
 * Makes text from a skill, a tool or a model safe for a terminal: control characters, bidirectional
 * overrides, invisible and tag characters become visible escapes such as `\x1b` or `\u{202e}`. Newlines and
 * tabs stay; CRLF becomes a newline.
 */
export function safeText(text: string): string {
  if (ordinary.test(text) || !dangerous.test(text)) return text
  return text.replaceAll('\r\n', '\n').replace(dangerousAll, escape)
}

export function isYes(answer: string): boolean {
  return /^y(?:es)?$/i.test(answer.trim())
}

/** {@link safeText} on one line: newlines and tabs become a single space. */
export function safeLine(text: string): string {
  return safeText(text).replace(/[\n\t]+/g, ' ')
}

/** Matches nearly every text. The other pattern uses Unicode and takes milliseconds to compile. */
const ordinary = /^[\t\n\u0020-\u007e]*$/

// C0 without \t and \n, DEL, C1; line and paragraph separator; soft hyphen, Arabic letter mark,
// Hangul and Khmer fillers, Mongolian vowel separator; zero-width characters, bidirectional marks,
// embeddings, overrides and isolates; invisible operators; BOM; interlinear annotation; noncharacters,
// which XML forbids; variation selector supplement; tags; lone surrogates. Joiners inside emoji and
// ordinary variation selectors stay: a terminal needs them to draw the right glyphs.
const invisible =
  '[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5' +
  '\\u180e\\u200b\\u200c\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ufeff\\uffa0' +
  '\\ufff0-\\ufffb\\ufffe\\uffff\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}]' +
  '|\\p{Surrogate}|(?<!\\p{Extended_Pictographic}\\ufe0f?|\\p{Emoji_Modifier})\\u200d'
const dangerous = new RegExp(invisible, 'u')
const dangerousAll = new RegExp(invisible, 'gu')

function escape(character: string): string {
  const code = character.codePointAt(0) ?? 0
  const digits = code.toString(16)
  return code < 0x100 ? `\\x${digits.padStart(2, '0')}` : `\\u{${digits}}`
}

/** Returns the terminal columns of a text on one line: two for a wide character and an emoji. */
export function columnsOf(text: string): number {
  if (narrow.test(text)) return text.length
  let columns = 0
  for (const { segment } of graphemesOf(text)) columns += columnsOfGrapheme(segment)
  return columns
}

/** Cuts a text to `columns`, with `…` at the end; never cuts through a character. */
export function cutToColumns(text: string, columns: number): string {
  if (narrow.test(text)) {
    return text.length <= columns
      ? text
      : withEllipsis(text.slice(0, Math.max(0, columns - 1)), columns)
  }
  let cutIndex = 0
  let width = 0
  for (const { segment, index } of graphemesOf(text)) {
    width += columnsOfGrapheme(segment)
    if (width > columns) return withEllipsis(text.slice(0, cutIndex), columns)
    if (width < columns) cutIndex = index + segment.length
  }
  return text
}

export function padToColumns(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - columnsOf(text)))
}

function withEllipsis(text: string, columns: number): string {
  return columns < 1 ? '' : `${text.trimEnd()}…`
}

/** Matches nearly every text, including Latin letters, `…` and our marks: each character is one column. */
const narrow = /^[\u0020-\u007e\u00a0-\u00ac\u00ae-\u024f\u2010-\u2027→─-▟▸✓✗⊘○]*$/

let segmenter: Intl.Segmenter | undefined

function graphemesOf(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' })
  return segmenter.segment(text)
}

function columnsOfGrapheme(grapheme: string): number {
  if (wide.test(grapheme)) return 2
  return zeroWidth.test(grapheme) ? 0 : 1
}

// The wide and fullwidth blocks of Unicode Standard Annex 11, and characters that are drawn as an emoji.
const wide = new RegExp(
  '[\\u1100-\\u115f\\u2e80-\\u303e\\u3041-\\ua4cf\\ua960-\\ua97c\\uac00-\\ud7a3\\uf900-\\ufaff' +
    '\\ufe10-\\ufe19\\ufe30-\\ufe6f\\uff01-\\uff60\\uffe0-\\uffe6' +
    '\\u{16fe0}-\\u{18cff}\\u{1b000}-\\u{1b2ff}\\u{20000}-\\u{3fffd}]' +
    '|\\p{Emoji_Presentation}|\\p{Emoji}\\ufe0f',
  'u',
)
const zeroWidth = /^[\p{Mn}\p{Me}\p{Cf}\p{Cc}]+$/u

/** Prepares text from a skill for a table cell: one line, safe, cut to `width` columns. */
export function cell(text: string, width: number): string {
  return cutToColumns(safeLine(text).trim(), width)
}

/** Lines of text; `false` and undefined are left out. */
export type Lines = readonly (string | false | undefined)[]

/** Joins lines, each with a newline. */
export function linesText(lines: Lines): string {
  return lines
    .filter((line) => typeof line === 'string')
    .map((line) => `${line}\n`)
    .join('')
}

/** Inserts a space into text that a GitHub runner reads as a command: `::` at the start of a line, and `##[`. */
export function withoutGithubCommands(text: string): string {
  return text.replaceAll(/^([^\S\r\n\u2028\u2029]*:)(?=:)/gm, '$1 ').replaceAll(/##(?=\[)/g, '## ')
}

/** Returns JSON in which characters with an effect on a terminal or a GitHub runner are escapes. */
export function jsonText(value: unknown, indent?: number): string {
  return JSON.stringify(value, undefined, indent).replaceAll(
    /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]|(?<=##)\[/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** Formats a number as `12,345`, the same in every locale. */
export function count(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ',')
}

export function amount(value: number, noun: string): string {
  return `${count(value)} ${noun}${value === 1 ? '' : 's'}`
}

/** Formats a size as `120 B`, `3.1 KB` or `4.2 MB`. */
export function bytes(size: number): string {
  if (size < 1000) return `${size} B`
  if (size < 1_000_000) return `${(size / 1000).toFixed(1)} KB`
  return `${(size / 1_000_000).toFixed(1)} MB`
}

/** Estimates tokens without a tokenizer: four UTF-16 code units are one token, rounded up. */
export function estimateTokens(text: string): number {
  return Math.ceil(text.length / 4)
}

/**
 * Removes these characters from the end of a text. An expression such as `/[ab]+$/` would read a long run
 * again from each of its characters; this function reads it once.
 */
export function withoutEnd(text: string, characters: string): string {
  let end = text.length
  while (end > 0 && characters.includes(text.charAt(end - 1))) end--
  return text.slice(0, end)
}

/** Trims a text and cuts it to `length` characters, with `…` at the end. */
export function cutText(text: string, length: number): string {
  if (text.length <= length) return text.trim()
  const start = text.trimStart().slice(0, length - 1)
  // Removes half of a character with two code units.
  return `${start.replace(/[\uD800-\uDBFF]$/, '').trimEnd()}…`
}

/**
 * Cuts a text to `length` characters, with the number of missing ones: `… (12 more characters)`. `more` is
 * added to that note.
 */
export function cutWithCount(text: string, length: number, more = ''): string {
  if (text.length <= length) return text
  // Removes half of a character with two code units.
  const start = text.slice(0, length).replace(/[\uD800-\uDBFF]$/, '')
  return `${start}… (${text.length - start.length} more characters${more})`
}

/** Cuts a text before its last blanks, which may be its end. A single word stays unchanged. */
export function withoutLastWord(text: string): string {
  let end = text.length
  while (end > 0 && text.charAt(end - 1).trim() !== '') end--
  return end === 0 ? text : text.slice(0, end).trimEnd()
}

/**
 * Returns the candidate that `word` probably means, or undefined if none is similar: at most a third of the
 * word's characters may differ (insertions, deletions, replacements, swaps). Case, and `_` instead of `-`,
 * make no difference. The first of several equally similar candidates takes precedence.
 */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  const foldedWord = fold(word)
  let best: string | undefined
  let bestDistance = Math.max(1, Math.floor(foldedWord.length / 3)) + 1
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - foldedWord.length) >= bestDistance) continue
    const distance = editDistance(foldedWord, fold(candidate))
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

export function didYouMean(word: string, candidates: Iterable<string>): string {
  const suggestion = nearest(word, candidates)
  return suggestion === undefined ? '' : `Did you mean ${suggestion}?`
}

function fold(word: string): string {
  return word.slice(0, 64).toLowerCase().replaceAll('_', '-')
}

export function editDistance(a: string, b: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row++) {
    const current = [row]
    for (let column = 1; column <= b.length; column++) {
      const isSame = a[row - 1] === b[column - 1]
      let cost = Math.min(
        at(last, column) + 1,
        at(current, column - 1) + 1,
        at(last, column - 1) + (isSame ? 0 : 1),
      )
      const isSwap = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
      if (row > 1 && column > 1 && isSwap) cost = Math.min(cost, at(beforeLast, column - 2) + 1)
      current.push(cost)
    }
    beforeLast = last
    last = current
  }
  return at(last, b.length)
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Infinity
}

/** Quotes a word for a shell, if necessary. The printer escapes control characters. */
export function shellWord(word: string): string {
  const isPlain = /^[\w@%+:,./][\w@%+=:,./-]*$|^--?[A-Za-z][a-z-]*$/.test(word)
  return isPlain ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`
}

/**
 * Removes the byte-order mark that some editors write at the start of a file. The mark is not a part of the
 * content, and it makes JSON, TOML and lists of variables invalid.
 */
export function withoutMark(text: string): string {
  return text.startsWith('\ufeff') ? text.slice(1) : text
}

/** Returns the line and column of an offset in a text, both from 1; columns count UTF-16 units. */
export type TextPlaces = (offset: number) => { line: number; column: number }

/** Returns a function for the places in one text. The lines are counted only once. */
export function placesIn(text: string): TextPlaces {
  let starts: number[] | undefined
  return (offset) => {
    starts ??= lineStarts(text)
    let low = 0
    let high = starts.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((starts[middle] ?? 0) <= offset) low = middle
      else high = middle - 1
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 }
  }
}

function lineStarts(text: string): number[] {
  const starts = [0]
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  return starts
}
