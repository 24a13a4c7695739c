/** Words that say nothing about what a tool is for. */
const emptyWords: ReadonlySet<string> = new Set(
  (
    'a about all also an and any are as at be been but by can could do does each either for from ' +
    'given has have how if in instead into is it its like may more must new no not of on one only ' +
    'or other out over per same should so some specific such than that the their them then there ' +
    'these they this those to two up use used user using via was we were what when where whether ' +
    'which while will with within without you your ' +
    'mcp server tool tools service param parameter parameters argument return returns returned ' +
    'arg args available current detail detailed different following information kind ' +
    'multiple provided single specified usage various ' +
    'default optional required string number boolean array object true false null value values ' +
    'example note name id type format e.g i.e etc'
  ).split(' '),
)

/** Verbs that tools of every kind begin with. */
const commonVerbs: ReadonlySet<string> = new Set(
  (
    'add apply batch calculate call cancel check close compare compute convert count create delete ' +
    'describe edit execute export fetch filter find generate get handle import insert inspect list ' +
    'load lookup make manage move open perform process provide query read remove resolve retrieve ' +
    'run save search select set show start stop submit update upload validate view wait write'
  ).split(' '),
)

/** The words of a name or a sentence, in order: lowercase, camel and snake case split, singular. */
export function wordsOf(text: string): string[] {
  const split = text
    .slice(0, 2_000)
    .normalize('NFKC')
    .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu)
  return (split ?? []).filter((word) => word.length <= 40).map(singular)
}

/** {@link wordsOf} without the empty words and the verbs of every tool. */
export function telling(words: readonly string[]): string[] {
  return words.filter(
    (word) =>
      word.length > 1 &&
      word.length <= 24 &&
      !/^\d+$/.test(word) &&
      !emptyWords.has(word) &&
      !commonVerbs.has(word),
  )
}

function singular(word: string): string {
  if (word.length > 4 && word.endsWith('ies')) return `${word.slice(0, -3)}y`
  if (word.length > 4 && /(?:ss|x|ch|sh)es$/.test(word)) return word.slice(0, -2)
  if (word.length > 3 && word.endsWith('s') && !/(?:ss|us|is)$/.test(word)) return word.slice(0, -1)
  return word
}
