import { isObject, tooDeepAt } from '../core/json.ts'
import { nearest } from '../core/text.ts'
import type { JsonValue } from '../skill/model.ts'
import type { JsonObject } from '../tools/model.ts'
import type { SchemaChecker } from '../tools/call/schema-checker.ts'
import { McpRequestError, type OfferedAnnotations, type OfferedTool } from './model.ts'

/** Characters of JSON that one call may bring along. */
const largestInput: number = 4 * 1024 * 1024

/** Characters of a name: of a tool, a skill, a run or a step. */
const longestName = 500

/** Characters of what a user wrote, and of other texts that are read word by word. */
export const longestText = 100_000

/**
 * The input of a call, as the tool's own schema wants it.
 *
 * @throws {McpRequestError} with everything that is missing or wrong
 */
export async function checkInput(
  { name, inputSchema }: Pick<OfferedTool, 'name' | 'inputSchema'>,
  given: unknown,
  schemas: SchemaChecker,
): Promise<JsonObject> {
  const input = given ?? {}
  const refuse = (problems: readonly string[]): McpRequestError =>
    new McpRequestError({
      code: 'invalid-parameters',
      message: [`Error: invalid parameters for ${name}`, ...problems].join('\n'),
      hint: `It takes: ${parametersOf(inputSchema)}`,
    })
  if (!isObject<JsonValue>(input)) throw refuse(['Invalid: they are not one JSON object'])
  const text = textOfJson(input)
  if (text === undefined) throw refuse(['Invalid: they are nested too deep'])
  if (text.length > largestInput) {
    throw refuse([`Invalid: they have ${text.length} characters; ${largestInput} are allowed`])
  }
  if (tooDeepAt(text) !== undefined) throw refuse(['Invalid: they are nested too deep'])
  const verdict = await schemas.check(inputSchema, input, true)
  if (!verdict.checked) throw refuse([`Invalid: they cannot be checked: ${verdict.reason}`])
  const { problems } = verdict
  if (problems.length === 0) return input
  const names = propertiesOf(inputSchema)
  throw refuse(
    problems.slice(0, 10).map(({ path, kind, message }) => {
      const at = shortened(path.join('.')) || 'the whole'
      if (kind === 'missing') return `Missing: ${at}`
      const meant = kind === 'unknown' ? nearest(at, names) : undefined
      return `Invalid: ${at} ${message}${meant === undefined ? '' : ` (did you mean ${meant}?)`}`
    }),
  )
}

/** A name as it is repeated to the one who sent it. */
export function shortened(name: string): string {
  return name.length <= longestName ? name : `${name.slice(0, 100)}…`
}

/** Undefined for what is nested too deep to be written. */
function textOfJson(input: JsonObject): string | undefined {
  try {
    return JSON.stringify(input)
  } catch {
    return undefined
  }
}

function propertiesOf(schema: JsonObject): string[] {
  const { properties } = schema
  return isObject(properties) ? Object.keys(properties) : []
}

function parametersOf(schema: JsonObject): string {
  const { required } = schema
  const needed = Array.isArray(required) ? required : []
  const names = propertiesOf(schema).map((name) => (needed.includes(name) ? `${name}*` : name))
  return names.length === 0 ? 'nothing' : `${names.join(', ')} (* needed)`
}

/** A text of an input that was checked; empty where it is not given. */
export function textIn(input: JsonObject, name: string): string {
  const value = input[name]
  return typeof value === 'string' ? value : ''
}

export function optionalTextIn(input: JsonObject, name: string): string | undefined {
  const value = input[name]
  return typeof value === 'string' && value.trim() !== '' ? value : undefined
}

export function textsIn(input: JsonObject, name: string): string[] {
  const value = input[name]
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
}

export function objectIn(input: JsonObject, name: string): JsonObject {
  const value = input[name]
  return isObject<JsonValue>(value) ? value : {}
}

export function numberIn(input: JsonObject, name: string, preset: number): number {
  const value = input[name]
  return typeof value === 'number' ? value : preset
}

export function numbersIn(input: JsonObject, name: string): Record<string, number> {
  const numbers: Record<string, number> = {}
  for (const [key, value] of Object.entries(objectIn(input, name))) {
    if (typeof value === 'number') numbers[key] = value
  }
  return numbers
}

/** A value of ours as it arrives on the wire: nothing undefined is in it. */
export function plainJson(value: object): JsonObject {
  const plain: unknown = JSON.parse(JSON.stringify(value))
  return isObject<JsonValue>(plain) ? plain : {}
}

/** Looks at what is here, and changes nothing. */
export const reads: OfferedAnnotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
}

/** Whatever the tools, or the scripts of the steps, do that are run through it. */
export const acts: OfferedAnnotations = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: false,
  openWorldHint: true,
}

/** The parameters of a tool of ours; one that is not named here is refused. */
export function inputOf(
  properties: OfferedTool['inputSchema'],
  required: string[] = [],
): OfferedTool['inputSchema'] {
  return { type: 'object', properties, required, additionalProperties: false }
}

/** The name of a skill, a tool, a run or a step. */
export function nameOf(description: string): OfferedTool['inputSchema'] {
  return { type: 'string', minLength: 1, maxLength: longestName, description }
}

/** Words that must not be missing. */
export function wordsOf(description: string): OfferedTool['inputSchema'] {
  return { type: 'string', minLength: 1, maxLength: longestText, description }
}
