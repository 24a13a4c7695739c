/** A word as a shell reads it back. Control characters are for the printer to make visible. */
export function shellWord(word: string): string {
  const isPlain = /^[\w@%+:,./][\w@%+=:,./-]*$|^--?[A-Za-z][a-z-]*$/.test(word)
  return isPlain ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`
}
