/**
 * The text without those of these characters that it ends with. An expression such as `/[ab]+$/`
 * goes through a long run again from each of its places; this reads it once.
 */
export function withoutEnd(text: string, characters: string): string {
  let end = text.length
  while (end > 0 && characters.includes(text.charAt(end - 1))) end--
  return text.slice(0, end)
}

/** The text up to its last blanks, which may be its end; a text of one word is left as it is. */
export function withoutLastWord(text: string): string {
  let end = text.length
  while (end > 0 && text.charAt(end - 1).trim() !== '') end--
  return end === 0 ? text : text.slice(0, end).trimEnd()
}
