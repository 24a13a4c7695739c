import { nearest, shellWord } from '#core/text'
import { isObject, type JsonValue, type JsonObject } from '#core/json'
import { addTo } from '#core/lists'
import { parameterNames } from '#tools/cache/tool-index'
import type { ToolDefinition } from '#tools/model'
import { coerceText, type Parameter, parametersOf } from '#tools/parameters/parameter'
import { readSchema, typeText } from '#tools/schema/read-schema'
import { readJson } from './directive-text.ts'
import { InvalidParametersError, ToolRequestError } from '#tools/errors'
import { missingUploads } from './upload-paths.ts'
import type { SchemaChecker, SchemaProblem } from './schema-checker.ts'

/** Returns why the parameters could not be checked. Throws {@link InvalidParametersError}. */
export async function checkParameters(
  tool: ToolDefinition,
  params: JsonObject,
  schemas: SchemaChecker,
  files?: readonly string[],
): Promise<string | undefined> {
  const verdict = await schemas.check(tool.inputSchema, params)
  if (!verdict.checked) return `the parameters of ${tool.id} were not checked: ${verdict.reason}`
  const { unread } = verdict
  const problems = [...verdict.problems, ...uploadProblems(tool, params, files)]
  if (problems.length === 0) return unreadText(tool, unread)
  throw new InvalidParametersError({
    code: 'invalid-parameters',
    message: problemsText(tool, problems),
    hint: adviceFor(tool, params, problems),
  })
}

function uploadProblems(
  tool: ToolDefinition,
  params: JsonObject,
  files: readonly string[] | undefined,
): SchemaProblem[] {
  const missing = files ? missingUploads(tool, params, files) : []
  return missing.map(({ parameter, path }) => {
    return { path: [parameter], kind: 'wrong', message: `names ${path}, and no such file exists` }
  })
}

/** Patterns are compared by RE2 alone, because a server's own could run for hours. */
function unreadText({ id }: ToolDefinition, unread: readonly string[]): string | undefined {
  if (unread.length === 0) return undefined
  const shown = unread.slice(0, 3).map((pattern) => JSON.stringify(pattern.slice(0, 80)))
  return `the parameters of ${id} were not compared with ${shown.join(', ')}: RE2 cannot read that pattern, or not for so long a text`
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
  files?: readonly string[],
): Promise<string[]> {
  const verdict = await schemas.check(tool.inputSchema, params)
  if (!verdict.checked) return []
  const problems = [...verdict.problems, ...uploadProblems(tool, params, files)]
  const certain = problems.filter(
    ({ path: [name = ''], kind }) => kind === 'unknown' || !later.includes(name),
  )
  return problemLines(tool, certain)
}

/** The seed's error text, with what is wrong besides what is missing. */
function problemsText(tool: ToolDefinition, problems: readonly SchemaProblem[]): string {
  const { properties } = readSchema(tool.inputSchema)
  const isAtTop = problems.some(({ path, kind }) => kind === 'unknown' || path.length === 0)
  const concerned = isAtTop ? [...properties.keys()] : problems.map(({ path }) => path[0] ?? '')
  const expected = [...new Set(concerned)]
    .filter((name) => properties.has(name))
    .map((name) => `${name}: ${typeText(properties.get(name))}`)
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

/** Keywords that may know more names than those that the schema reader finds. */
const conditional = ['if', 'dependentSchemas', 'dependencies']

/** A sentence for each unknown parameter, which a server would ignore; `forbidden`: refuse. */
export function unknownParameters(
  { id, inputSchema: schema }: ToolDefinition,
  params: JsonObject,
  forbidden = false,
): string[] {
  const place = readSchema(schema)
  const says = (keyword: string, isSaid: (value: JsonValue) => boolean): boolean =>
    place.parts.some((part) => part[keyword] !== undefined && isSaid(part[keyword]))
  const isFalse = (value: JsonValue): boolean => value === false
  const isForbidden =
    says('additionalProperties', isFalse) || says('unevaluatedProperties', isFalse)
  const isElsewhere = place.isOpen || conditional.some((keyword) => says(keyword, () => true))
  const known = place.names
  const hasNames = known.length > 0 || says('properties', isObject)
  if (!hasNames || isElsewhere || isForbidden !== forbidden) return []
  const isOpen =
    says('additionalProperties', (value) => !isFalse(value)) ||
    says('patternProperties', () => true)
  return Object.keys(params).flatMap((name) => {
    const meant = nearest(name, known)
    if (known.includes(name) || (isOpen && meant === undefined)) return []
    const list = known.length === 0 ? 'none' : known.slice(0, 12).join(', ')
    const advice = meant === undefined ? `it has ${list}.` : `did you mean \`${meant}\`?`
    return `\`${name}\` is not a parameter of ${id}; ${advice}`
  })
}

const longestValue = 400

/** The command for a call that lacks something. Not yet safe to print. */
export function callToComplete(
  { id, inputSchema }: ToolDefinition,
  params: JsonObject,
  missing: readonly string[],
): string {
  const { properties } = readSchema(inputSchema)
  const whole = new Map<string, unknown>()
  for (const [name, value] of Object.entries(params)) {
    whole.set(name, JSON.stringify(value).length > longestValue ? '<as before>' : value)
  }
  // Choices without the quotes that the JSON around them would have to escape.
  for (const name of missing) {
    whole.set(name, `<${typeText(properties.get(name)).replaceAll('"', '')}>`)
  }
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
