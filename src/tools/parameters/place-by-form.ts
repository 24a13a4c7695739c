import { plainWords, stemOf } from '#rank/words'
import { schemaPattern } from '#tools/schema/pattern'
import { coerceText, isIdentifier, type Parameter } from './parameter.ts'
import { examplesOf, isGrammar, only, type Reading, type Token } from './reading.ts'
import { findSlots, type SlotKind } from './slots.ts'

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

/**
 * Places a typed piece in the one parameter of the tool that accepts its form. A piece that fits several parameters
 * stays unplaced, also if all but one have a value: nothing is filled by elimination.
 */
export function placeByForm(reading: Reading): void {
  placeWordDirections(reading)
  for (const kind of ['url', 'email', 'date', 'path'] as const) placeKind(reading, kind)
  placeSizes(reading)
  placeLimit(reading)
  for (const kind of ['number', 'sql', 'identifier', 'quoted'] as const) placeKind(reading, kind)
}

function placeKind(reading: Reading, kind: SlotKind): void {
  for (const token of free(reading, kind)) placeByDirection(reading, token)
  const isGlob = ({ text }: Token) => kind === 'path' && text.includes('*')
  const alike = Map.groupBy(free(reading, kind), isGlob)
  placeAlike(reading, alike.get(true) ?? [])
  placeAlike(reading, alike.get(false) ?? [])
}

function placeAlike(reading: Reading, tokens: readonly Token[]): void {
  const [first] = tokens
  const parameter = first && acceptorOf(reading.parameters, first)
  if (!first || !parameter || !reading.open().includes(parameter)) return
  if (tokens.some((token) => isOfOtherKind(reading, parameter, token))) return
  const rule = 'by its form'
  if (parameter.items !== undefined) {
    reading.take(parameter, JSON.stringify(tokens.map(({ text }) => text)), rule, tokens)
  } else if (tokens.length === 1) reading.take(parameter, first.text, rule, [first])
}

/** Whether the word before a value names another kind of thing than the parameter identifies: `board b7` for `labelId`. */
function isOfOtherKind(reading: Reading, { words }: Parameter, { at }: Token): boolean {
  const before = reading.tokens[at - 1]
  if (!words.includes('id') || words.length < 2) return false
  if (!before || before === reading.first || before.kind || isGrammar(before.word)) return false
  const server = plainWords(reading.tool.server).map(stemOf)
  return ![...words.map(stemOf), ...server].includes(before.stem)
}

function free(reading: Reading, kind: SlotKind): Token[] {
  return reading.tokens.filter((token) => token.kind === kind && reading.isValue(token))
}

/** Returns the only parameter that accepts a piece of this form, with or without a value. */
function acceptorOf(parameters: readonly Parameter[], token: Token): Parameter | undefined {
  const accepting = acceptorsOf(parameters, token)
  const formed = accepting.filter((one) => one.required && isOfForm(one, token))
  const parameter = only(accepting) ?? only(formed)
  if (!parameter) return undefined
  const { required, pattern } = parameter
  const isText = token.kind === 'quoted' || token.kind === 'identifier' || token.kind === 'number'
  // That an optional parameter takes any text or number says nothing about this one.
  const isFormed = isOfForm(parameter, token) || pattern !== undefined
  return isFormed || (required && isText) ? parameter : undefined
}

/** Whether a parameter asks for the form of a piece, by its name or by the examples in its description. */
function isOfForm(parameter: Parameter, token: Token): boolean {
  const form = formOf(token)
  const isId = form === 'identifier' && parameter.required && isIdentifier(parameter)
  return isId || takesForm(parameter, form) || hasExamplesOf(parameter, form)
}

/** Whether all examples have a form that few texts have: `facebook/react`. */
function hasExamplesOf(parameter: Parameter, form: SlotKind): boolean {
  const kinds = examplesOf(parameter).map((example) => {
    const [piece] = findSlots(example)
    return piece?.value === example ? piece.kind : undefined
  })
  const isTelling = form !== 'quoted' && form !== 'number' && form !== 'identifier'
  return isTelling && kinds.length > 0 && kinds.every((kind) => kind === form)
}

/** Returns the parameters that accept a piece of this form, only those that ask for it if there are any. */
function acceptorsOf(
  parameters: readonly Parameter[],
  { kind = 'identifier', text }: Pick<Token, 'kind' | 'text'>,
): readonly Parameter[] {
  const accepting = parameters.filter((parameter) => {
    const one = parameter.items ?? parameter
    return one.choices.length === 0 && coerceText(text, one) !== undefined
  })
  const kindOf = (one: Parameter): Parameter['kind'] => (one.items ?? one).kind
  if (kind === 'number') {
    return accepting.filter((one) => ['number', 'integer'].includes(kindOf(one)))
  }
  const texts = accepting.filter(
    (one) => kindOf(one) === 'string' && !isOtherThanId(one, kind, text),
  )
  const patterns = texts.filter(({ words }) => hasWord(words, patternNames))
  if (kind === 'path' && text.includes('*') && patterns.length > 0) return patterns
  const places = texts.filter((one) => !patterns.includes(one))
  const formed = places.filter((one) => takesForm(one, formOf({ kind, text })))
  if (formed.length > 0) return formed
  const patterned = texts.filter(({ pattern }) => pattern !== undefined && matches(pattern, text))
  if (kind === 'identifier' && patterned.length > 0) return patterned
  return texts.filter((one) => one.pattern === undefined && !hasForm(one))
}

/** Returns the form of a piece: a quoted text can be a file name. */
function formOf({ kind = 'identifier', text }: Pick<Token, 'kind' | 'text'>): SlotKind {
  const isFile =
    (kind === 'quoted' && /[/\\]|\.\w{1,5}$/.test(text) && !/\s{2}|\n/.test(text)) ||
    (kind === 'identifier' && /\.[a-z]\w*$/i.test(text))
  return isFile ? 'path' : kind
}

/** A text in quotes is a name, not an ID. An ID has no blanks, and is not a file name such as `notes.md`. */
export function isOtherThanId(parameter: Parameter, kind: SlotKind, text: string): boolean {
  const isFile = kind === 'path' && /^[^/\\]+\.[a-z]\w*$/i.test(text)
  return (
    isIdentifier(parameter) && (isFile || kind === 'quoted' || kind === 'sql' || /\s/.test(text))
  )
}

/** Whether a parameter could have this text: its type, its pattern and its form accept it. */
export function fits(text: string, parameter: Parameter): boolean {
  const { pattern, words } = parameter
  const isPattern = pattern === undefined || matches(pattern, text)
  const [piece] = findSlots(text)
  const kind = piece?.value === text ? piece.kind : 'quoted'
  const isForm = !hasForm(parameter) || takesForm(parameter, kind)
  const isText = !(words.includes('id') && /\s/.test(text))
  return isText && isPattern && isForm && coerceText(text, parameter) !== undefined
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
  const parameter = only(acceptorsOf(reading.open(), token).filter(isMeant))
  if (parameter) reading.take(parameter, token.text, 'by its preposition', [token])
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
      acceptorsOf(reading.open(), token).filter((one) => hasWord(one.words, limitNames)),
    )
    if (parameter) reading.take(parameter, token.text, 'how many', [...words, token])
  }
}
