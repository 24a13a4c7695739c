import { nearest, shellWord } from '#core/text'
import { isList, isObject, objectOf, type JsonValue, type JsonObject } from '#core/json'
import { addTo } from '#rank/words'
import { parameterNames } from '#tools/cache/tool-index'
import type { ToolDefinition } from '#tools/model'
import { coerceText, type Parameter, parametersOf } from '#tools/parameters/parameter'
import { readJson } from './directive-text.ts'
import { InvalidParametersError, ToolRequestError } from '#tools/errors'
import type { SchemaChecker, SchemaProblem } from './schema-checker.ts'

/** Returns why the parameters could not be checked. Throws {@link InvalidParametersError}. */
export async function checkParameters(
  tool: ToolDefinition,
  params: JsonObject,
  schemas: SchemaChecker,
): Promise<string | undefined> {
  const verdict = await schemas.check(tool.inputSchema, params)
  if (!verdict.checked) return `the parameters of ${tool.id} were not checked: ${verdict.reason}`
  const { problems } = verdict
  if (problems.length === 0) return undefined
  throw new InvalidParametersError({
    code: 'invalid-parameters',
    message: problemsText(tool, problems),
    hint: adviceFor(tool, params, problems),
  })
}

function adviceFor(tool: ToolDefinition, params: JsonObject, problems: readonly SchemaProblem[]) {
  if (problems.every(({ kind, path }) => kind !== 'missing' || path.length > 1)) return undefined
  const open = problems.flatMap(({ path: [name = '', ...rest], kind }) =>
    rest.length > 0 || kind === 'unknown' || name === '' ? [] : [name],
  )
  const call = `Complete it: ${callToComplete(tool, params, open)}`
  return [...unknownParameters(tool, params), call].join('\n')
}

/** What the schema says against a call; `later` are parameters that an earlier answer will give. */
export async function foreseenProblems(
  tool: ToolDefinition,
  params: JsonObject,
  later: readonly string[],
  schemas: SchemaChecker,
): Promise<string[]> {
  const verdict = await schemas.check(tool.inputSchema, params)
  if (!verdict.checked) return []
  const certain = verdict.problems.filter(
    ({ path: [name = ''], kind }) => kind === 'unknown' || !later.includes(name),
  )
  return problemLines(tool, certain)
}

/** The seed's error text, with what is wrong besides what is missing. */
function problemsText(tool: ToolDefinition, problems: readonly SchemaProblem[]): string {
  const properties = objectOf(tool.inputSchema['properties'])
  const isAtTop = problems.some(({ path, kind }) => kind === 'unknown' || path.length === 0)
  const concerned = isAtTop ? Object.keys(properties) : problems.map(({ path }) => path[0] ?? '')
  const expected = [...new Set(concerned)]
    .filter((name) => Object.hasOwn(properties, name))
    .map((name) => `${name}: ${typeText(properties[name])}`)
  const isWrong = problems.some(({ kind }) => kind !== 'missing')
  return [
    `Error: invalid parameters for ${tool.id}`,
    ...problemLines(tool, problems),
    ...(expected.length > 0 ? [`Expected: ${expected.join(', ')}`] : []),
    isWrong ? 'Next: correct the values' : 'Next: provide missing values',
  ].join('\n')
}

/** `Missing: …` and `Invalid: …`, as far as there is something to say. */
function problemLines(tool: ToolDefinition, problems: readonly SchemaProblem[]): string[] {
  const names = parameterNames(tool)
  const missing = new Set<string>()
  const wrong = new Set<string>()
  for (const { path, kind, message } of problems) {
    const name = path.join('.')
    const meant = kind === 'unknown' && path.length === 1 ? nearest(name, names) : undefined
    const hint = meant === undefined ? '' : ` (did you mean ${meant}?)`
    if (kind === 'missing') missing.add(name)
    else wrong.add(`${name || 'the whole'} ${message}${hint}`)
  }
  const lines: string[] = []
  if (missing.size > 0) lines.push(`Missing: ${[...missing].join(', ')}`)
  if (wrong.size > 0) lines.push(`Invalid: ${[...wrong].slice(0, 10).join('; ')}`)
  return lines
}

/** Keywords that may know more names. */
const alternatives = ['$ref', 'allOf', 'anyOf', 'oneOf', 'if', 'dependentSchemas', 'dependencies']

/** A sentence for each unknown parameter, which a server would ignore; `forbidden`: refuse. */
export function unknownParameters(
  { id, inputSchema: schema }: ToolDefinition,
  params: JsonObject,
  forbidden = false,
): string[] {
  const { properties, additionalProperties, unevaluatedProperties, patternProperties } = schema
  const isForbidden = additionalProperties === false || unevaluatedProperties === false
  const isElsewhere = alternatives.some((keyword) => schema[keyword] !== undefined)
  if (!isObject(properties) || isElsewhere || isForbidden !== forbidden) return []
  const isOpen = (additionalProperties ?? false) !== false || patternProperties !== undefined
  const known = Object.keys(properties)
  return Object.keys(params).flatMap((name) => {
    const meant = nearest(name, known)
    if (known.includes(name) || (isOpen && meant === undefined)) return []
    const list = known.length === 0 ? 'none' : known.slice(0, 12).join(', ')
    const advice = meant === undefined ? `it has ${list}.` : `did you mean \`${meant}\`?`
    return `\`${name}\` is not a parameter of ${id}; ${advice}`
  })
}

/** `string`, `integer | null`, `"open" | "closed"`, `string[]`. */
export function typeText(schema: unknown): string {
  const { type, enum: choices, anyOf, oneOf, items } = objectOf(schema)
  const either = (texts: readonly string[]) => texts.join(' | ')
  if (isList(choices)) return either(choices.slice(0, 12).map((choice) => JSON.stringify(choice)))
  if (type === 'array') return `${typeText(items)}[]`
  if (typeof type === 'string') return type
  if (isList(type)) return either(type.map(String))
  const options = anyOf ?? oneOf
  return isList(options) ? either([...new Set(options.map(typeText))]) : 'any'
}

const longestValue = 400

/** The command for a call that lacks something. Not yet safe to print. */
export function callToComplete(
  { id, inputSchema }: ToolDefinition,
  params: JsonObject,
  missing: readonly string[],
): string {
  const properties = objectOf(inputSchema['properties'])
  const whole = new Map<string, unknown>()
  for (const [name, value] of Object.entries(params)) {
    whole.set(name, JSON.stringify(value).length > longestValue ? '<as before>' : value)
  }
  // Choices without the quotes that the JSON around them would have to escape.
  for (const name of missing) whole.set(name, `<${typeText(properties[name]).replaceAll('"', '')}>`)
  const json = JSON.stringify(Object.fromEntries(whole))
  return `skillrail tools call ${id} ${shellWord(json)}`
}

export function parseParameters(json: string): JsonObject {
  const reading = readJson(json)
  if (!reading.ok) throw wrongParameters(`the parameters are ${reading.problem}`)
  if (isObject(reading.value)) return reading.value
  throw wrongParameters('the parameters must be a JSON object')
}

/**
 * `name=value`, read by the schema; a repeated name makes a list, and an unknown one stays text.
 */
export function readPairs(pairs: readonly string[], tool: ToolDefinition): JsonObject {
  const texts = new Map<string, string[]>()
  for (const pair of pairs) {
    const [, name, text = ''] = /^([^=\s]+)=([\s\S]*)$/.exec(pair) ?? []
    if (name === undefined) throw wrongParameters(`${pair} is not name=value`)
    addTo(texts, name, text)
  }
  const parameters = parametersOf(tool.inputSchema)
  const entries = [...texts].map(([name, values]) => {
    const parameter = parameters.find((one) => one.name === name)
    return [name, valueOf(values, parameter)]
  })
  return Object.fromEntries(entries)
}

function valueOf(texts: readonly string[], parameter: Parameter | undefined): JsonValue {
  const [only = ''] = texts
  const read = (text: string, one: Parameter | undefined) => (one && coerceText(text, one)) ?? text
  return texts.length === 1
    ? read(only, parameter)
    : texts.map((text) => read(text, parameter?.items))
}

function wrongParameters(message: string): ToolRequestError {
  return new ToolRequestError({
    code: 'wrong-parameters',
    message,
    hint: 'Give them as \'{"name": "value"}\', as @FILE, as - for stdin, or as name=value.',
  })
}
