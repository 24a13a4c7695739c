import { stem } from './stem.ts'
import { stopWords } from './stop-words.ts'

/**
 * The words of a name or a sentence as they are compared: lowercase, without accents, camel and
 * snake case split, grammar left out, stemmed. Scripts without spaces give one word a character.
 */
export function scoredWords(text: string): string[] {
  return contentWords(text).map(stemmed)
}

/** The same before they are stemmed. */
export function contentWords(text: string): string[] {
  const words: string[] = []
  const plain = withoutTypography(text)
  if (isAscii(plain)) {
    // Most tokens of a registry recur: each is split once.
    const tokens = plain.match(asciiToken) ?? []
    for (let at = 0; at < tokens.length; at++) {
      const token = tokens[at] ?? ''
      const found = tokenWords.get(token) ?? learnToken(token)
      if (found.length === 1 && found[0] !== undefined) words.push(found[0])
      else words.push(...found)
    }
    return words
  }
  for (const word of plainWords(plain)) if (!stopWords.has(word)) words.push(word)
  return words
}

/** The words as they stand in the text, lowercase, grammar included. */
export function plainWords(text: string): readonly string[] {
  const typed = withoutTypography(text)
  if (isAscii(typed))
    return (
      typed
        .replace(hump, '$1 ')
        .toLowerCase()
        .match(/[a-z0-9]+/g) ?? []
    )
  return withoutAccents(typed).replace(hump, '$1 ').toLowerCase().match(word) ?? []
}

/** Empty for grammar. */
export function scoredForm(word: string): string {
  return stopWords.has(word) ? '' : stemmed(word)
}

/** Keeps at least the first three letters of a word, or the whole of a shorter one. */
export function stemmed(word: string): string {
  return stem(word.slice(0, longestWord))
}

const asciiToken = /[A-Za-z0-9]+/g
/** `list|Pull`, `HTTP|Request`, `v2|Api`. */
const hump = /([a-z0-9](?=[A-Z])|[A-Z](?=[A-Z](?!s\b)[a-z]))/g
const word =
  /[a-z0-9]+|[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|[\p{L}\p{N}\p{M}]+?(?=[a-z0-9\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|[^\p{L}\p{N}\p{M}]|$)/gu

const longestWord = 64
const tokenWords = new Map<string, readonly string[]>()
const mostTokens = 50_000

function learnToken(token: string): readonly string[] {
  const lower = token.toLowerCase()
  // Most tokens are one word, and are spared the search for humps.
  const isOne = token === lower || token.slice(1) === lower.slice(1)
  const parts = isOne ? [lower] : plainWords(token)
  const words = parts.filter((word) => !stopWords.has(word))
  if (tokenWords.size >= mostTokens) tokenWords.clear()
  tokenWords.set(token, words)
  return words
}

function isAscii(text: string): boolean {
  return !/[^\0-\x7f]/.test(text)
}

/** Quotes, dashes, dots and spaces of typesetting: they would make a plain text a special one. */
function withoutTypography(text: string): string {
  return isAscii(text) ? text : text.replace(/[\u00a0\u00b7\u2010-\u2027\u202f]/g, ' ')
}

function withoutAccents(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .normalize('NFC')
}
