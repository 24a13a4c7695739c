import { plainWords, stopWords, stemOf } from '#rank/words'
import { schemaPattern } from '#tools/schema/pattern'
import { coerceText, type Parameter } from './parameter.ts'
import { isGrammar, only, type Reading, type Token } from './reading.ts'
import type { SlotKind } from './slots.ts'

/** The forms that a schema can require, by its `format` or by a word in the parameter's name. */
const forms: Partial<Record<SlotKind, { format?: RegExp; names: readonly string[] }>> = {
  url: { format: /^ur[il]/, names: ['url', 'uri', 'href', 'link', 'website'] },
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

const patternNames: readonly string[] = ['pattern', 'glob']

/** Prepositions before a value, and the words in names that they correspond to. */
const fromWords: readonly string[] = ['from', 'since', 'after']
const fromNames: readonly string[] = ['from', 'source', 'src', 'origin', 'old', 'start', 'since']
const toWords: readonly string[] = ['to', 'into', 'until', 'as']
const toNames: readonly string[] = ['to', 'destination', 'dest', 'target', 'new', 'end', 'until']

const searchNames: readonly string[] = ['query', 'q', 'search', 'keyword', 'keywords', 'term']

/** Places pieces in the parameters with their form. If two parameters fit, nothing is placed. */
export function placeByForm(reading: Reading): void {
  placeRest(reading)
  let placed: number
  do {
    placed = reading.found.size
    placeForms(reading)
    // A placed piece may leave only one parameter for another piece.
  } while (reading.found.size > placed)
}

function placeForms(reading: Reading): void {
  placeWordDirections(reading)
  placeKind(reading, 'url')
  placeKind(reading, 'email')
  placeKind(reading, 'date')
  placeKind(reading, 'path')
  placeSizes(reading)
  placeLimit(reading)
  placeDescribedNumbers(reading)
  placeOrderedNumbers(reading)
  placeKind(reading, 'number')
  placeKind(reading, 'sql')
  placeKind(reading, 'identifier')
  placeKind(reading, 'quoted')
  placeProperName(reading)
  placeSearch(reading)
}

function placeKind(reading: Reading, kind: SlotKind): void {
  for (const token of free(reading, kind)) placeByDirection(reading, token)
  const isGlob = ({ text }: Token) => kind === 'path' && text.includes('*')
  const alike = Map.groupBy(free(reading, kind), isGlob)
  placeAlike(reading, kind, alike.get(true) ?? [])
  placeAlike(reading, kind, alike.get(false) ?? [])
}

function placeAlike(reading: Reading, kind: SlotKind, tokens: readonly Token[]): void {
  const [first] = tokens
  if (!first) return
  const fitting = candidates(reading, first)
  const single = fitting.filter(({ items }) => items === undefined)
  const hasRequired = single.some(({ required }) => required)
  const list = only(
    fitting.filter((one) => one.items !== undefined && (one.required || !hasRequired)),
  )
  if (list && (tokens.length > 1 || single.length === 0)) {
    reading.take(list, JSON.stringify(tokens.map(({ text }) => text)), 'by its form', tokens)
  } else if (tokens.length === 1) takeForm(reading, evident(single, kind), first)
}

function free(reading: Reading, kind: SlotKind): Token[] {
  return reading.tokens.filter((token) => token.kind === kind && reading.isValue(token))
}

/** Returns the only required parameter, else the only one with a form or a search word in its name. */
function evident(parameters: readonly Parameter[], kind: SlotKind): Parameter | undefined {
  const required = parameters.filter((one) => one.required)
  if (required.length > 0) return only(required)
  const isText = kind === 'quoted' || kind === 'sql'
  return only(
    parameters.filter((one) => hasForm(one) || (isText && hasWord(one.words, searchNames))),
  )
}

function takeForm(reading: Reading, parameter: Parameter | undefined, token: Token): void {
  if (!parameter) return
  const isHost =
    token.kind === 'path' && takesForm(parameter, 'url') && !takesForm(parameter, 'path')
  const text = isHost ? `https://${token.text}` : token.text
  reading.take(parameter, text, 'by its form', [token])
}

/** Returns the open parameters for a piece of this form, only the most specific ones. */
function candidates(reading: Reading, { kind = 'identifier', text }: Token): readonly Parameter[] {
  const accepting = reading.open().filter((parameter) => {
    const one = parameter.items ?? parameter
    return one.choices.length === 0 && coerceText(text, one) !== undefined
  })
  const kindOf = (one: Parameter): Parameter['kind'] => (one.items ?? one).kind
  if (kind === 'number') {
    const numbers = accepting.filter((one) => ['number', 'integer'].includes(kindOf(one)))
    return numbers.length > 0 ? numbers : accepting.filter(isIdentity)
  }
  const isId = ({ words }: Parameter) => words.includes('id')
  const texts = accepting.filter(
    (one) => kindOf(one) === 'string' && !(isId(one) && (kind === 'sql' || /\s/.test(text))),
  )
  const patterns = texts.filter(({ words }) => hasWord(words, patternNames))
  if (kind === 'path' && text.includes('*') && patterns.length > 0) return patterns
  const isFile =
    (kind === 'quoted' && /[/\\]|\.\w{1,5}$/.test(text) && !/\s{2}|\n/.test(text)) ||
    (kind === 'identifier' && /\.[a-z]\w*$/i.test(text))
  const formed = texts.filter((one) => takesForm(one, isFile ? 'path' : kind))
  if (formed.length > 0) return formed
  const addresses = texts.filter((one) => takesForm(one, 'url'))
  if (kind === 'path' && !text.includes('/') && addresses.length > 0) return addresses
  const patterned = texts.filter(({ pattern }) => pattern !== undefined && matches(pattern, text))
  if (kind === 'identifier' && patterned.length > 0) return patterned
  const plain = texts.filter((one) => one.pattern === undefined && !hasForm(one))
  if (kind === 'quoted' || kind === 'identifier' || kind === 'sql') return plain
  if (kind === 'path' && /^[~./\\]|^\w:\\/.test(text)) return []
  return plain.filter((one) => one.required)
}

function isIdentity({ words, required }: Parameter): boolean {
  return required && words.some((word) => word === 'id' || word === 'number')
}

export function takesForm({ words, format }: Parameter, kind: SlotKind): boolean {
  const form = forms[kind]
  if (kind === 'path' && hasWord(words, patternNames)) return true
  if (!form) return false
  if (format !== undefined && form.format) return form.format.test(format)
  return hasWord(words, form.names)
}

function hasWord(words: readonly string[], names: readonly string[]): boolean {
  return words.some((word) => names.some((name) => stemOf(name) === stemOf(word)))
}

function hasForm(parameter: Parameter): boolean {
  return (['url', 'email', 'path', 'date'] as const).some((kind) => takesForm(parameter, kind))
}

/** Whether a text matches a pattern; false for an invalid pattern, so that nothing is placed by it. */
function matches(pattern: string, text: string): boolean {
  return text.length <= 200 && schemaPattern(pattern)?.test(text) === true
}

/** Whether a parameter requires a text in any form. */
function isFreeText(parameter: Parameter): boolean {
  const { kind, required, choices } = parameter
  return kind === 'string' && required && choices.length === 0 && !hasForm(parameter)
}

/** Places a piece by the preposition before it: `from a to b`. */
function placeByDirection(reading: Reading, token: Token): void {
  const { at } = token
  const before = reading.tokens[at - 1]?.word ?? ''
  // `move a to b`: the piece before the one with `to` is the source.
  const isSource =
    ['to', 'into'].includes(reading.tokens[at + 1]?.word ?? '') && reading.tokens[at + 2]?.kind
  const isFrom = fromWords.includes(before) || (isSource && !toWords.includes(before))
  const names = isFrom ? fromNames : toWords.includes(before) ? toNames : []
  const isMeant = ({ words }: Parameter) => words.some((word) => names.includes(word))
  takeForm(reading, only(candidates(reading, token).filter(isMeant)), token)
}

/** Places a name or a plain word after a preposition: `from Berlin to Hamburg`. */
function placeWordDirections(reading: Reading): void {
  for (const token of reading.tokens) {
    const before = reading.tokens[token.at - 1]?.word
    const names = before === 'from' ? fromNames : before === 'to' ? toNames : []
    if (token.kind || !reading.isLeft(token)) continue
    const meant = reading
      .open()
      .filter(({ kind, words, required }) => kind === 'string' && required && hasWord(words, names))
    const parameter = only(meant)
    const words = reading.wordFrom(token)
    if (!parameter || parameter.choices.length > 0) continue
    reading.take(parameter, reading.textOf(words), 'by its preposition', words)
  }
}

/** Places `1280x720` as a width and a height. */
function placeSizes(reading: Reading): void {
  for (const token of free(reading, 'size')) placeByDirection(reading, token)
  for (const token of free(reading, 'size')) {
    const [across = '', down = ''] = token.text.split(/\s?[x×]\s?/)
    const [width, height] = ['width', 'height'].map((side) =>
      reading.open().find(({ words }) => words.includes(side)),
    )
    if (!width || !height) continue
    if (reading.take(width, across, 'by its form', []))
      reading.take(height, down, 'by its form', [token])
  }
}

/** Places a number by the next word, and the word before, in a name or description: `10 lines`. */
function placeDescribedNumbers(reading: Reading): void {
  for (const token of free(reading, 'number')) {
    const before = reading.tokens[token.at - 1]
    const after = reading.after(token)
    if (!after || after.kind || isGrammar(after.word)) continue
    const described = candidates(reading, token)
      .map((one) => ({ one, stems: plainWords(`${one.name} ${one.description}`).map(stemOf) }))
      .filter(({ stems }) => stems.includes(after.stem))
    const exact = described.filter(({ stems }) =>
      stems.some((stem, place) => stem === before?.stem && stems[place + 2] === after.stem),
    )
    takeForm(reading, only(exact.length > 0 ? exact : described)?.one, token)
  }
}

/** Words before a limit: `at most 5`, `up to 5`, `the last 5`. */
const limitWords =
  /\b(?:at most|up to|no more than|maximum|max|limit|first|last|top)\s+(?:the\s+)?$/i
const limitNames: readonly string[] = ['limit', 'max', 'maximum', 'count']

function placeLimit(reading: Reading): void {
  for (const token of free(reading, 'number')) {
    const match = limitWords.exec(reading.text.slice(0, token.start))
    if (match === null) continue
    const words = reading.tokens.filter(({ start }) => match.index <= start && start < token.start)
    const parameter = only(
      candidates(reading, token).filter((one) => hasWord(one.words, limitNames)),
    )
    if (parameter) reading.take(parameter, token.text, 'how many', [...words, token])
  }
}

const ordinals: readonly string[] = ['first', 'second', 'third', 'fourth']

/** Places numbers by the order in descriptions: `17 and 25` for `First number` and `Second number`. */
function placeOrderedNumbers(reading: Reading): void {
  const numbers = free(reading, 'number')
  const ordered = ordinals.flatMap((ordinal) => {
    const described = reading.open().filter((one) => plainWords(one.description).includes(ordinal))
    return only(described) ?? []
  })
  const isWhole = numbers.length > 1 && ordered.length === numbers.length
  if (!isWhole || new Set(ordered).size !== ordered.length) return
  for (const [at, token] of numbers.entries()) takeForm(reading, ordered[at], token)
}

/** Places the text after a tool's name, if its only parameter is a text: `echo hello there`. */
function placeRest(reading: Reading): void {
  const { tokens, tool, text, name } = reading
  const parameter = only(reading.parameters)
  const first = tokens[name.length]
  const isNamed = name.every((word, at) => tokens[at]?.stem === stemOf(word))
  if (!isNamed || !first || !parameter || !isFreeText(parameter)) return
  // `search wikipedia for …`
  if (plainWords(tool.server).includes(first.word)) return
  if (reading.found.size > 0 || tokens.some(({ kind }) => kind !== undefined)) return
  const rest = text.slice(first.start).trim()
  reading.take(parameter, rest, 'the words after the name', tokens.slice(name.length))
}

/** Places the only proper name that the tool does not mention in the only required text without a form. */
function placeProperName(reading: Reading): void {
  const proper = reading.tokens.filter((one) => one.isProper && reading.isLeft(one))
  const name = proper[0] ? reading.wordFrom(proper[0]) : []
  const parameter = only(reading.open().filter((one) => one.kind === 'string' && one.required))
  if (!parameter || !isFreeText(parameter)) return
  const isAlone = reading.tokens.every((token) => {
    const isKnown = token.kind === undefined && reading.isKnown(token)
    return name.includes(token) || reading.isUsed(token) || isKnown
  })
  if (isAlone && name.length > 0)
    reading.take(parameter, reading.textOf(name), 'the only name', name)
}

/** Places the only words that the tool does not mention in the only search text: `for react hooks`. */
function placeSearch(reading: Reading): void {
  const { tokens, text } = reading
  const isLeft = (token: Token) => reading.isLeft(token)
  const lastSlot = tokens.findLastIndex(({ kind }) => kind !== undefined)
  const from = tokens.findIndex((token, at) => at > lastSlot && isLeft(token))
  const words = tokens.slice(Math.max(from, 0), tokens.findLastIndex(isLeft) + 1)
  const parameter = searchParameter(reading)
  const [first, last] = [words[0], words.at(-1)]
  if (!first || !last || !parameter) return
  const isWhole = words.every(
    (token) => token.kind === undefined && (isLeft(token) || stopWords.has(token.text)),
  )
  const isBehind = /\b(?:for|about|on)\s+(?:an?\s+|the\s+)?$/i.test(text.slice(0, first.start))
  if (isWhole && isBehind)
    reading.take(parameter, text.slice(first.start, last.end), 'the words to search for', words)
}

function searchParameter(reading: Reading): Parameter | undefined {
  const takesWords = reading
    .open()
    .filter(({ kind, words }) => kind === 'string' && hasWord(words, searchNames))
  const required = takesWords.filter((one) => one.required)
  return only(required.length > 0 ? required : takesWords)
}
