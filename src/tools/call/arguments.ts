import { isObject } from '../../base/index.ts'
import type { JsonValue } from '../../skill/index.ts'
import type { JsonObject, ToolDefinition } from '../model.ts'
import { coerceText } from '../parameters/coerce.ts'
import { type Parameter, parametersOf } from '../parameters/parameter.ts'
import { readJson } from './_json.ts'
import { ToolRequestError } from './errors.ts'

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
 * schema then says what is wrong.
 *
 * @throws {ToolRequestError} for an argument without `=`
 */
export function readPairs(pairs: readonly string[], tool: ToolDefinition): JsonObject {
  const texts = new Map<string, string[]>()
  for (const pair of pairs) {
    const [, name, text = ''] = /^([^=\s]{1,200})=([\s\S]*)$/.exec(pair) ?? []
    if (name === undefined) throw wrongParameters(`${pair} is no name=value`)
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
    hint: 'Give them as \'{"name": "value"}\', as @FILE, as - for standard input, or as name=value.',
  })
}
