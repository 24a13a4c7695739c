import { isObject } from '../../core/json.ts'
import { nearest } from '../../core/text.ts'
import type { JsonValue } from '../../skill/model.ts'
import type { JsonObject, ToolDefinition } from '../model.ts'
import { coerceText } from '../parameters/coerce.ts'
import { type Parameter, parametersOf } from '../parameters/parameter.ts'
import { isList, objectOf, readJson } from './directive-text.ts'
import { InvalidParametersError, ToolRequestError } from './errors.ts'
import type { SchemaChecker, SchemaProblem } from './schema-checker.ts'

/**
 * Checks the parameters by the tool's own schema.
 *
 * @returns why they could not be checked, or undefined
 * @throws {InvalidParametersError} with everything that is missing or wrong
 */
export async function checkParameters(
  tool: ToolDefinition,
  params: JsonObject,
  schemas: SchemaChecker,
): Promise<string | undefined> {
  const verdict = await schemas.check(tool.inputSchema, params)
  if (!verdict.checked) return `the parameters of ${tool.id} were not checked: ${verdict.reason}`
  const { problems } = verdict
  if (problems.length === 0) return undefined
  const advice = adviceFor(tool, params, problems)
  throw new InvalidParametersError(problemsText(tool, problems), problems, advice)
}

/** The call to complete, where something is missing; a misspelt name gives its value to the right one. */
function adviceFor(
  tool: ToolDefinition,
  params: JsonObject,
  problems: readonly SchemaProblem[],
): string | undefined {
  const pathsOf = (kind: SchemaProblem['kind']): (readonly string[])[] =>
    problems.flatMap((problem) => (problem.kind === kind ? [problem.path] : []))
  const missing = pathsOf('missing')
  if (missing.length === 0) return undefined
  const unknown = new Set(unknownNames(tool, params))
  const lacking = missing.flatMap(([name, ...rest]) =>
    name === undefined || rest.length > 0 ? [] : name,
  )
  const known = new Map<string, JsonValue>()
  for (const [name, value] of Object.entries(params)) {
    const right = unknown.has(name) ? nearest(name, lacking) : name
    if (right !== undefined) known.set(right, value)
  }
  const open = [
    ...missing.filter(([name = '', ...rest]) => rest.length > 0 || !known.has(name)),
    ...pathsOf('wrong').filter(({ length }) => length > 0),
  ]
  const call = `Complete it: ${callToComplete(tool, Object.fromEntries(known), open)}`
  return [...unknownParameters(tool, params), call].join('\n')
}

/**
 * What the tool's schema says against parameters that are not complete yet: `later` are the paths of
 * values that an earlier answer will give. One line for each kind of problem; none where they fit.
 */
export async function foreseenProblems(
  tool: ToolDefinition,
  params: JsonObject,
  later: readonly (readonly string[])[],
  schemas: SchemaChecker,
): Promise<string[]> {
  const verdict = await schemas.check(tool.inputSchema, params)
  if (!verdict.checked) return []
  const certain = verdict.problems.filter(
    ({ path, kind }) => kind === 'unknown' || !later.some((one) => isOnOneWay(path, one)),
  )
  return problemLines(tool, certain)
}

function isOnOneWay(a: readonly string[], b: readonly string[]): boolean {
  return a.slice(0, b.length).every((part, index) => part === b[index])
}

/** The seed's error text, with what is wrong besides what is missing. */
function problemsText(tool: ToolDefinition, problems: readonly SchemaProblem[]): string {
  const names = Object.keys(objectOf(tool.inputSchema['properties']))
  const isAtTop = problems.some(({ path, kind }) => kind === 'unknown' || path.length === 0)
  const concerned = isAtTop ? names : problems.map(({ path }) => path[0] ?? '')
  const expected = [...new Set(concerned)]
    .filter((name) => names.includes(name))
    .map((name) => `${name}: ${typeText(propertyOf(tool, name))}`)
  const lines = [`Error: invalid parameters for ${tool.id}`, ...problemLines(tool, problems)]
  if (expected.length > 0) lines.push(`Expected: ${expected.join(', ')}`)
  const isWrong = problems.some(({ kind }) => kind !== 'missing')
  lines.push(isWrong ? 'Next: correct the values' : 'Next: provide missing values')
  return lines.join('\n')
}

/** `Missing: …` and `Invalid: …`, as far as there is something to say. */
function problemLines(tool: ToolDefinition, problems: readonly SchemaProblem[]): string[] {
  const names = Object.keys(objectOf(tool.inputSchema['properties']))
  const missing = problems.filter(({ kind }) => kind === 'missing').map(nameOf)
  const wrong = problems.filter(({ kind }) => kind !== 'missing').map(sentence)
  return [
    ...(missing.length > 0 ? [`Missing: ${[...new Set(missing)].join(', ')}`] : []),
    ...(wrong.length > 0 ? [`Invalid: ${[...new Set(wrong)].slice(0, 10).join('; ')}`] : []),
  ]

  function sentence({ path, kind, message }: SchemaProblem): string {
    const name = path.length === 0 ? 'the whole' : path.join('.')
    const meant = kind === 'unknown' && path.length === 1 ? nearest(name, names) : undefined
    return `${name} ${message}${meant === undefined ? '' : ` (did you mean ${meant}?)`}`
  }
}

function nameOf({ path }: SchemaProblem): string {
  return path.join('.')
}

/**
 * A sentence for each parameter that the schema allows without knowing it, at any depth: often a
 * misspelt optional one, which the server would pass over in silence. Where a schema says itself that
 * it takes other names, only what looks misspelt.
 */
export function unknownParameters(tool: ToolDefinition, params: JsonObject): string[] {
  const found = unknownIn(tool.inputSchema, params, '').filter(({ isForbidden }) => !isForbidden)
  return found.map((one) => sentence(one, tool.id))
}

/** The same for each parameter that the schema forbids: a call with it is refused. */
export function forbiddenParameters(tool: ToolDefinition, params: JsonObject): string[] {
  const found = unknownIn(tool.inputSchema, params, '').filter(({ isForbidden }) => isForbidden)
  return found.map((one) => sentence(one, tool.id))
}

/** The names at the top that the schema does not know, whether it allows them or not. */
function unknownNames(tool: ToolDefinition, params: JsonObject): string[] {
  const names = new Set(unknownIn(tool.inputSchema, params, '').map(({ name }) => name))
  return Object.keys(params).filter((name) => names.has(name))
}

interface Unknown {
  name: string
  known: readonly string[]
  meant: string | undefined
  /** The check of the schema says so already. */
  isForbidden: boolean
}

function unknownIn(schema: JsonObject, params: JsonObject, prefix: string): Unknown[] {
  const { properties } = schema
  // Other keywords may know more names.
  if (properties === undefined || !isObject(properties) || hasAlternatives(schema)) return []
  const isForbidden =
    schema['additionalProperties'] === false || schema['unevaluatedProperties'] === false
  const isOpen = isOpenByItself(schema)
  const known = Object.keys(properties)
  const left = known.filter((name) => !Object.hasOwn(params, name))
  return Object.entries(params).flatMap(([name, value]) => {
    if (Object.hasOwn(properties, name)) {
      return within(objectOf(properties[name]), value, `${prefix}${name}`)
    }
    const meant = nearest(name, left)
    if (isOpen && meant === undefined) return []
    const full = meant === undefined ? undefined : prefix + meant
    const names = known.map((one) => prefix + one)
    return [{ name: prefix + name, known: names, meant: full, isForbidden }]
  })
}

function within(schema: JsonObject, value: JsonValue, path: string): Unknown[] {
  if (isObject(value)) return unknownIn(schema, value, `${path}.`)
  if (!isList(value)) return []
  const items = objectOf(schema['items'])
  return value.flatMap((item, index) => within(items, item, `${path}[${index}]`))
}

const alternatives = ['$ref', 'allOf', 'anyOf', 'oneOf', 'if', 'dependentSchemas', 'dependencies']

function hasAlternatives(schema: JsonObject): boolean {
  return alternatives.some((keyword) => schema[keyword] !== undefined)
}

function isOpenByItself({ additionalProperties, patternProperties }: JsonObject): boolean {
  const isSaid = additionalProperties !== undefined && additionalProperties !== false
  return isSaid || patternProperties !== undefined
}

function sentence({ name, known, meant }: Unknown, tool: string): string {
  const head = `\`${name}\` is not a parameter of ${tool}`
  if (meant !== undefined) return `${head}; did you mean \`${meant}\`?`
  if (known.length === 0) return `${head}; it has none.`
  return `${head}; it has ${known.slice(0, 12).join(', ')}${known.length > 12 ? ', …' : ''}.`
}

/** What a value must be that a keyword of its schema refuses; a part of a sentence about it. */
export function schemaSentence(keyword: string, params: Readonly<Record<string, unknown>>): string {
  const { limit, type, pattern, format, multipleOf, allowedValue } = params
  const amount = String(limit)
  switch (keyword) {
    case 'type':
      return `must be ${[type].flat().map(named).join(' or ')}`
    case 'minItems':
      return `must have ${plural(limit, 'item')} or more`
    case 'maxItems':
      return `must have ${plural(limit, 'item')} at most`
    case 'minLength':
      return limit === 1 ? 'must not be empty' : `must have ${plural(limit, 'character')} or more`
    case 'maxLength':
      return `must have ${plural(limit, 'character')} at most`
    case 'minProperties':
      return `must have ${plural(limit, 'field')} or more`
    case 'maxProperties':
      return `must have ${plural(limit, 'field')} at most`
    case 'minimum':
      return `must be ${amount} or more`
    case 'maximum':
      return `must be ${amount} or less`
    case 'exclusiveMinimum':
      return `must be more than ${amount}`
    case 'exclusiveMaximum':
      return `must be less than ${amount}`
    case 'multipleOf':
      return `must be a multiple of ${String(multipleOf)}`
    case 'uniqueItems':
      return 'must have no item twice'
    case 'pattern':
      return `must match the pattern ${String(pattern)}`
    case 'format':
      return `must have the format ${String(format)}`
    case 'const':
      return `must be ${JSON.stringify(allowedValue)}`
    case 'anyOf':
    case 'oneOf':
      return 'must fit one of the shapes that its schema allows'
    case 'contains':
      return 'lacks an item that its schema wants'
    case 'false schema':
      return 'is not allowed'
    default:
      return `breaks the rule "${keyword}" of its schema`
  }
}

function named(type: unknown): string {
  if (type === 'null') return 'null'
  const word = String(type)
  return /^[aio]/.test(word) ? `an ${word}` : `a ${word}`
}

function plural(count: unknown, noun: string): string {
  return `${String(count)} ${noun}${count === 1 ? '' : 's'}`
}

function propertyOf(tool: ToolDefinition, name: string): JsonObject {
  const properties = objectOf(tool.inputSchema['properties'])
  return Object.hasOwn(properties, name) ? objectOf(properties[name]) : {}
}

/** `string`, `integer | null`, `"open" | "closed"`, `string[]`. */
function typeText(schema: JsonObject): string {
  const { type, enum: choices, anyOf, oneOf, items } = schema
  if (choices !== undefined && isList(choices)) {
    return choices
      .slice(0, 12)
      .map((choice) => JSON.stringify(choice))
      .join(' | ')
  }
  if (type === 'array') return `${typeText(objectOf(items))}[]`
  if (typeof type === 'string') return type
  if (type !== undefined && isList(type)) return type.map(String).join(' | ')
  const options = anyOf ?? oneOf
  if (options === undefined || !isList(options)) return 'any'
  return [...new Set(options.map((option) => typeText(objectOf(option))))].join(' | ')
}

/** A longer value is not repeated. */
const longestValue = 400

/**
 * The command for a call that lacks something, ready to be completed: what is known as it is, and
 * `"<string>"` at the paths of what is missing. From a request or a server, so it is not yet safe to
 * print.
 */
export function callToComplete(
  tool: ToolDefinition,
  params: JsonObject,
  missing: readonly (readonly string[])[],
): string {
  const known = Object.entries(params).map(([name, value]) => [name, shortened(value)])
  let whole: JsonValue = Object.fromEntries(known)
  for (const path of missing) whole = withPlaceholder(whole, tool.inputSchema, path)
  return `skillrail tools call ${tool.id} ${quoted(JSON.stringify(whole))}`
}

function shortened(value: JsonValue): JsonValue {
  return JSON.stringify(value).length > longestValue ? '<as before>' : value
}

function withPlaceholder(
  value: JsonValue | undefined,
  schema: JsonObject,
  [name, ...rest]: readonly string[],
): JsonValue {
  // Choices without the quotes that the JSON around them would have to escape.
  if (name === undefined) return `<${typeText(schema).replaceAll('"', '')}>`
  if (value !== undefined && isList(value)) {
    const items = objectOf(schema['items'])
    return value.map((item, index) =>
      String(index) === name ? withPlaceholder(item, items, rest) : item,
    )
  }
  const members = new Map(Object.entries(objectOf(value)))
  const member = objectOf(objectOf(schema['properties'])[name])
  members.set(name, withPlaceholder(members.get(name), member, rest))
  return Object.fromEntries(members)
}

/** One word for a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}

/**
 * Parameters as a JSON object.
 *
 * @throws {ToolRequestError}
 */
export function parseParameters(json: string): JsonObject {
  const reading = readJson(json)
  if (!reading.ok) throw wrongParameters(`the parameters are ${reading.problem}`)
  if (isObject(reading.value)) return reading.value
  throw wrongParameters('the parameters must be a JSON object')
}

/**
 * Parameters as `name=value`, each value read as the tool's schema wants it; a name that comes twice
 * makes a list. What the schema does not know, and what cannot be read, stays text: the check of the
 * schema then shows the errors.
 *
 * @throws {ToolRequestError} for an argument without `=`
 */
export function readPairs(pairs: readonly string[], tool: ToolDefinition): JsonObject {
  const texts = new Map<string, string[]>()
  for (const pair of pairs) {
    const [, name, text = ''] = /^([^=\s]{1,200})=([\s\S]*)$/.exec(pair) ?? []
    if (name === undefined) throw wrongParameters(`${pair} is not name=value`)
    texts.set(name, [...(texts.get(name) ?? []), text])
  }
  const parameters = new Map(
    parametersOf(tool.inputSchema).map((parameter) => [parameter.name, parameter]),
  )
  return Object.fromEntries(
    [...texts].map(([name, values]) => [name, valueOf(values, parameters.get(name))]),
  )
}

function valueOf(texts: readonly string[], parameter: Parameter | undefined): JsonValue {
  const [only = ''] = texts
  if (parameter === undefined) return texts.length === 1 ? only : texts
  if (texts.length === 1) return coerceText(only, parameter) ?? only
  const { items } = parameter
  return texts.map((text) => (items === undefined ? text : (coerceText(text, items) ?? text)))
}

function wrongParameters(message: string): ToolRequestError {
  return new ToolRequestError({
    code: 'wrong-parameters',
    message,
    hint: 'Give them as \'{"name": "value"}\', as @FILE, as - for stdin, or as name=value.',
  })
}
