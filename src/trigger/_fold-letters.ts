/** Letters that have a third form outside ASCII (the Kelvin sign, the long s) have no exact spelling. */
const withThirdForm = /[ks]/i

/**
 * A pattern that begins with `(?i)` without it, each letter in brackets with both its forms. Only for
 * letters, digits and blanks: undefined for anything else.
 */
export function foldLetters(source: string): string | undefined {
  const written = /^(\^?)\(\?i\)(\^?[A-Za-z0-9 /_:,-]+\$?)$/.exec(source)
  const [, anchor = '', text = ''] = written ?? []
  if (written === null || withThirdForm.test(text)) return undefined
  const folded = text.replace(
    /[A-Za-z]/g,
    (letter) => `[${letter.toUpperCase()}${letter.toLowerCase()}]`,
  )
  return anchor + folded
}
