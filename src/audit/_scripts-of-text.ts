/** A word with letters that belong to different scripts. */
export interface MixedWord {
  word: string
  scripts: readonly string[]
}

/** Scripts whose letters are taken for one another. Others mix in ordinary names. */
const alike = [
  ['Latin', /\p{Script=Latin}/u],
  ['Cyrillic', /\p{Script=Cyrillic}/u],
  ['Greek', /\p{Script=Greek}/u],
  ['Armenian', /\p{Script=Armenian}/u],
  ['Cherokee', /\p{Script=Cherokee}/u],
] as const

/** The first word of a name whose letters come from several scripts that look alike. */
export function mixedScripts(name: string): MixedWord | undefined {
  if (/^[\0-\x7f]*$/.test(name)) return undefined
  for (const word of name.split(/[^\p{Letter}\p{Mark}]/u)) {
    const scripts = alike.filter(([, pattern]) => pattern.test(word)).map(([script]) => script)
    if (scripts.length > 1) return { word, scripts }
  }
  return undefined
}
