import { quoteArgument } from '../skill/index.ts'

/**
 * Words of a command line as the text that a person would have typed after a skill's name. One word
 * is that text itself; of several, those that would fall apart or be read differently are quoted.
 */
export function argumentText(words: readonly string[]): string {
  const [only] = words
  return words.length === 1 && only !== undefined ? only : words.map(quoteArgument).join(' ')
}
