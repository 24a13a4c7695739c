/**
 * A command line to paste into a terminal. Each word is quoted, since skills and tools choose some
 * of them.
 */
export function typedLine(...words: readonly string[]): string {
  return words.map(quoted).join(' ')
}

function quoted(word: string): string {
  return /^[\w@%+:,./][\w@%+=:,./-]*$|^--?[a-z][a-z-]*$/.test(word)
    ? word
    : `'${word.replaceAll("'", "'\\''")}'`
}

/** The largest question of the page, in bytes of JSON: a pasted prompt. */
export const largestQuestion = 262_144
