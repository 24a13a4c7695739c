/**
 * A line that a user may paste into a terminal, of words of which skills and tools have decided
 * some: each is one word there, whatever it holds.
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
