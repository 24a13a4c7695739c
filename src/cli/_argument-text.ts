/**
 * Words of a command line as the text that a person would have typed after a skill's name. One word
 * is that text itself; of several, those that would fall apart or be read differently are quoted.
 */
export function argumentText(words: readonly string[]): string {
  const [only] = words
  return words.length === 1 && only !== undefined ? only : words.map(quote).join(' ')
}

function quote(word: string): string {
  if (word !== '' && !/[\s'"\\]/.test(word)) return word
  return `"${word.replace(/["\\$`]/g, String.raw`\$&`)}"`
}
