import { nearest } from '../../core/text.ts'
import { plainWords, stemOf } from '../../rank/words.ts'
import { blankObjects, readJsonIn } from '../call/directive-text.ts'
import { contractPhrases } from '../contract.ts'
import { foldName } from '../workflow/match.ts'
import type { JsonObject, ToolDefinition } from '../model.ts'
import { coerceText, type Parameter, parametersOf } from './parameter.ts'
import { placeByForm, takesForm } from './place-by-form.ts'
import {
  choicesOf,
  isGrammar,
  namingWords,
  type MappedValue,
  only,
  Reading,
  type Token,
} from './reading.ts'
import { maxRequestLength } from './slots.ts'

export interface ParameterMapping {
  /** Fields of the schema, accepted by it; and, as it is, what the request gives as JSON. */
  params: JsonObject
  missing: readonly string[]
  /** What the request says and neither a parameter took nor the tool says. */
  unplaced: readonly string[]
  trace: readonly MappedValue[]
}

/**
 * Reads the parameters of a tool out of a request, by the tool's own schema: explicit forms only,
 * placed by name, type and format. Pure. Nothing is invented, and what has no one place is left
 * unplaced.
 *
 * @param context `known`: values that may fill required parameters, such as those of an earlier
 *   step; `examples`: sentences that are known to mean the tool
 * @example
 * mapParameters('PR 123 in octo/hello', tool).params // { owner: 'octo', repo: 'hello', pull_number: 123 }
 */
export function mapParameters(
  request: string,
  tool: ToolDefinition,
  context: { known?: JsonObject | undefined; examples?: readonly string[] | undefined } = {},
): ParameterMapping {
  const { known = {}, examples } = context
  const parameters = parametersOf(tool.inputSchema)
  const names = parameters.map(({ name }) => name)
  const { given, meant, rest } = writtenParameters(request, names)
  const fillable = parameters.filter(({ name }) => !given.has(name) && !meant.has(name))
  const reading = new Reading(rest, tool, fillable, examples)
  placeAssigned(reading)
  placeContract(reading)
  placeFullNames(reading)
  placeNamed(reading)
  placeChange(reading)
  placeChoices(reading)
  placeFlags(reading)
  placeByForm(reading)
  for (const parameter of reading.open()) {
    const { name, required } = parameter
    const value = required && Object.hasOwn(known, name) ? known[name] : undefined
    if (value !== undefined) reading.give(parameter, value, 'known from before', [])
  }
  const trace = [
    ...names.flatMap((name) => given.get(name) ?? reading.found.get(name) ?? []),
    ...[...given.values()].filter(({ parameter }) => !names.includes(parameter)),
  ]
  return {
    params: Object.fromEntries(trace.map(({ parameter, value }) => [parameter, value])),
    missing: reading
      .open()
      .flatMap((one) => (one.required || isOpenAction(one, reading) ? [one.name] : [])),
    unplaced: reading.unplaced(),
    trace,
  }
}

/** A choice of actions that the description lists: its default would be a guess. */
function isOpenAction({ choices }: Parameter, { found, tool }: Reading): boolean {
  const said = new Set(plainWords(tool.description).map(stemOf))
  const names = choices.filter((choice) => typeof choice === 'string')
  const actions = names.filter((choice) => said.has(stemOf(choice.toLowerCase())))
  const isSaid = names.some((choice) => found.has(choice))
  return found.size > 0 && !isSaid && actions.length > 1 && actions.length * 2 > choices.length
}

/** A JSON object whose keys are names of parameters, perhaps misspelt, is taken as it is. */
function writtenParameters(request: string, names: readonly string[]) {
  const text = request.slice(0, maxRequestLength)
  const objects = readJsonIn(text).objects.filter(({ value }) =>
    Object.keys(value).every((key) => nearest(key, names) !== undefined),
  )
  const given = new Map<string, MappedValue>()
  for (const { start, end, value: object } of objects) {
    for (const [parameter, value] of Object.entries(object)) {
      const rule = 'written as JSON'
      if (!given.has(parameter))
        given.set(parameter, { parameter, value, rule, text: text.slice(start, end) })
    }
  }
  const misspelt = [...given.keys()].filter((key) => !names.includes(key))
  const meant = new Set(misspelt.map((key) => nearest(key, names)))
  return { given, meant, rest: blankObjects(text, objects) }
}

/** `name=value` and `name: value`; the value is quoted, a list, a typed piece or one word. */
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
    const slot = reading.tokens.find((token) => token.slot && token.start === start)
    const end = Math.max(slot?.end ?? 0, match.index + whole.length)
    const isQuoted = written.startsWith('"')
    const text = isQuoted ? written.slice(1, -1) : (slot?.text ?? written.replace(/[.,;]$/, ''))
    reading.take(parameter, text, 'named in the request', within(reading, match.index, end))
  }
}

function within({ tokens }: Reading, from: number, to: number): Token[] {
  return tokens.filter(({ start, end }) => from <= start && end <= to)
}

/** The phrases of the format, where the schema has their fields. */
function placeContract(reading: Reading): void {
  const rule = 'a phrase of the format'
  for (const { tool, phrase, values = {} } of contractPhrases) {
    if (tool !== undefined && foldName(tool) !== foldName(reading.tool.name)) continue
    const match = phrase.exec(reading.text)
    const open = new Map(reading.open().map((parameter) => [parameter.name, parameter]))
    const groups = Object.entries({ ...match?.groups })
    if (match === null || groups.some(([field]) => !open.has(field))) continue
    const tokens = within(reading, match.index, match.index + match[0].length)
    const before = reading.tokens.findLast(({ end }) => end <= match.index)?.text.toLowerCase()
    // `path docs/guide` is a path, and no repository.
    if (tool === undefined && open.has(before ?? '')) continue
    const isTaken = groups.every(([field, text]) => {
      const parameter = open.get(field)
      return parameter && reading.take(parameter, text.replace(/[.,;:!?]$/, ''), rule, tokens)
    })
    const others = reading.tokens.filter((one) => !reading.isUsed(one) && !tokens.includes(one))
    for (const [field, value] of isTaken ? Object.entries(values) : []) {
      const parameter = reading.open().find(({ name }) => name === field)
      if (parameter === undefined) continue
      const { choices } = parameter
      const isChosen = choices.length === 0 || choices.includes(value)
      // The request may say a value of its own.
      const isOther = others.some((token) => chosen(token, choicesOf(parameter)) !== undefined)
      if (isChosen && !isOther) reading.give(parameter, value, rule, tokens)
    }
  }
}

/** `page id 736`, `target branch main`: all words of a parameter's name before a value. */
function placeFullNames(reading: Reading): void {
  const { tokens } = reading
  for (const parameter of reading.open()) {
    const { words, items } = parameter
    if (words.length < 2 || items !== undefined) continue
    const start = tokens.findIndex((_, at) =>
      words.every((word, offset) => tokens[at + offset]?.text.toLowerCase() === word),
    )
    const end = start + words.length
    const value = start < 0 ? undefined : valueAfter(reading, end - 1)
    if (value === undefined) continue
    const said = [...tokens.slice(start, end), ...value.tokens]
    reading.take(parameter, reading.textOf(value.tokens), 'named in the request', said)
  }
}

/** `page 2`, `uid btn-1`: a parameter's name before a value. */
function placeNamed(reading: Reading): void {
  const { tokens } = reading
  for (const [at, token] of tokens.entries()) {
    const value = reading.isUsed(token) ? undefined : valueAfter(reading, at)
    if (value !== undefined) placeBeside(reading, token, value)
  }
}

interface Beside {
  tokens: readonly Token[]
  /** The word between them: `called`. */
  naming?: Token | undefined
}

function placeBeside(reading: Reading, label: Token, value: Beside): void {
  const [first, ...others] = value.tokens
  if (first === undefined) return
  const text = reading.textOf(value.tokens)
  const named = reading
    .open()
    .filter((one) => isLabel(label, one, value) && coerceText(text, one) !== undefined)
  const full = named.filter(({ words }) => words.length === 1)
  const written = named.filter(({ name }) => name.toLowerCase() === label.text.toLowerCase())
  const parameter = only(written.length > 0 ? written : full.length > 0 ? full : named)
  if (parameter === undefined) return
  if (isFileElsewhere(reading, parameter, first)) {
    reading.doubt(value.tokens)
    return
  }
  const isList = parameter.items !== undefined && others.length === 0
  const items = isList ? listFrom(reading, first) : value.tokens
  const all = isList ? items.map((item) => item.text).join(', ') : text
  const said = [label, ...(value.naming === undefined ? [] : [value.naming]), ...items]
  reading.take(parameter, all, 'named in the request', said)
}

/** Whether a word says that the value beside it is for the parameter. */
function isLabel(label: Token, parameter: Parameter, value: Beside): boolean {
  const word = label.text.toLowerCase()
  const { name, words } = parameter
  if (name.toLowerCase() === word) return true
  if (label.slot !== undefined) return false
  if (namingWords.has(word)) return words.includes('name') || words.includes('title')
  const isId = words.includes('id')
  // A word that nothing marks as a value is none behind `cards`, and no id.
  const [first] = value.tokens
  const isBare = first?.slot === undefined && !/^\p{Lu}+$/u.test(first?.text ?? '')
  const isText = /\s/.test(first?.text ?? '')
  if (isId && (isBare || isText || value.naming !== undefined)) return false
  if (isBare && parameter.items === undefined) return words.includes(word) && !isGrammar(word)
  return words.some((one) => !isGrammar(one) && one !== 'id' && stemOf(one) === label.stem)
}

/** `manifest app.yaml` is the text of one, or the name of a file for a parameter that takes one. */
function isFileElsewhere(reading: Reading, parameter: Parameter, { slot, text }: Token): boolean {
  if (slot?.kind !== 'path' || !/\.\w{1,5}$/.test(text) || takesForm(parameter, 'path'))
    return false
  return reading.open().some((one) => one !== parameter && takesForm(one, 'path'))
}

function valueAfter(reading: Reading, at: number): Beside | undefined {
  const [label, next, second] = reading.tokens.slice(at, at + 3)
  if (label === undefined || next === undefined || !isBeside(reading, label, next)) return undefined
  // `a radius of 500`
  if (next.text === 'of' && second?.slot?.kind === 'number' && reading.isValue(second)) {
    return { tokens: [second] }
  }
  const isNaming = next.slot === undefined && namingWords.has(next.text.toLowerCase())
  const first = isNaming ? second : next
  if (first === undefined || !isBeside(reading, next, first) || !reading.isValue(first)) {
    return undefined
  }
  const tokens = reading.wordFrom(first)
  return isPassive(reading, tokens) ? undefined : { tokens, naming: isNaming ? next : undefined }
}

function isBeside({ text }: Reading, one: Token, other: Token): boolean {
  return one === other || /^\s{0,3}[#:=]?\s{0,3}["'“‘`]?$/.test(text.slice(one.end, other.start))
}

/** `matching`, `starting`, `assigned`: a word that says something about what is before it. */
function isPassive(reading: Reading, [first, ...others]: readonly Token[]): boolean {
  if (first === undefined || first.slot !== undefined || others.length > 0) return false
  const next = reading.after(first)
  const isBeforeValue =
    next?.slot !== undefined && next.slot.kind !== 'number' && isBeside(reading, first, next)
  return isBeforeValue || /^[a-z]{2,}(?:ed|ing)$/.test(first.text)
}

/** `set the status of ENG-42 to Done`, `rename a to b`: what a named parameter becomes. */
function placeChange(reading: Reading): void {
  const { tokens } = reading
  const isTo = (token: Token, at: number): boolean => {
    const value = tokens[at + 1]
    return token.text.toLowerCase() === 'to' && value !== undefined && reading.isValue(value)
  }
  const to = only(tokens.filter(isTo))
  const value = to && tokens[tokens.indexOf(to) + 1]
  if (to === undefined || value === undefined) return
  const named = tokens.slice(0, tokens.indexOf(to)).flatMap((token) => {
    const word = token.text.toLowerCase().replace(/^re(?=name|title)/, '')
    if (token.slot !== undefined || reading.isUsed(token)) return []
    const ofWord = ({ words }: Parameter): boolean => words.includes(word) && !words.includes('id')
    return reading.open().flatMap((one) => (ofWord(one) ? [{ parameter: one, token }] : []))
  })
  const change = only(named)
  const said = reading.wordFrom(value)
  if (change === undefined || isPassive(reading, said)) return
  const text = reading.textOf(said)
  reading.take(change.parameter, text, 'named in the request', [change.token, ...said])
}

function listFrom(reading: Reading, first: Token): Token[] {
  const items = [first]
  let last = first
  for (const token of reading.tokens.slice(reading.tokens.indexOf(first) + 1)) {
    if (token.text === 'and') continue
    const between = reading.text.slice(last.end, token.start)
    const isNext = /^["'”’`]?\s{0,3}(?:,|,? and\b)\s{0,3}["'“‘`]?$/.test(between)
    if (!isNext || !reading.isValue(token)) break
    items.push(token)
    last = token
  }
  return items
}

/** The one parameter that has a word of the request among its choices. */
function placeChoices(reading: Reading): void {
  const own = plainWords(reading.tool.name).map(stemOf)
  const first = reading.tokens.find(({ text }) => !isGrammar(text))
  const said: { parameter: Parameter; choice: string; token: Token }[] = []
  for (const token of reading.tokens) {
    if (reading.isUsed(token) || token.slot?.kind === 'quoted') continue
    const fitting = reading.open().flatMap((parameter) => {
      const choice = chosen(token, choicesOf(parameter))
      const isOwn = !parameter.required && own.includes(token.stem)
      return choice === undefined || isOwn ? [] : [{ parameter, choice, token }]
    })
    const [one, ...others] = fitting
    if (one === undefined) continue
    const next = reading.after(token)
    const isBeforeGrammar = next === undefined || next.slot !== undefined || isGrammar(next.text)
    // `open issues` says a choice, `open the issue` something to do.
    const isVerb = token === first && !one.parameter.required && isBeforeGrammar
    // `created by Ann` says who, not how to sort.
    const isOpen = others.length > 0 || isVerb || next?.text.toLowerCase() === 'by'
    if (isOpen || token.negated) reading.doubt([token])
    else said.push(one)
  }
  for (const [parameter, list] of Map.groupBy(said, (one) => one.parameter)) {
    const tokens = list.map(({ token }) => token)
    const values = [...new Set(list.map(({ choice }) => choice))]
    const isPlaced =
      (values.length === 1 || parameter.kind === 'array') &&
      reading.take(parameter, values.join(', '), 'a choice of the schema', tokens)
    if (!isPlaced) reading.doubt(tokens)
  }
}

function chosen({ text, stem }: Token, choices: Parameter['choices']): string | undefined {
  const word = text.toLowerCase()
  const names = choices.filter((choice) => typeof choice === 'string')
  return (
    names.find((choice) => choice.toLowerCase() === word) ??
    names.find((choice) => stemOf(choice.toLowerCase()) === stem && /^[a-z]{3,}$/i.test(choice))
  )
}

/** A flag all of whose words are said, with only grammar between them; negated it is off. */
function placeFlags(reading: Reading): void {
  const { tool } = reading
  const tokens = reading.tokens.filter(({ text }) => !isGrammar(text))
  const own = new Set(plainWords(tool.name).map(stemOf))
  for (const parameter of reading.open()) {
    const stems = parameter.words.filter((word) => !isGrammar(word)).map(stemOf)
    if (parameter.kind !== 'boolean' || stems.every((stem) => own.has(stem))) continue
    const at = tokens.findIndex((_, place) =>
      stems.every((stem, offset) => tokens[place + offset]?.stem === stem),
    )
    const said = at < 0 ? [] : tokens.slice(at, at + stems.length)
    if (said.length === 0 || said.some((token) => reading.isUsed(token))) continue
    reading.give(parameter, said[0]?.negated !== true, 'a flag of the schema', said)
  }
}
