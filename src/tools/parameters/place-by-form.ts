import { stopWords, stemOf } from '../../rank/words.ts'
import { coerceText } from './coerce.ts'
import type { Placing } from './map-parameters.ts'
import type { Parameter } from './parameter.ts'
import type { Token } from './reading.ts'
import type { SlotKind } from './slots.ts'

/** The forms that a schema can ask for: by its `format`, or by a word of the parameter's name. */
const forms: Partial<Record<SlotKind, { format?: RegExp; names: readonly string[] }>> = {
  url: { format: /^ur[il]/, names: ['url', 'uri', 'href', 'link', 'website', 'address'] },
  email: { format: /email/, names: ['email', 'mail', 'recipient'] },
  path: {
    format: /path/,
    names: ['path', 'file', 'filename', 'directory', 'dir', 'folder', 'root', 'cwd'],
  },
  date: {
    format: /^(?:date|time)/,
    names: ['date', 'time', 'datetime', 'timestamp', 'since', 'until', 'before', 'after', 'day'],
  },
  sql: { names: ['sql', 'query', 'statement'] },
}

/** Prepositions before a value, and the words of names that they stand for. */
const directions: readonly { before: readonly string[]; names: readonly string[] }[] = [
  { before: ['from', 'since', 'after'], names: ['from', 'source', 'src', 'old', 'start', 'since'] },
  {
    before: ['to', 'into', 'until', 'as'],
    names: ['to', 'destination', 'dest', 'target', 'new', 'end', 'until'],
  },
]

const order: readonly SlotKind[] = [
  'url',
  'email',
  'date',
  'path',
  'size',
  'number',
  'sql',
  'identifier',
  'quoted',
]

/**
 * Gives typed pieces and proper names to the parameters that take their form. Two pieces of one
 * form, or two parameters, need a word that says which is which; otherwise nothing is placed.
 */
export function placeByForm(placing: Placing): void {
  for (const kind of order) placeKind(placing, kind)
  placeProperName(placing)
  placeSearch(placing)
}

/** Names of parameters that take words as they are. */
const searchNames: readonly string[] = ['query', 'q', 'search', 'keyword', 'keywords', 'term']

/** `for react hooks`: the only words that the tool does not say, for the one text to search for. */
function placeSearch({ reading, open, take }: Placing): void {
  const { tokens, used, isKnown, text } = reading
  const isLeft = (token: Token): boolean => !used.has(token) && !isKnown(token)
  const from = tokens.findIndex(isLeft)
  const to = tokens.findLastIndex(isLeft)
  const words = tokens.slice(from, to + 1)
  const [first, last] = [words[0], words.at(-1)]
  const texts = open().filter(({ kind, words: name }) => {
    return kind === 'string' && name.some((word) => searchNames.includes(word))
  })
  const parameter = onlyOne(texts)
  if (from < 0 || first === undefined || last === undefined || parameter === undefined) return
  const isWhole = words.every(
    (token) => token.slot === undefined && (isLeft(token) || stopWords.has(token.text)),
  )
  const before = /\b(?:for|about|on)\s+(?:an?\s+|the\s+)?$/i.test(text.slice(0, first.start))
  if (isWhole && before)
    take(parameter, text.slice(first.start, last.end), 'the words to search for', words)
}

function placeKind(placing: Placing, kind: SlotKind): void {
  const free = (): Token[] =>
    placing.reading.tokens.filter(
      (token) => token.slot?.kind === kind && !placing.reading.used.has(token),
    )
  for (const token of free()) placeByDirection(placing, token)
  const tokens = free()
  const [first] = tokens
  if (first === undefined) return
  if (kind === 'size') {
    for (const token of tokens) placeSize(placing, token)
    return
  }
  const lists = candidates(placing, first).filter(({ items }) => items !== undefined)
  const single = candidates(placing, first).filter(({ items }) => items === undefined)
  const [list] = lists
  if (list !== undefined && lists.length === 1 && (tokens.length > 1 || single.length === 0)) {
    const text = JSON.stringify(tokens.map((token) => token.text))
    placing.take(list, text, 'by its form', tokens)
  } else if (tokens.length === 1) {
    const parameter = onlyOne(single)
    if (parameter !== undefined) takeForm(placing, parameter, first)
  }
}

/** The only one that is required, else the only one. */
function onlyOne(parameters: readonly Parameter[]): Parameter | undefined {
  const required = parameters.filter((one) => one.required)
  const [only, ...others] = required.length > 0 ? required : parameters
  return others.length === 0 ? only : undefined
}

function takeForm(placing: Placing, parameter: Parameter, token: Token): boolean {
  const isHost = token.slot?.kind === 'path' && isOf(parameter, 'url') && !isOf(parameter, 'path')
  const text = isHost ? `https://${token.text}` : token.text
  return placing.take(parameter, text, 'by its form', [token])
}

/** The open parameters that take a piece of this form, the more telling ones only. */
function candidates({ open }: Placing, { slot, text }: Token): readonly Parameter[] {
  const kind = slot?.kind ?? 'identifier'
  const accepting = open().filter((parameter) => {
    const one = parameter.items ?? parameter
    return one.choices.length === 0 && coerceText(text, one) !== undefined
  })
  if (kind === 'number') {
    const numbers = accepting.filter((one) => isNumeric(one.items ?? one))
    return numbers.length > 0 ? numbers : accepting.filter(isIdentity)
  }
  const texts = accepting.filter((one) => (one.items ?? one).kind === 'string')
  const isFile = kind === 'quoted' && /[/\\]|\.\w{1,5}$/.test(text) && !/\s{2}|\n/.test(text)
  const formed = texts.filter((one) => isOf(one, isFile ? 'path' : kind))
  if (formed.length > 0) return formed
  if (kind === 'path' && !text.includes('/')) {
    const addresses = texts.filter((one) => isOf(one, 'url'))
    if (addresses.length > 0) return addresses
  }
  const patterned = texts.filter(({ pattern }) => pattern !== undefined && matches(pattern, text))
  if (kind === 'identifier' && patterned.length > 0) return patterned
  const plain = texts.filter((one) => one.pattern === undefined && !hasForm(one))
  const isText = kind === 'quoted' || kind === 'identifier' || kind === 'sql'
  return isText ? plain : plain.filter((one) => one.required)
}

function isNumeric({ kind }: Parameter): boolean {
  return kind === 'number' || kind === 'integer'
}

function isIdentity({ words, required }: Parameter): boolean {
  return required && words.some((word) => word === 'id' || word === 'number')
}

function isOf({ words, format }: Parameter, kind: SlotKind): boolean {
  const form = forms[kind]
  if (form === undefined) return false
  if (format !== undefined && form.format !== undefined) return form.format.test(format)
  return words.some((word) => form.names.some((name) => stemOf(name) === stemOf(word)))
}

function hasForm(parameter: Parameter): boolean {
  return (['url', 'email', 'path', 'date'] as const).some((kind) => isOf(parameter, kind))
}

/** The pattern of a schema, on a short value. */
function matches(pattern: string, text: string): boolean {
  try {
    return text.length <= 200 && new RegExp(pattern, 'u').test(text)
  } catch {
    return false
  }
}

/** `from a to b`: the preposition before a piece says which of two parameters it is for. */
function placeByDirection(placing: Placing, token: Token): void {
  const { reading } = placing
  const before = reading.tokens[reading.tokens.indexOf(token) - 1]?.text.toLowerCase() ?? ''
  const other = directions.find((one) => one.before.includes(before))
  const fitting = candidates(placing, token)
  const named = (names: readonly string[]): Parameter[] =>
    fitting.filter(({ words }) => words.some((word) => names.includes(word)))
  if (other !== undefined) {
    const [parameter, ...others] = named(other.names)
    if (parameter !== undefined && others.length === 0) takeForm(placing, parameter, token)
    return
  }
  // `move a to b`: the piece before the one with `to` is the source.
  const next = reading.tokens.slice(
    reading.tokens.indexOf(token) + 1,
    reading.tokens.indexOf(token) + 3,
  )
  const [preposition, target] = next
  const isSource = ['to', 'into'].includes(preposition?.text.toLowerCase() ?? '') && target?.slot
  const [parameter, ...others] = named(directions[0]?.names ?? [])
  if (isSource && parameter !== undefined && others.length === 0)
    takeForm(placing, parameter, token)
}

/** `1280x720` is a width and a height. */
function placeSize({ open, take }: Placing, token: Token): void {
  const sides = token.text.split(/\s?[x×]\s?/)
  const places = ['width', 'height'].map((name) => open().find((one) => one.words.includes(name)))
  const [width, height] = places
  if (width === undefined || height === undefined) return
  const isTaken = take(width, sides[0] ?? '', 'by its form', [])
  if (isTaken) take(height, sides[1] ?? '', 'by its form', [token])
}

/** One proper name that the tool does not say, for the one required text without a form. */
function placeProperName({ reading, open, take }: Placing): void {
  const { tokens, used, isKnown, text } = reading
  const names: Token[][] = []
  for (const token of tokens) {
    const isName = token.isProper && !used.has(token) && !isKnown(token)
    if (!isName) continue
    const last = names.at(-1)?.at(-1)
    if (last !== undefined && text.slice(last.end, token.start) === ' ') names.at(-1)?.push(token)
    else names.push([token])
  }
  const [name, ...others] = names
  const isAlone = tokens.every(
    (token) =>
      used.has(token) ||
      name?.includes(token) === true ||
      (token.slot === undefined && isKnown(token)),
  )
  const texts = open().filter(({ kind, required }) => kind === 'string' && required)
  const [parameter, ...more] = texts
  if (name === undefined || parameter === undefined || !isAlone) return
  const isOne = others.length === 0 && more.length === 0
  const takesNames = parameter.choices.length === 0 && !hasForm(parameter)
  if (!isOne || !takesNames) return
  take(parameter, name.map((token) => token.text).join(' '), 'the only name', name)
}
