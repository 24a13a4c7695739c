import { plainWords } from '#rank/words'
import {
  isList,
  isObject,
  plainText,
  prototypeKeys,
  type JsonValue,
  type JsonObject,
} from '#core/json'
import { readJson } from '#tools/call/directive-text'
import { readSchema, type SchemaPlace, type SchemaType } from '#tools/schema/read-schema'

export interface Parameter {
  name: string
  words: readonly string[]
  kind: SchemaType | 'unknown'
  required: boolean
  description: string
  /** The values of `enum`, `const`, or of a union that consists of such values. */
  choices: readonly JsonValue[]
  format?: string | undefined
  pattern?: string | undefined
  minimum?: number | undefined
  maximum?: number | undefined
  /** Exclusive limits. */
  above?: number | undefined
  below?: number | undefined
  /** The schema's `default`. */
  default?: JsonValue | undefined
  items?: Parameter | undefined
  /** The alternatives of a union, in its order; empty for a single type. */
  alternatives: readonly Parameter[]
}

const parametersBySchema = new WeakMap<JsonObject, readonly Parameter[]>()

export function parametersOf(schema: JsonObject): readonly Parameter[] {
  const cached = parametersBySchema.get(schema)
  if (cached) return cached
  const root = readSchema(schema)
  const parameters = [...root.properties]
    .filter(([name]) => !prototypeKeys.has(name))
    .map(([name, place]) => parameterOf(name, place, root.required.includes(name)))
  parametersBySchema.set(schema, parameters)
  return parameters
}

const identifierWords: readonly string[] = 'id ids uid uuid gid guid'.split(' ')

/** Whether the name of a parameter says that it is an ID: `pageId`, `issueIdOrKey`. */
export function isIdentifier({ words }: Parameter): boolean {
  return words.some((word) => identifierWords.includes(word))
}

function parameterOf(name: string, place: SchemaPlace, required: boolean): Parameter {
  const { limits, leaves, choices } = place
  const number = (value: unknown) => (typeof value === 'number' ? value : undefined)
  const text = (value: unknown) => (typeof value === 'string' ? value : undefined)
  const kind = kindOf(leaves)
  let items: Parameter | undefined
  let alternatives: readonly Parameter[] | undefined
  return {
    name,
    words: plainWords(name),
    kind,
    required,
    description: place.description || (leaves.find((leaf) => leaf.description)?.description ?? ''),
    choices,
    format: text(limits.format),
    pattern: text(limits.pattern),
    minimum: number(limits.minimum),
    maximum: number(limits.maximum),
    above: number(limits.exclusiveMinimum),
    below: number(limits.exclusiveMaximum),
    default: place.default,
    // A getter, because the items of a list can have the list's own schema.
    get items() {
      if (kind === 'array') items ??= parameterOf(name, place.items ?? anything, false)
      return items
    },
    get alternatives() {
      const branches = leaves.length > 1 ? leaves : []
      return (alternatives ??= branches.map((leaf) => parameterOf(name, leaf, required)))
    },
  }
}

const anything = readSchema({})

/** Returns the common type of a union's alternatives, or `string`, because every request is text. */
function kindOf(leaves: readonly SchemaPlace[]): Parameter['kind'] {
  const kinds = new Set(leaves.map(({ types: [first] }) => first ?? 'unknown'))
  const [only = 'unknown', ...others] = kinds
  if (others.length === 0) return only
  if (kinds.has('string')) return 'string'
  return [...kinds].every((kind) => kind === 'integer' || kind === 'number') ? 'number' : 'unknown'
}

/** Converts a text to a value that the schema accepts; undefined if that is impossible. */
export function coerceText(text: string, parameter: Parameter, depth = 0): JsonValue | undefined {
  if (depth > deepestList) return undefined
  const { alternatives } = parameter
  const value =
    alternatives.length > 0
      ? unionValue(text, alternatives, depth)
      : plainValue(text.trim(), parameter, depth)
  return typeof value === 'number' && !isInRange(value, parameter) ? undefined : value
}

/** Maximum depth of lists in lists. */
const deepestList = 5

function isInRange(value: number, parameter: Parameter): boolean {
  const { minimum = -Infinity, maximum = Infinity, above, below } = parameter
  const isOver = above === undefined || value > above
  return value >= minimum && value <= maximum && isOver && (below === undefined || value < below)
}

/** Uses the first alternative that accepts the text; a list is the last choice. */
function unionValue(
  text: string,
  alternatives: readonly Parameter[],
  depth: number,
): JsonValue | undefined {
  const isList = (one: Parameter) => one.kind === 'array' && !/^\s*\[/.test(text)
  const lists = alternatives.filter(isList)
  const others = alternatives.filter((one) => !isList(one))
  for (const one of [...others, ...lists]) {
    const value = coerceText(text, one, depth + 1)
    if (value !== undefined) return value
  }
  return undefined
}

function plainValue(
  text: string,
  { kind, choices, items }: Parameter,
  depth: number,
): JsonValue | undefined {
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
      return items && listOf(text, items, depth)
    case 'object': {
      const json = readJson(text)
      return json.ok && isObject(json.value) ? json.value : undefined
    }
    case 'string':
    case 'unknown':
      return text === '' ? undefined : text
  }
}

/** Converts `-0` to 0, as in the JSON that the tool gets. */
function numberOf(text: string): number {
  return Number(text) + 0
}

function listOf(text: string, items: Parameter, depth: number): JsonValue | undefined {
  const json = readJson(text)
  const parts =
    json.ok && isList(json.value)
      ? json.value.map(plainText)
      : text.split(/(?<!\s)\s*,\s*|,\s*|(?<!\s)\s+and\s+/).filter((part) => part !== '')
  const values = parts.map((part) => coerceText(part, items, depth + 1))
  return values.length > 0 && values.every((value) => value !== undefined) ? values : undefined
}
