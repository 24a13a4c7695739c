import { nearest } from '#core/text'
import { plainWords, stemOf } from '#rank/words'
import { blankObjects, readJsonIn } from '#tools/call/directive-text'
import { contractPhrases, readingVerbs } from '#tools/contract'
import { foldName } from '#tools/workflow/match'
import type { ToolDefinition } from '#tools/model'
import type { JsonObject } from '#core/json'
import { coerceText, type Parameter, parametersOf } from './parameter.ts'
import { isOtherThanId, placeByForm, takesForm } from './place-by-form.ts'
import {
  choicesOf,
  isGrammar,
  namingWords,
  type MappedValue,
  only,
  quantifiers,
  Reading,
  type Token,
} from './reading.ts'
import { maxRequestLength } from './slots.ts'

export interface ParameterMapping {
  /** Values that the schema accepts, and unchanged the values that the request has as JSON. */
  params: JsonObject
  missing: readonly string[]
  /** The parts of the request that no parameter took and that the tool's own text does not contain. */
  unplaced: readonly string[]
  /** The words that a value of an earlier answer must have, if one is used. */
  identifying: readonly string[]
  trace: readonly MappedValue[]
}

/**
 * Reads a tool's parameters from a request, by the tool's schema: only explicit forms, placed by name, type
 * and format. Pure. Nothing is invented; a value that fits several parameters stays unplaced.
 *
 * @param context `known`: values for required parameters, such as those of an earlier step; `examples`:
 *   sentences that mean the tool
 * @example
 * mapParameters('PR 123 in octo/hello', tool).params // { owner: 'octo', repo: 'hello', pull_number: 123 }
 */
export function mapParameters(
  request: string,
  tool: ToolDefinition,
  context: { known?: JsonObject | undefined; examples?: readonly string[] | undefined } = {},
): ParameterMapping {
  const { known: defaults = {}, examples } = context
  const names = parametersOf(tool.inputSchema).map(({ name }) => name)
  const { mapped, rest } = writtenParameters(request, names)
  // No other value goes to the parameter of a misspelt key.
  const closed = [...mapped.keys()].map((key) => (names.includes(key) ? key : nearest(key, names)))
  const reading = new Reading(rest, tool, new Set(closed), examples)
  placeAssigned(reading)
  placeContract(reading)
  placeFullNames(reading)
  placeNamed(reading)
  placeCounted(reading)
  placeChange(reading)
  placeChoices(reading)
  placeFlags(reading)
  placeByForm(reading)
  placeSubject(reading)
  for (const parameter of reading.open()) {
    const { name, required } = parameter
    const value = required && Object.hasOwn(defaults, name) ? defaults[name] : undefined
    if (value !== undefined) reading.give(parameter, value, 'known from before', [])
  }
  const trace = [...new Set([...names, ...mapped.keys()])].flatMap(
    (name) => mapped.get(name) ?? reading.found.get(name) ?? [],
  )
  return {
    params: Object.fromEntries(trace.map(({ parameter, value }) => [parameter, value])),
    missing: reading
      .open()
      .flatMap((one) => (one.required || isOpenAction(one, reading) ? [one.name] : [])),
    unplaced: reading.unplaced(),
    identifying: reading.identifying(),
    trace,
  }
}

/**
 * Whether a parameter chooses between actions of the description, so that its default would be a guess. It is not a guess
 * if the request's verb is the default: `add the labels …`.
 */
export function isOpenAction(
  { choices, default: chosen }: Parameter,
  { found, tool, first }: Reading,
): boolean {
  const names = choices.filter((choice) => typeof choice === 'string')
  if (typeof chosen === 'string' && first?.word === chosen.toLowerCase()) return false
  if (found.size === 0 || names.length < 2 || names.some((choice) => found.has(choice)))
    return false
  const described = new Set(plainWords(tool.description).map(stemOf))
  const actions = names.filter((choice) => described.has(stemOf(choice.toLowerCase())))
  return actions.length > 1 && actions.length * 2 > choices.length
}

/** Reads JSON objects whose keys are names of parameters, perhaps misspelt. Their values stay unchanged. */
function writtenParameters(request: string, names: readonly string[]) {
  const text = request.slice(0, maxRequestLength)
  const objects = readJsonIn(text).objects.filter(({ value }) =>
    Object.keys(value).every((key) => nearest(key, names) !== undefined),
  )
  const mapped = new Map<string, MappedValue>()
  for (const { start, end, value: object } of objects) {
    for (const [parameter, value] of Object.entries(object)) {
      const rule = 'written as JSON'
      if (!mapped.has(parameter))
        mapped.set(parameter, { parameter, value, rule, text: text.slice(start, end) })
    }
  }
  return { mapped, rest: blankObjects(text, objects) }
}

/** Places `name=value` and `name: value`. The value is quoted, a list, a typed piece or one word. */
function placeAssigned(reading: Reading): void {
  for (const parameter of reading.open()) {
    const name = parameter.name.replaceAll(/\W/g, '\\$&')
    const pattern = new RegExp(
      `(?<![\\w.-])${name}\\s{0,3}[=:]\\s{0,3}(\\[[^\\]\\n]*\\]|"[^"\\n]*"|\\S+)`,
      'i',
    )
    const match = pattern.exec(reading.text)
    const [whole = '', written = ''] = match ?? []
    if (match === null || written.startsWith('//')) continue
    const start = match.index + whole.length - written.length
    const piece = reading.tokens.find((token) => token.kind && token.start === start)
    const end = Math.max(piece?.end ?? 0, match.index + whole.length)
    const isQuoted = written.startsWith('"')
    const text = isQuoted ? written.slice(1, -1) : (piece?.text ?? written.replace(/[.,;]$/, ''))
    reading.take(parameter, text, 'named in the request', within(reading, match.index, end))
  }
}

function within({ tokens }: Reading, from: number, to: number): Token[] {
  return tokens.filter(({ start, end }) => from <= start && end <= to)
}

/** Places the phrases of the contract, if the schema has their fields. */
function placeContract(reading: Reading): void {
  const rule = 'a phrase of the format'
  for (const { tool, phrase, values = {} } of contractPhrases) {
    if (tool !== undefined && foldName(tool) !== foldName(reading.tool.name)) continue
    const [match = null, ...others] = reading.text.matchAll(new RegExp(phrase, `${phrase.flags}g`))
    // Two pieces like `docs/index.md` and `octo/site`: it is not said which one is meant.
    if (others.some(([text]) => text !== match?.[0])) continue
    const open = new Map(reading.open().map((parameter) => [parameter.name, parameter]))
    const { named: _, ...places } = { ...match?.groups }
    const groups = Object.entries(places)
    if (match === null || groups.some(([field]) => !open.has(field))) continue
    const tokens = within(reading, match.index, match.index + match[0].length)
    const before = reading.tokens.findLast(({ end }) => end <= match.index)?.word
    // `path docs/guide` is a path, not a repository.
    if (tool === undefined && open.has(before ?? '')) continue
    const isTaken = groups.every(([field, text]) => {
      const parameter = open.get(field)
      return parameter && reading.take(parameter, text.replace(/[.,;:!?]$/, ''), rule, tokens)
    })
    const rest = reading.tokens.filter((one) => !reading.isUsed(one) && !tokens.includes(one))
    for (const [field, value] of isTaken ? Object.entries(values) : []) {
      const parameter = reading.open().find(({ name }) => name === field)
      if (!parameter) continue
      const { choices } = parameter
      const isChosen = choices.length === 0 || choices.includes(value)
      // The request may name another value.
      const isOther = rest.some((token) => chosen(token, choicesOf(parameter)) !== undefined)
      if (isChosen && !isOther) reading.give(parameter, value, rule, tokens)
    }
  }
}

/** Places a value after all words of a parameter's name: `page id 736`, `target branch main`. */
function placeFullNames(reading: Reading): void {
  const { tokens } = reading
  for (const parameter of reading.open()) {
    const { words, items } = parameter
    if (words.length < 2 || items) continue
    const label = inRow(tokens, words, 'word')
    const value = valueAfter(reading, label.at(-1))
    if (!value) continue
    const used = [...label, ...value.tokens]
    reading.take(parameter, reading.textOf(value.tokens), 'named in the request', used)
  }
}

/** Returns the first tokens in a row with these words, or these stems. */
function inRow(tokens: readonly Token[], words: readonly string[], by: 'word' | 'stem'): Token[] {
  const start = tokens.findIndex((_, at) =>
    words.every((word, offset) => tokens[at + offset]?.[by] === word),
  )
  return start < 0 ? [] : tokens.slice(start, start + words.length)
}

/** Places a value after a parameter's name: `page 2`, `uid btn-1`. */
function placeNamed(reading: Reading): void {
  const pairs = reading.tokens.flatMap((label) => {
    const value = reading.isUsed(label) ? undefined : valueAfter(reading, label)
    return value ? [{ label, value }] : []
  })
  for (const { label, value } of pairs) {
    if (reading.isUsed(label) || value.tokens.some((token) => reading.isUsed(token))) continue
    const others = pairs.filter((one) => one.label.stem === label.stem && isTyped(one.value))
    // `add story 413 to story 412`: the same word beside two values does not say which one is which.
    if (isTyped(value) && others.length > 1) reading.doubt(value.tokens)
    else placeBeside(reading, label, value)
  }
}

/** Places a number before the whole name of its parameter: `3 replicas`. */
function placeCounted(reading: Reading): void {
  for (const token of reading.tokens) {
    const label = reading.after(token)
    if (token.kind !== 'number' || !label || !reading.isValue(token)) continue
    const isBefore = reading.text.slice(token.end, label.start) === ' '
    const counted = reading.open().filter(({ kind, words }) => {
      const isNumber = kind === 'number' || kind === 'integer'
      return isNumber && words.length === 1 && words.map(stemOf).includes(label.stem)
    })
    const parameter = only(counted)
    if (isBefore && parameter)
      reading.take(parameter, token.text, 'named in the request', [token, label])
  }
}

/** Whether a value has a form of its own, such as a number. A plain word beside a label can be any word. */
function isTyped({ tokens: [first] }: Beside): boolean {
  return first?.kind !== undefined
}

interface Beside {
  tokens: readonly Token[]
  /** The word between label and value: `called`. */
  naming?: Token | undefined
}

function placeBeside(reading: Reading, label: Token, value: Beside): void {
  const [first, ...others] = value.tokens
  if (!first) return
  const text = reading.textOf(value.tokens)
  const named = reading
    .open()
    .filter((one) => isLabel(label, one, value) && !isVerbOf(reading, label, one))
    .filter((one) => coerceText(text, one) !== undefined)
  const full = named.filter(({ words }) => words.length === 1)
  const written = named.filter(({ name }) => name.toLowerCase() === label.word)
  const identity = named.filter((one) => isIdentity(one, label))
  const closest = [written, full, identity, named].find((list) => list.length > 0) ?? []
  const parameter = only(closest)
  if (named.length === 0) placeBareId(reading, label, value)
  if (!parameter) return
  if (isFileElsewhere(reading, parameter, first)) {
    reading.doubt(value.tokens)
    return
  }
  const isList = parameter.items !== undefined && others.length === 0
  const items = isList ? listFrom(reading, first) : value.tokens
  const all = isList ? items.map((item) => item.text).join(', ') : text
  const used = [label, value.naming ?? [], items].flat()
  reading.take(parameter, all, 'named in the request', used)
}

/** Places an ID beside the word of the tool that it identifies, if the parameter is only called `id`: `dashboard 10010`. */
function placeBareId(reading: Reading, label: Token, value: Beside): void {
  const [first] = value.tokens
  const parameter = only(reading.open().filter((one) => one.name.toLowerCase() === 'id'))
  const isNoun = !label.kind && label !== reading.first && !isGrammar(label.word)
  if (!parameter || !first?.kind || value.naming || !isNoun || !reading.hasWord(label.word)) return
  if (isOtherThanId(parameter, first.kind, first.text)) return
  reading.take(parameter, first.text, 'beside its thing', [label, first])
}

/** Whether a parameter identifies what a label names: `pageId`, not `pageSize`, for `page 3`. */
function isIdentity({ words, required }: Parameter, { stem }: Token): boolean {
  const [first = '', second = '', ...others] = words
  const isNumber = second === 'id' || second === 'number'
  return required && stemOf(first) === stem && isNumber && others.length === 0
}

function isLabel(label: Token, parameter: Parameter, value: Beside): boolean {
  const { word } = label
  const { name, words } = parameter
  if (name.toLowerCase() === word) return true
  if (label.kind) return false
  if (namingWords.has(word)) return words.includes('name') || words.includes('title')
  const isId = words.includes('id')
  // A plain word after `cards` is not a value, and never an ID.
  const [first] = value.tokens
  const isBare = first?.kind === undefined && !/^\p{Lu}+$/u.test(first?.text ?? '')
  const isText = /\s/.test(first?.text ?? '')
  if (isId && (isBare || isText || value.naming)) return false
  if (first?.kind && isOtherThanId(parameter, first.kind, first.text)) return false
  // `due date` names a date, and is not a value of `due_on`.
  if (isBare && !parameter.items) {
    const noun = words.findLast((one) => one !== 'name' && one !== 'title') ?? words.at(-1)
    return (noun === word || words.at(-1) === word) && !isGrammar(word)
  }
  return words.some((one) => !isGrammar(one) && one !== 'id' && stemOf(one) === label.stem)
}

/** Whether a label is the verb of the request and the parameter only has another form of it: `assign WEB-17` for `assignedTo`. */
function isVerbOf({ first }: Reading, label: Token, { words }: Parameter): boolean {
  return label === first && !words.includes(label.word)
}

/** Whether a file name belongs to another parameter: `manifest app.yaml` for a parameter that takes a file. */
function isFileElsewhere(reading: Reading, parameter: Parameter, { kind, text }: Token): boolean {
  if (kind !== 'path' || !/\.\w{1,5}$/.test(text) || takesForm(parameter, 'path')) return false
  return reading.open().some((one) => one !== parameter && takesForm(one, 'path'))
}

function valueAfter(reading: Reading, label: Token | undefined): Beside | undefined {
  const next = label && reading.after(label)
  const second = next && reading.after(next)
  if (!label || !next || !isBeside(reading, label, next)) return undefined
  // `a radius of 500`
  if (next.text === 'of' && second?.kind === 'number' && reading.isValue(second)) {
    return { tokens: [second] }
  }
  const isNaming = next.kind === undefined && namingWords.has(next.word)
  const first = isNaming ? second : next
  if (!first || !isBeside(reading, next, first) || !reading.isValue(first)) {
    return undefined
  }
  const tokens = reading.wordFrom(first)
  return isPassive(reading, tokens) ? undefined : { tokens, naming: isNaming ? next : undefined }
}

function isBeside({ text }: Reading, one: Token, other: Token): boolean {
  return one === other || /^\s{0,3}[#:=]?\s{0,3}["'“‘`]?$/.test(text.slice(one.end, other.start))
}

/** Whether a word describes the word before it: `matching`, `starting`, `assigned`. */
function isPassive(reading: Reading, [first, ...others]: readonly Token[]): boolean {
  if (!first || first.kind || others.length > 0) return false
  const next = reading.after(first)
  const isBeforeValue =
    next?.kind !== undefined && next.kind !== 'number' && isBeside(reading, first, next)
  return isBeforeValue || /^[a-z]{2,}(?:ed|ing)$/.test(first.text)
}

/** Places the new value of a named parameter: `set the status of ENG-42 to Done`, `rename a to b`. */
function placeChange(reading: Reading): void {
  const { tokens } = reading
  const values = tokens.filter(
    (token) => tokens[token.at - 1]?.word === 'to' && reading.isValue(token),
  )
  const value = only(values)
  if (!value) return
  const named = tokens.slice(0, value.at - 1).flatMap((token) => {
    const word = token.word.replace(/^re(?=name|title)/, '')
    if (token.kind || reading.isUsed(token)) return []
    const ofWord = ({ words }: Parameter): boolean => words.includes(word) && !words.includes('id')
    return reading.open().flatMap((one) => (ofWord(one) ? [{ parameter: one, token }] : []))
  })
  const change = only(named)
  const words = reading.wordFrom(value)
  if (!change || isPassive(reading, words)) return
  const text = reading.textOf(words)
  reading.take(change.parameter, text, 'named in the request', [change.token, ...words])
}

const subjectNames: readonly string[] = 'query search keyword keywords question term q'.split(' ')

/**
 * Places what a search is for: `search the news for export rules`. All words up to the end, or to the next placed value,
 * are the text, so that none is dropped.
 */
function placeSubject(reading: Reading): void {
  const { tokens, first } = reading
  const isSearch = first && readingVerbs.has(first.word) && reading.hasWord(first.word)
  const parameter = only(reading.open().filter(takesSubject))
  if (!isSearch || !parameter) return
  const subject = subjectOf(reading, first)
  const [start] = subject
  if (!start) return
  const isPlain = subject.every(
    ({ kind, word }) =>
      (!kind || ['number', 'identifier', 'email'].includes(kind)) && !quantifiers.has(word),
  )
  if (!isPlain && !(subject.length === 1 && start.kind === 'quoted')) return
  const between = tokens.slice(first.at + 1, start.at)
  const known = between.filter((token) => !reading.isUsed(token) && reading.isKnown(token))
  reading.take(parameter, reading.textOf(subject), 'what is searched', [...known, ...subject])
}

function takesSubject({ kind, words, choices, format, pattern }: Parameter): boolean {
  const isText = kind === 'string' && choices.length === 0 && format === undefined
  return isText && pattern === undefined && subjectNames.includes(words.at(-1) ?? '')
}

/** The words after `for` or `about`, without what only names the things that are searched: `for papers about`. */
function subjectOf(reading: Reading, verb: Token): readonly Token[] {
  const { tokens } = reading
  const isMark = ({ kind, word }: Token) => !kind && (word === 'for' || word === 'about')
  const mark = tokens.find((token) => token.at > verb.at && isMark(token))
  if (!mark) return []
  const isOfTool = (token: Token) => !token.kind && reading.isKnown(token)
  const next = tokens.slice(mark.at + 1).find((token) => isMark(token) || !isOfTool(token))
  const isThing = (token: Token) =>
    (isGrammar(token.word) && !quantifiers.has(token.word)) ||
    (mark.at === verb.at + 1 && isOfTool(token))
  const after = tokens.slice((next && isMark(next) ? next.at : mark.at) + 1)
  const from = after.findIndex((token) => !isThing(token))
  const open = from < 0 ? [] : after.slice(from)
  const used = open.findIndex((token) => reading.isUsed(token))
  const subject = used < 0 ? open : open.slice(0, used)
  // `in jira` only names the server.
  const server = plainWords(reading.tool.server)
  const isEnd = ({ kind, word }: Token) => !kind && (isGrammar(word) || server.includes(word))
  return subject.slice(0, subject.findLastIndex((token) => !isEnd(token)) + 1)
}

function listFrom(reading: Reading, first: Token): Token[] {
  const items = [first]
  let last = first
  for (const token of reading.tokens.slice(first.at + 1)) {
    if (token.text === 'and') continue
    const between = reading.text.slice(last.end, token.start)
    const isNext = /^["'”’`]?\s{0,3}(?:,|,? and\b)\s{0,3}["'“‘`]?$/.test(between)
    if (!isNext || !reading.isValue(token)) break
    items.push(token)
    last = token
  }
  return items
}

function placeChoices(reading: Reading): void {
  const nameStems = reading.name.map(stemOf)
  const matches: { parameter: Parameter; choice: string; token: Token }[] = []
  for (const token of reading.tokens) {
    if (reading.isUsed(token) || token.kind === 'quoted') continue
    const fitting = reading.open().flatMap((parameter) => {
      const choice = chosen(token, choicesOf(parameter))
      const isInName = !parameter.required && nameStems.includes(token.stem)
      return choice === undefined || isInName ? [] : [{ parameter, choice, token }]
    })
    const [one, ...others] = fitting
    if (!one) continue
    const next = reading.after(token)
    const isBeforeGrammar = next === undefined || next.kind !== undefined || isGrammar(next.word)
    // `open issues` contains a choice, `open the issue` an action.
    const isVerb = token === reading.first && !one.parameter.required && isBeforeGrammar
    // `created by Ann` names a person, not a sort order.
    const isOpen = others.length > 0 || isVerb || next?.word === 'by'
    if (isOpen || token.negated) reading.doubt([token])
    else matches.push(one)
  }
  for (const [parameter, list] of Map.groupBy(matches, (one) => one.parameter)) {
    const tokens = list.map(({ token }) => token)
    const values = [...new Set(list.map(({ choice }) => choice))]
    const isPlaced =
      (values.length === 1 || parameter.kind === 'array') &&
      reading.take(parameter, values.join(', '), 'a choice of the schema', tokens)
    if (!isPlaced) reading.doubt(tokens)
  }
}

function chosen({ word, stem }: Token, choices: Parameter['choices']): string | undefined {
  const names = choices.filter((choice) => typeof choice === 'string')
  return (
    names.find((choice) => choice.toLowerCase() === word) ??
    names.find((choice) => stemOf(choice.toLowerCase()) === stem && /^[a-z]{3,}$/i.test(choice))
  )
}

/** Places a flag if the request has all its words, with only grammar between them. A negation turns it off. */
function placeFlags(reading: Reading): void {
  const nameStems = reading.name.map(stemOf)
  for (const parameter of reading.open()) {
    // `in the namespace shop` does not say `allNamespaces`.
    const isWord = (word: string) =>
      !isGrammar(word) || (quantifiers.has(word) && parameter.words.includes(word))
    const tokens = reading.tokens.filter(({ word }) => isWord(word))
    const stems = parameter.words.filter(isWord).map(stemOf)
    if (parameter.kind !== 'boolean' || stems.every((stem) => nameStems.includes(stem))) continue
    const words = inRow(tokens, stems, 'stem')
    if (words.length === 0 || words.some((token) => reading.isUsed(token))) continue
    reading.give(parameter, words[0]?.negated !== true, 'a flag of the schema', words)
  }
}
