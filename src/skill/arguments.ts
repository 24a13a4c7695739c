interface SubstitutionInput {
  argumentText: string
  argumentNames: readonly string[]
}

/**
 * Puts arguments into the body of a skill, in one pass: text from an argument is never scanned.
 *
 * `$ARGUMENTS` is the whole text; `$ARGUMENTS[N]` and `$N` (one or two digits) count from 0; `$name`
 * is a declared argument; a missing one is empty. A backslash before a placeholder makes it plain
 * text and disappears; a doubled backslash does not. `$HOME`, `$5.00`, `$100` and `$10k` are no
 * placeholders. A skill that declares no arguments, has no `$ARGUMENTS` and was given none keeps its
 * `$1` as it stands.
 *
 * @example substituteArguments('Fix $0.', { argumentText: '"a b" c', argumentNames: [] }).text
 * // 'Fix a b.'
 * @returns `used`: whether the body had a placeholder.
 */
export function substituteArguments(
  body: string,
  { argumentText: given, argumentNames: names }: SubstitutionInput,
): { text: string; used: boolean } {
  const values = splitArguments(given)
  const declared = new Set(
    names.filter((name) => argumentNamePattern.test(name) && name !== reservedArgumentName),
  )
  const positionsCount = names.length > 0 || given.trim() !== '' || allArguments.test(body)
  let used = false
  const text = body.replace(placeholders, (written: string, ...groups: unknown[]) => {
    const start = written.indexOf('$')
    const slashes = written.slice(0, start)
    const [, index, position, word] = groups
    const name = typeof word === 'string' ? longestName(word, declared) : undefined
    if (typeof word === 'string' && name === undefined) return written
    if (slashes.length % 2 === 1) return written.slice(1)
    if (typeof position === 'string' && !positionsCount) return written
    used = true
    if (name !== undefined) {
      return slashes + (values[names.indexOf(name)] ?? '') + written.slice(start + 1 + name.length)
    }
    const wanted = index ?? position
    return slashes + (typeof wanted === 'string' ? (values[Number(wanted)] ?? '') : given)
  })
  return { text, used }
}

/** {@link substituteArguments}, and the arguments after the body where it has no place for them. */
export function applyArguments(body: string, input: SubstitutionInput): string {
  const { text, used } = substituteArguments(body, input)
  if (used || input.argumentText.trim() === '') return text
  return `${text.trimEnd()}\n\nARGUMENTS: ${input.argumentText}`
}

/**
 * Splits arguments as a shell does, without expanding anything: blanks separate, `'…'` is literal,
 * in `"…"` a backslash escapes `"`, `\`, `$` and a backtick, elsewhere a backslash escapes any
 * character. A quote that is not closed runs to the end.
 */
export function splitArguments(text: string): string[] {
  const words: string[] = []
  let word: string | undefined
  let quote = ''
  for (let index = 0; index < text.length; index++) {
    const character = text.charAt(index)
    const next = text.charAt(index + 1)
    const isEscaped = quote === '' || (quote === '"' && '"\\$`'.includes(next))
    if (character === '\\' && next !== '' && isEscaped) {
      word = (word ?? '') + next
      index++
    } else if (character === quote) quote = ''
    else if (quote === '' && (character === '"' || character === "'")) {
      quote = character
      word ??= ''
    } else if (quote === '' && /\s/.test(character)) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else word = (word ?? '') + character
  }
  if (word !== undefined) words.push(word)
  return words
}

/** A word as {@link splitArguments} reads it back: one that would fall apart is quoted. */
export function quoteArgument(word: string): string {
  if (word !== '' && !/[\s'"\\]/.test(word)) return word
  return `"${word.replace(/["\\$`]/g, String.raw`\$&`)}"`
}

/**
 * Words of a command line as the text that a user would have typed after a skill's name. One word
 * is that text itself; of several, those that would fall apart or be read differently are quoted.
 */
export function argumentText(words: readonly string[]): string {
  const [only] = words
  return words.length === 1 && only !== undefined ? only : words.map(quoteArgument).join(' ')
}

/** Groups: backslashes, N of `$ARGUMENTS[N]`, N of `$N`, a word that may begin with a name. */
const placeholders =
  /(?<!\\)(\\*)\$(?:ARGUMENTS(?:\[(\d+)\]|(?![A-Za-z0-9_]))|(\d{1,2})(?![A-Za-z0-9_]|[.,]\d)|([A-Za-z_][A-Za-z0-9_-]*))/g

/** The longest declared name that the word is, or begins with up to a hyphen: `$a-b` may be `$a`. */
function longestName(word: string, declared: ReadonlySet<string>): string | undefined {
  if (declared.size === 0) return undefined
  for (let end = Math.min(word.length, longestArgumentName); end > 0; end--) {
    const isEnd = end === word.length || word[end] === '-'
    if (isEnd && declared.has(word.slice(0, end))) return word.slice(0, end)
  }
  return undefined
}

const allArguments = /(?<!\\)(?:\\\\)*\$ARGUMENTS(?![A-Za-z0-9_])/

const longestArgumentName = 64

export const argumentNamePattern: RegExp = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/

/** `$ARGUMENTS` is the whole text and cannot be declared. */
export const reservedArgumentName = 'ARGUMENTS'
