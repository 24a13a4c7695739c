/**
 * The part of an English word that its plural, its verb forms and its nouns share: `calculat` for
 * calculates, calculated, calculation, calculator. Light: what is too short or no plain word stays.
 */
export function stem(word: string): string {
  if (word.length < 4 || !isPlain(word)) return word
  const singular = withoutPlural(word)
  for (const [suffix, replacement, minimum] of suffixes) {
    if (singular.length - suffix.length >= minimum && singular.endsWith(suffix)) {
      return withoutEnd(undouble(singular.slice(0, -suffix.length), suffix) + replacement)
    }
  }
  return withoutEnd(singular)
}

/** First match takes precedence; `minimum` letters must remain. */
const suffixes: readonly (readonly [suffix: string, replacement: string, minimum: number])[] = [
  ['ization', 'iz', 3],
  ['isation', 'is', 3],
  ['ation', 'at', 3],
  ['ator', 'at', 3],
  ['ment', '', 4],
  ['ing', '', 4],
  ['ed', '', 4],
]

// Written without patterns: every word of every tool passes here at the start of a command.

function isPlain(word: string): boolean {
  for (let at = 0; at < word.length; at++) {
    const code = word.charCodeAt(at)
    if (code < 97 || code > 122) return false
  }
  return true
}

function withoutPlural(word: string): string {
  if (!word.endsWith('s')) return word
  if (word.endsWith('ies') && word.length > 4) return word.slice(0, -2)
  if (word.endsWith('es') && sibilants.some((end) => word.endsWith(end))) return word.slice(0, -2)
  return 'sui'.includes(word.charAt(word.length - 2)) ? word : word.slice(0, -1)
}

const sibilants: readonly string[] = ['sses', 'xes', 'ches', 'shes', 'zzes']

/** `plan` of planning, but `call` of calling. */
function undouble(start: string, suffix: string): string {
  if (suffix !== 'ing' && suffix !== 'ed') return start
  const last = start.charAt(start.length - 1)
  const isDouble = last === start.charAt(start.length - 2) && 'bdgmnprt'.includes(last)
  return isDouble ? start.slice(0, -1) : start
}

/** One end for `query` and `queries`, `movie` and `movies`. */
function withoutEnd(word: string): string {
  if (word.length < 4) return word
  if (word.endsWith('e')) return word.slice(0, -1)
  const isLong = word.endsWith('y') && !'aeiou'.includes(word.charAt(word.length - 2))
  return isLong ? `${word.slice(0, -1)}i` : word
}
