import { stem as porter2 } from 'porter2'

/** Longer texts are cut: no user types more into one request. */
const longestText = 100_000

export interface Word {
  text: string
  stem: string
}

/** Returns the words of a text without grammar, names split at case and underscores, stemmed. */
export function wordsOf(text: string): Word[] {
  return comparedWords(text).flatMap((word) =>
    word.length > 60 || stopWords.has(word) ? [] : [{ text: word, stem: stemOf(word) }],
  )
}

/**
 * Returns the words for comparing texts, including grammar. A script without blanks gives its pairs of neighbouring
 * characters: a single one has no meaning of its own, and the common ones are grammar.
 */
export function comparedWords(text: string): string[] {
  return text
    .slice(0, longestText)
    .split(unspacedPattern)
    .flatMap((part, at) => (at % 2 === 0 ? plainWords(part) : characterPairs(plainWords(part))))
}

function characterPairs(characters: readonly string[]): readonly string[] {
  if (characters.length < 2) return characters
  return characters.slice(1).map((character, at) => `${characters[at]}${character}`)
}

/** Returns the two characters of a pair from a script without blanks; of another word none. */
export function charactersOf(word: string): readonly string[] {
  return pairPattern.test(word) ? Array.from(word) : []
}

/** Returns every word of a text in lower case, including grammar. */
export function plainWords(text: string): string[] {
  const normalizedText = text
    .slice(0, longestText)
    .normalize('NFKC')
    .replaceAll(/['’](?=\p{L})/gu, '')
    .replaceAll(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2')
    .replaceAll(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .toLowerCase()
  return normalizedText.match(wordPattern) ?? []
}

/** Returns capitalised words inside sentences: names of products and people. */
export function properNames(text: string): string[] {
  return [...new Set(text.slice(0, longestText).match(namePattern))]
}

const namePattern = /(?<=[\p{L}\p{N},;:)"'’] )\p{Lu}[\p{L}\p{N}]+/gu
const unspaced = '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}'
const unspacedPattern = new RegExp(`([${unspaced}]+)`, 'u')
const pairPattern = new RegExp(`^[${unspaced}]{2}$`, 'u')
const wordPattern = new RegExp(`[${unspaced}]|[\\p{L}\\p{N}\\p{M}]+`, 'gu')

const stems = new Map<string, string>()

export function stemOf(word: string): string {
  const knownStem = stems.get(word)
  if (knownStem !== undefined) return knownStem
  if (stems.size > 50_000) stems.clear()
  const stem = /^[a-z]{3,}$/.test(word) ? porter2(word) : word
  stems.set(word, stem)
  return stem
}

export function termsOf(stems: readonly string[]): string[] {
  return stems.flatMap((stem, at) => (at === 0 ? [stem] : [stem, `${stems[at - 1]} ${stem}`]))
}

/** Returns the sentences of a text; a line break and a semicolon also end one. */
export function sentencesOf(text: string): string[] {
  return text
    .slice(0, longestText)
    .split(/(?<=[.!?])\s+|[\n;。]+/)
    .filter((sentence) => /[\p{L}\p{N}]/u.test(sentence))
}

/** Grammar and polite phrases, compared before stemming. */
export const stopWords: ReadonlySet<string> = new Set(
  [
    'a an the this that these those it its itself there here',
    'i me my mine myself you your yours yourself we us our ours ourselves they them their theirs',
    'he him his she her hers who whom whose which what when where why how',
    'is are was were be been being am do does did doing done has have had having',
    'can could shall should will would may might must ought',
    'to of in on for at by from with without into onto upon over under within between among',
    'about around as than then so such very too also just only even still yet again ever together',
    'and or but if because while although though unless until since whether nor either neither both',
    'not no any some all each every many much more most few less least other another same own',
    'im ive id ill dont cant don doesn doesnt didn didnt isn isnt aren couldn wouldn won wont s t ve re ll d m',
    'please kindly thanks thank hello hi hey dear ok okay yes well want need like looking help let lets',
    'wondering give know make use using used get something anything',
    'wanted wants needed needs likes looks helps helping able hoping trying try tell gave given take sure',
    'gets getting got come coming everything someone anyone thing things way ways kind sort lot lots bit',
    'really quite maybe perhaps possible possibly currently good best better great assist assistance',
    'provide provides provided providing specific specifically particular certain various different',
    'including regarding related relevant tool tools information',
  ]
    .join(' ')
    .split(' '),
)
