import { nearest } from '../../core/text.ts'
import { stopWords, stemOf } from '../../rank/words.ts'
import type { JsonValue } from '../../skill/model.ts'
import { blankObjects, jsonObjectsIn } from '../call/directive-text.ts'
import type { JsonObject, ToolDefinition } from '../model.ts'
import { coerceText } from './coerce.ts'
import { contractPhrases } from '../contract.ts'
import { type Parameter, parametersOf, wordsOf } from './parameter.ts'
import { placeByForm } from './place-by-form.ts'
import { choicesOf, readRequest, type Reading, type Token, unplaced } from './reading.ts'
import { maxRequestLength } from './slots.ts'

/** A value that was read for a parameter. */
export interface MappedValue {
  parameter: string
  value: JsonValue
  /** The rule that found it, in words. */
  rule: string
  /** The words of the request it was read from; empty where it came from elsewhere. */
  text: string
}

export interface ParameterMapping {
  /**
   * Only fields of the schema, each accepted by it as far as type, choices and range go; besides, as
   * it is, what the request gives as JSON.
   */
  params: JsonObject
  /** Names of required parameters without a value, in the schema's order. */
  missing: readonly string[]
  /** What the request says and neither a parameter took nor the tool says. */
  unplaced: readonly string[]
  trace: readonly MappedValue[]
}

export interface MappingContext {
  /** Values that may fill required parameters, such as those of an earlier step. */
  known?: JsonObject | undefined
  /** Sentences that are known to mean the tool. */
  examples?: readonly string[] | undefined
}

/** The parameters that are still open, and how one of them takes a value. */
export interface Placing {
  reading: Reading
  open(): readonly Parameter[]
  /** Gives a text to a parameter; false where its schema does not accept it, or it is negated. */
  take(parameter: Parameter, text: string, rule: string, tokens: readonly Token[]): boolean
  give(
    parameter: Parameter,
    value: JsonValue,
    rule: string,
    tokens: readonly Token[],
    text?: string,
  ): void
}

/**
 * Reads the parameters of a tool out of a request, by the tool's own schema: explicit forms only,
 * placed by name, type and format. Pure. Nothing is invented, and what has no one place is left
 * unplaced.
 *
 * @example
 * mapParameters('PR 123 in octo/hello', tool).params // { owner: 'octo', repo: 'hello', pull_number: 123 }
 */
export function mapParameters(
  request: string,
  tool: ToolDefinition,
  { known = {}, examples }: MappingContext = {},
): ParameterMapping {
  const parameters = parametersOf(tool.inputSchema)
  const { given, meant, rest } = writtenParameters(request, parameters)
  const reading = readRequest(rest, tool, examples)
  const found = new Map(given.map((value) => [value.parameter, value]))
  const give: Placing['give'] = ({ name }, value, rule, tokens, text) => {
    for (const token of tokens) reading.used.add(token)
    const said = text ?? tokens.map((token) => token.text).join(' ')
    found.set(name, { parameter: name, value, rule, text: said })
  }
  const placing: Placing = {
    reading,
    give,
    open: () => parameters.filter(({ name }) => !found.has(name) && !meant.has(name)),
    take(parameter, text, rule, tokens) {
      if (tokens.some((token) => token.negated)) {
        for (const token of tokens) reading.doubtful.add(token)
        return false
      }
      const value = coerceText(text, parameter)
      if (value !== undefined) give(parameter, value, rule, tokens, text)
      return value !== undefined
    },
  }
  placeAssigned(placing)
  placeContract(placing, tool)
  placeNamed(placing)
  placeChoices(placing, tool)
  placeFlags(placing, tool)
  placeByForm(placing)
  for (const { name, required } of placing.open()) {
    const value = required && Object.hasOwn(known, name) ? known[name] : undefined
    if (value === undefined) continue
    found.set(name, { parameter: name, value, rule: 'known from before', text: '' })
  }
  const names = parameters.map(({ name }) => name)
  const trace = [
    ...names.flatMap((name) => found.get(name) ?? []),
    ...given.filter(({ parameter }) => !names.includes(parameter)),
  ]
  return {
    params: Object.fromEntries(trace.map(({ parameter, value }) => [parameter, value])),
    missing: placing.open().flatMap(({ name, required }) => (required ? [name] : [])),
    unplaced: unplaced(reading),
    trace,
  }
}

/**
 * Parameters that a request gives as a JSON object: one whose keys are names of parameters, a
 * misspelt one perhaps. They are taken as they are written, so that the check of the schema says
 * what is wrong with them; no word in them is read for anything else. Any other JSON is a text.
 */
function writtenParameters(
  request: string,
  parameters: readonly Parameter[],
): { given: MappedValue[]; meant: ReadonlySet<string>; rest: string } {
  const text = request.slice(0, maxRequestLength)
  const names = parameters.map(({ name }) => name)
  const objects = jsonObjectsIn(text).filter(({ value }) =>
    Object.keys(value).every((key) => names.includes(key) || nearest(key, names) !== undefined),
  )
  const given = new Map<string, MappedValue>()
  const meant = new Set<string>()
  for (const { start, end, value: object } of objects) {
    for (const [parameter, value] of Object.entries(object)) {
      if (given.has(parameter)) continue
      const name = names.includes(parameter) ? undefined : nearest(parameter, names)
      if (name !== undefined) meant.add(name)
      const rule = 'written as JSON'
      given.set(parameter, { parameter, value, rule, text: text.slice(start, end) })
    }
  }
  return { given: [...given.values()], meant, rest: blankObjects(text, objects) }
}

/** `name=value` and `name: value`; the value is quoted, a list, a typed piece or one word. */
function placeAssigned({ reading, open, take }: Placing): void {
  for (const parameter of open()) {
    const name = parameter.name.replaceAll(/\W/g, '\\$&')
    const pattern = new RegExp(
      `(?<![\\w.-])${name}\\s{0,3}[=:]\\s{0,3}(\\[[^\\]\\n]{0,2000}\\]|"[^"\\n]{0,4000}"|\\S{1,4000})`,
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
    take(parameter, text, 'named in the request', within(reading, match.index, end))
  }
}

/** The phrases of the format, where the schema has their fields. */
function placeContract(placing: Placing, { name }: ToolDefinition): void {
  const { reading, open, take, give } = placing
  for (const { tool, phrase, values = {} } of contractPhrases) {
    if (tool !== undefined && wordsOf(tool).join() !== wordsOf(name).join()) continue
    const match = phrase.exec(reading.text)
    const groups = Object.entries({ ...match?.groups })
    const fields = [...groups.map(([field]) => field), ...Object.keys(values)]
    const wanted = open().filter((parameter) => fields.includes(parameter.name))
    if (match === null || groups.some(([field]) => !wanted.some((one) => one.name === field))) {
      continue
    }
    const tokens = within(reading, match.index, match.index + match[0].length)
    const rule = 'a phrase of the format'
    const isTaken = groups.every(([field, text]) => {
      const parameter = wanted.find((one) => one.name === field)
      return parameter !== undefined && take(parameter, withoutMark(text), rule, tokens)
    })
    if (!isTaken) continue
    for (const parameter of wanted) {
      const value = values[parameter.name]
      const isChosen = parameter.choices.length === 0 || parameter.choices.includes(value ?? null)
      const isSaid = groups.some(([field]) => field === parameter.name)
      const isOther = otherChoice(placing, parameter, tokens)
      if (value !== undefined && isChosen && !isSaid && !isOther) {
        give(parameter, value, rule, tokens)
      }
    }
  }
}

/** Whether the request says a value of its own for a parameter that a phrase has a value for. */
function otherChoice(
  { reading }: Placing,
  parameter: Parameter,
  phrase: readonly Token[],
): boolean {
  return reading.tokens.some(
    (token) =>
      !reading.used.has(token) &&
      !phrase.includes(token) &&
      chosen(token, choicesOf(parameter)) !== undefined,
  )
}

function withoutMark(text: string): string {
  return text.replace(/[.,;:!?]$/, '')
}

function within({ tokens }: Reading, from: number, to: number): Token[] {
  return tokens.filter(({ start, end }) => from <= start && end <= to)
}

/** `page 2`, `uid btn-1`, `20 lines`: a parameter's name beside a value. */
function placeNamed(placing: Placing): void {
  const { reading, take } = placing
  for (const [at, token] of reading.tokens.entries()) {
    if (token.slot !== undefined || reading.used.has(token)) continue
    const value = valueBeside(placing, at)
    if (value === undefined) continue
    const named = placing
      .open()
      .filter((one) => labels(one).includes(token.stem) && accepts(one, value.text))
    const full = named.filter(({ words }) => words.length === 1)
    const [parameter, ...others] = full.length > 0 ? full : named
    if (parameter === undefined || others.length > 0) continue
    const items = parameter.items === undefined ? [value] : listFrom(placing, value)
    const text = items.map((item) => item.text).join(parameter.items === undefined ? '' : ', ')
    take(parameter, text, 'named in the request', [token, ...items])
  }
}

function accepts(parameter: Parameter, text: string): boolean {
  return coerceText(text, parameter) !== undefined
}

/** Stems of a parameter's name that may stand before its value: `pull_number` is `pull`, `number`. */
function labels({ words }: Parameter): string[] {
  return words.filter((word) => !stopWords.has(word) && word !== 'id').map(stemOf)
}

function valueBeside({ reading }: Placing, at: number): Token | undefined {
  const { tokens, used, isKnown, text } = reading
  const after = tokens[at + 1]
  const isValue = (token: Token | undefined): token is Token =>
    token !== undefined && !used.has(token) && (token.slot !== undefined || !isKnown(token))
  const between = text.slice(tokens[at]?.end, after?.start)
  if (isValue(after) && /^\s{0,3}[#:=]?\s{0,3}["'“‘`]?$/.test(between)) return after
  const before = tokens[at - 1]
  return before?.slot?.kind === 'number' && isValue(before) ? before : undefined
}

/** The values of a list: `bug, ui and docs`. */
function listFrom({ reading: { tokens, used, isKnown, text } }: Placing, first: Token): Token[] {
  const items = [first]
  let last = first
  for (const token of tokens.slice(tokens.indexOf(first) + 1)) {
    if (token.text === 'and') continue
    const between = text.slice(last.end, token.start)
    const isNext = /^["'”’`]?\s{0,3}(?:,|,? and\b)\s{0,3}["'“‘`]?$/.test(between)
    if (!isNext || used.has(token) || (token.slot === undefined && isKnown(token))) break
    items.push(token)
    last = token
  }
  return items
}

/** The one parameter that has a word of the request among its choices. */
function placeChoices({ reading, open, take }: Placing, { name }: ToolDefinition): void {
  const own = wordsOf(name).map(stemOf)
  const first = reading.tokens.find(({ text }) => !stopWords.has(text.toLowerCase()))
  const said = new Map<Parameter, { choice: string; token: Token }[]>()
  for (const token of reading.tokens) {
    if (reading.used.has(token) || token.slot?.kind === 'quoted') continue
    const fitting = open().flatMap((parameter) => {
      const choice = chosen(token, choicesOf(parameter))
      const isOwn = !parameter.required && own.includes(token.stem)
      return choice === undefined || isOwn ? [] : [{ parameter, choice }]
    })
    const [only, ...others] = fitting
    if (only === undefined) continue
    // `open issues` says a choice, `open the issue` something to do.
    const isVerb = token === first && !only.parameter.required && isGrammar(reading, token)
    if (others.length > 0 || token.negated || isVerb) reading.doubtful.add(token)
    else said.set(only.parameter, [...(said.get(only.parameter) ?? []), { ...only, token }])
  }
  for (const [parameter, choices] of said) {
    const tokens = choices.map(({ token }) => token)
    const values = [...new Set(choices.map(({ choice }) => choice))]
    const isPlaced =
      (values.length === 1 || parameter.kind === 'array') &&
      take(parameter, values.join(', '), 'a choice of the schema', tokens)
    if (!isPlaced) for (const token of tokens) reading.doubtful.add(token)
  }
}

/** Whether grammar follows a word, or nothing. */
function isGrammar({ tokens }: Reading, token: Token): boolean {
  const next = tokens[tokens.indexOf(token) + 1]
  return next === undefined || next.slot !== undefined || stopWords.has(next.text.toLowerCase())
}

function chosen({ text, stem }: Token, choices: Parameter['choices']): string | undefined {
  const word = text.toLowerCase()
  const names = choices.filter((choice) => typeof choice === 'string')
  return (
    names.find((choice) => choice.toLowerCase() === word) ??
    names.find((choice) => stemOf(choice.toLowerCase()) === stem && /^[a-z]{3,}$/i.test(choice))
  )
}

/** A flag all of whose words are said, one after the other; negated it is off. */
function placeFlags({ reading, open, give }: Placing, { name }: ToolDefinition): void {
  const own = new Set(wordsOf(name).map(stemOf))
  for (const parameter of open()) {
    const stems = parameter.words.map(stemOf)
    if (parameter.kind !== 'boolean' || stems.every((stem) => own.has(stem))) continue
    const { tokens, used } = reading
    const at = tokens.findIndex((_, place) =>
      stems.every((stem, offset) => tokens[place + offset]?.stem === stem),
    )
    const said = at < 0 ? [] : tokens.slice(at, at + stems.length)
    if (said.length === 0 || said.some((token) => used.has(token))) continue
    give(parameter, said[0]?.negated !== true, 'a flag of the schema', said)
  }
}
