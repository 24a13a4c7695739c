/** Longer patterns are parsed: their program may be too large. */
const longest = 150

const plain = String.raw`[\w /:,;!@#%&=~"'<>-]`
const set = String.raw`\[\^?(?:a-z|A-Z|0-9|[\w /.:,])+-?\]`
const sign = '[*+?]?'
const group = String.raw`\((?:${plain}${sign}|${set}${sign}|\.${sign}|\|)+\)`
const simple = new RegExp(
  String.raw`^\^?(${plain}{3,})(?:${plain}${sign}|${set}${sign}|\.${sign}|${group}${sign})*\$?$`,
)

/**
 * The text that a pattern of a simple shape begins with and that every match contains; undefined for
 * a pattern that the parser must look at. Such a pattern is certainly accepted. One native test, for
 * the thousands of patterns that a prompt has nothing to do with.
 */
export function quickRequiredText(source: string): string | undefined {
  return source.length > longest ? undefined : simple.exec(source)?.[1]
}
