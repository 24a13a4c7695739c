import { plainWords } from '#rank/words'
import { isList, isObject, objectOf, plainText, type JsonValue, type JsonObject } from '#core/json'
import { readJson } from '#tools/call/directive-text'

const kinds = ['string', 'integer', 'number', 'boolean', 'array', 'object'] as const

export interface Parameter {
  name: string
  words: readonly string[]
  kind: (typeof kinds)[number] | 'unknown'
  required: boolean
  description: string
  /** Values of `enum`, `const` or string alternatives of `anyOf`. */
  choices: readonly JsonValue[]
  format?: string | undefined
  pattern?: string | undefined
  minimum?: number | undefined
  maximum?: number | undefined
  items?: Parameter | undefined
}

export function parametersOf(schema: JsonObject): Parameter[] {
  const required = new Set(arrayOf(schema['required']))
  return Object.entries(objectOf<JsonValue>(schema['properties'])).map(([name, property]) =>
    parameterOf(name, objectOf<JsonValue>(property), required.has(name)),
  )
}

function parameterOf(name: string, given: JsonObject, required: boolean): Parameter {
  // Of `anyOf: [T, null]` or `type: [T, "null"]` only T: a request never says null.
  const options = ['anyOf', 'oneOf'].flatMap((key) =>
    arrayOf(given[key]).map((option) => objectOf<JsonValue>(option)),
  )
  const real = options.filter((option) => option['type'] !== 'null')
  const schema: JsonObject = real.length === 1 ? { ...given, ...real[0] } : given
  const type = [schema['type']].flat().find((one) => one !== 'null')
  const choices = choicesOf(schema, options)
  const byChoice = typeof choices[0]
  const kind =
    kinds.find((one) => one === type) ??
    (byChoice === 'string' || byChoice === 'number' ? byChoice : 'unknown')
  const text = (value: JsonValue | undefined) => (typeof value === 'string' ? value : undefined)
  const number = (value: JsonValue | undefined) => (typeof value === 'number' ? value : undefined)
  return {
    name,
    get words() {
      return plainWords(name)
    },
    kind,
    required,
    description: text(given['description']) ?? text(schema['description']) ?? '',
    choices,
    format: text(schema['format']),
    pattern: text(schema['pattern']),
    minimum: number(schema['minimum']),
    maximum: number(schema['maximum']),
    items:
      kind === 'array' ? parameterOf(name, objectOf<JsonValue>(schema['items']), false) : undefined,
  }
}

function choicesOf(schema: JsonObject, options: readonly JsonObject[]): readonly JsonValue[] {
  const own = arrayOf(schema['enum'])
  const all = schema['const'] === undefined && own.length === 0 ? options : [schema]
  const consts = all.flatMap((one) => (one['const'] === undefined ? [] : [one['const']]))
  return consts.length > 0 ? consts : own
}

function arrayOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : []
}

/** The text as a value that the schema accepts, or undefined where it cannot be one. */
export function coerceText(text: string, parameter: Parameter): JsonValue | undefined {
  const value = plainValue(text.trim(), parameter)
  const { minimum = -Infinity, maximum = Infinity } = parameter
  const isInRange = typeof value !== 'number' || (value >= minimum && value <= maximum)
  return isInRange ? value : undefined
}

function plainValue(text: string, { kind, choices, items }: Parameter): JsonValue | undefined {
  const word = text.toLowerCase()
  if (choices.length > 0 && kind !== 'array') {
    return choices.find((choice) => plainText(choice).toLowerCase() === word)
  }
  switch (kind) {
    case 'integer':
      return /^[+-]?\d{1,15}$/.test(text) ? numberOf(text) : undefined
    case 'number':
      return /^[+-]?\d{1,15}(?:\.\d{1,15})?$/.test(text) ? numberOf(text) : undefined
    case 'boolean':
      if (['true', 'yes', 'on'].includes(word)) return true
      return ['false', 'no', 'off'].includes(word) ? false : undefined
    case 'array':
      return items && listOf(text, items)
    case 'object': {
      const json = readJson(text)
      return json.ok && isObject(json.value) ? json.value : undefined
    }
    case 'string':
    case 'unknown':
      return text === '' ? undefined : text
  }
}

/** `-0` is 0, as it will be in the JSON that the tool gets. */
function numberOf(text: string): number {
  return Number(text) + 0
}

function listOf(text: string, items: Parameter): JsonValue | undefined {
  const json = readJson(text)
  const parts =
    json.ok && isList(json.value)
      ? json.value.map(plainText)
      : text.split(/(?<!\s)\s*,\s*|,\s*|(?<!\s)\s+and\s+/).filter((part) => part !== '')
  const values = parts.map((part) => coerceText(part, items))
  return values.length > 0 && values.every((value) => value !== undefined) ? values : undefined
}
