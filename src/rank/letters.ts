import { wordsOf } from './words.ts'

/** Returns how like the letters of a sentence are to those of the text at a position, 0 to 1. */
export type LetterLikeness = (sentence: string) => (at: number) => number

const lettersInGroup = 3

/**
 * Compares sentences and texts by groups of three letters within words, so words that share a part are alike:
 * `screenshot` and `snapshot`. Rare groups count more, and a long text does not count more than a
 * short one. A text is read when it is first compared.
 *
 * @param holdersOf each word of the texts and the number of texts that have it
 */
export function prepareLetters(
  texts: readonly string[],
  holdersOf: Iterable<readonly [word: string, holders: number]>,
): LetterLikeness {
  const holders = new Map<string, number>()
  for (const [word, count] of holdersOf) {
    for (const group of groupsOf(word)) holders.set(group, (holders.get(group) ?? 0) + count)
  }
  const rarityOf = (group: string): number =>
    Math.log(1 + texts.length / ((holders.get(group) ?? 0) + 0.5))
  const vectors = texts.map((): ReadonlyMap<string, number> | undefined => undefined)
  const vectorAt = (at: number): ReadonlyMap<string, number> =>
    (vectors[at] ??= vectorOf(texts[at] ?? '', rarityOf))
  return (sentence) => {
    const query = [...vectorOf(sentence, rarityOf)]
    return (at) => {
      const vector = vectorAt(at)
      return query.reduce((sum, [group, part]) => sum + part * (vector.get(group) ?? 0), 0)
    }
  }
}

/** Returns the parts of a text's groups, as a vector of length 1. */
function vectorOf(text: string, rarityOf: (group: string) => number): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const word of wordsOf(text)) {
    for (const group of groupsOf(word.text)) counts.set(group, (counts.get(group) ?? 0) + 1)
  }
  let square = 0
  for (const [group, times] of counts) {
    const weight = (1 + Math.log(times)) * rarityOf(group)
    counts.set(group, weight)
    square += weight ** 2
  }
  const length = Math.sqrt(square)
  for (const [group, weight] of counts) counts.set(group, weight / length)
  return counts
}

/** Returns the groups of letters of a word, whose begin and end count as letters. */
function groupsOf(word: string): string[] {
  const letters = ` ${word} `
  return Array.from({ length: letters.length - lettersInGroup + 1 }, (_, start) =>
    letters.slice(start, start + lettersInGroup),
  )
}
