import { variablePattern, variableValue, type VariableValues } from './variables.ts'

interface SubstitutionInput {
  argumentText: string
  argumentNames: readonly string[]
  /** Values of the clients' variables; default none. */
  variables?: VariableValues | undefined
}

export interface Substitution {
  text: string
  /**
   * Whether the text has a place for the arguments: for all of them, or for the first ones in
   * order.
   */
  used: boolean
  /** Arguments without a placeholder. */
  unplaced: readonly string[]
  /** Placeholders that became empty because the argument is missing. */
  emptied: readonly string[]
  /** Variables that stay unchanged because they have no value. */
  unknown: readonly string[]
}

/**
 * Inserts arguments and clients' variables into the body of a skill, in one pass: inserted text is
 * never scanned.
 *
 * `$ARGUMENTS` is the whole text; `$ARGUMENTS[N]` and `$N` (one or two digits) count from 0; `$name` is a
 * declared argument; a missing one is empty. A backslash before a placeholder makes it plain text and
 * disappears; a doubled backslash does not. `$HOME`, `$5.00`, `$100` and `$10k` are not placeholders. A
 * skill that declares no arguments, has no `$ARGUMENTS` and gets no argument keeps its `$1` unchanged.
 *
 * @example substituteArguments('Fix $0.', { argumentText: '"a b" c', argumentNames: [] }).text
 * // 'Fix a b.'
 */
export function substituteArguments(
  body: string,
  { argumentText, argumentNames, variables = {} }: SubstitutionInput,
): Substitution {
  const values = splitArguments(argumentText)
  const declaredNames = new Set(
    argumentNames.filter((name) => argumentNamePattern.test(name) && name !== reservedArgumentName),
  )
  const positionsCount =
    argumentNames.length > 0 || argumentText.trim() !== '' || allArguments.test(body)
  const placedIndexes = new Set<number>()
  const emptied = new Set<string>()
  const unknown = new Set<string>()
  let isWhole = false
  const argumentAt = (index: number, placeholder: string): string => {
    const value = values[index]
    if (value === undefined) emptied.add(placeholder)
    else placedIndexes.add(index)
    return value ?? ''
  }
  const text = body.replace(placeholders, (match: string, ...groups: unknown[]) => {
    const start = match.search(/[${]/)
    const slashes = match.slice(0, start)
    const placeholder = match.slice(start)
    const [, index, position, word, variable] = groups
    if (typeof variable === 'string') {
      if (slashes.length % 2 === 1) return match.slice(1)
      const value = variableValue(variable, variables)
      if (value === undefined) unknown.add(variable)
      return slashes + (value ?? variable)
    }
    const name = typeof word === 'string' ? longestName(word, declaredNames) : undefined
    if (typeof word === 'string' && name === undefined) return match
    if (slashes.length % 2 === 1) return match.slice(1)
    if (typeof position === 'string' && !positionsCount) return match
    if (name !== undefined) {
      const value = argumentAt(argumentNames.indexOf(name), `$${name}`)
      return slashes + value + placeholder.slice(1 + name.length)
    }
    const selector = index ?? position
    if (typeof selector === 'string') return slashes + argumentAt(Number(selector), placeholder)
    isWhole = true
    return slashes + argumentText
  })
  const unplaced = isWhole ? [] : values.filter((_, index) => !placedIndexes.has(index))
  const isInOrder = placedIndexes.size > 0 && Math.max(...placedIndexes) < placedIndexes.size
  const isUsed = isWhole || isInOrder
  return { text, used: isUsed, unplaced, emptied: [...emptied], unknown: [...unknown] }
}

/**
 * Calls {@link substituteArguments}, and appends the arguments if the body has no place for them.
 */
export function applyArguments(body: string, input: SubstitutionInput): Substitution {
  const substitution = substituteArguments(body, input)
  if (substitution.used || input.argumentText.trim() === '') return substitution
  const text = `${substitution.text.trimEnd()}\n\nARGUMENTS: ${input.argumentText}`
  return { ...substitution, text, unplaced: [] }
}

/**
 * Returns positions in a body that are probably not placeholders: awk's `$1`, or a price such as
 * `$5`. A skill that takes arguments declares them, has an `argument-hint`, or has `$ARGUMENTS` and
 * positions that begin with `$0`.
 */
export function doubtfulPositions(
  body: string,
  { names, hint = '' }: { names: readonly string[]; hint?: string | undefined },
): { placeholder: string; line: number }[] {
  const positions = [...body.matchAll(placeholders)].flatMap((match) => {
    const [placeholder, slashes = '', , position] = match
    if (position === undefined || slashes.length % 2 === 1) return []
    const line = body.slice(0, match.index).split('\n').length
    return [{ placeholder: placeholder.slice(slashes.length), position: Number(position), line }]
  })
  const hintLength = hint.split(/\s+/).filter((word) => word !== '').length
  let declaredCount = Math.max(names.length, hintLength)
  if (declaredCount === 0 && allArguments.test(body)) {
    while (positions.some(({ position }) => position === declaredCount)) declaredCount++
  }
  const doubtful = positions.filter(({ position }) => position >= declaredCount)
  const first = new Map(doubtful.toReversed().map((one) => [one.placeholder, one]))
  return [...first.values()]
    .toSorted((a, b) => a.line - b.line || a.position - b.position)
    .map(({ placeholder, line }) => ({ placeholder, line }))
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

/** Quotes a word if {@link splitArguments} would otherwise split or change it. */
export function quoteArgument(word: string): string {
  if (word !== '' && !/[\s'"\\]/.test(word)) return word
  return `"${word.replace(/["\\$`]/g, String.raw`\$&`)}"`
}

/**
 * Joins words of a command line to the text that a user would type after a skill's name. A single
 * word is that text. Of several words, those that would be split or changed are quoted.
 */
export function argumentText(words: readonly string[]): string {
  const [only] = words
  return words.length === 1 && only !== undefined ? only : words.map(quoteArgument).join(' ')
}

/**
 * Groups: backslashes, N of `$ARGUMENTS[N]`, N of `$N`, a word that may begin with a name, a
 * variable.
 */
const placeholders = new RegExp(
  String.raw`(?<!\\)(\\*)(?:\$(?:ARGUMENTS(?:\[(\d+)\]|(?![A-Za-z0-9_]))|(\d{1,2})(?![A-Za-z0-9_]|[.,]\d)|([A-Za-z_][A-Za-z0-9_-]*))|(${variablePattern.source}))`,
  'g',
)

/**
 * Returns the longest declared name that equals the word or its part before a hyphen: `$a-b` may be
 * `$a`.
 */
function longestName(word: string, declaredNames: ReadonlySet<string>): string | undefined {
  if (declaredNames.size === 0) return undefined
  for (let end = Math.min(word.length, longestArgumentName); end > 0; end--) {
    const isEnd = end === word.length || word[end] === '-'
    if (isEnd && declaredNames.has(word.slice(0, end))) return word.slice(0, end)
  }
  return undefined
}

const allArguments = /(?<!\\)(?:\\\\)*\$ARGUMENTS(?![A-Za-z0-9_])/

const longestArgumentName = 64

export const argumentNamePattern: RegExp = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/

/** `$ARGUMENTS` is the whole text and cannot be declared. */
export const reservedArgumentName = 'ARGUMENTS'
