import { isList, isObject, objectOf, ownMember, type JsonObject, type JsonValue } from '#core/json'

/** Keywords of JSON Schema that contain schemas, and the form in which they contain them. */
const schemaKeywords = {
  one: [
    'items',
    'additionalItems',
    'additionalProperties',
    'unevaluatedItems',
    'unevaluatedProperties',
    'propertyNames',
    'contains',
    'not',
    'if',
    'then',
    'else',
  ],
  list: ['allOf', 'anyOf', 'oneOf', 'prefixItems', 'items'],
  map: [
    'properties',
    'patternProperties',
    '$defs',
    'definitions',
    'dependentSchemas',
    'dependencies',
  ],
} as const

/** The base of a schema that has no `$id`. */
const namelessBase = 'schema:/input'

/** A server's schema whose references can be followed. Reads nothing outside the schema. */
export class SchemaDocument {
  readonly #root: JsonObject
  readonly #bases = new Map<object, string>()
  /** Schemas by full URI: those with an `$id` and those with an anchor. */
  readonly #schemaByUri = new Map<string, JsonObject>()
  /** Every schema within; undefined until a reference is followed, because most schemas have none. */
  #schemas: Set<JsonObject> | undefined

  constructor(root: JsonObject) {
    this.#root = root
  }

  /** References that lead nowhere within the schema. */
  get dangling(): readonly string[] {
    const schemas = this.#indexed()
    const dangling = new Set<string>()
    for (const schema of schemas) {
      for (const reference of referencesOf(schema)) {
        const target = this.target(reference, schema)
        if (target === undefined) dangling.add(reference)
        // The target can be in a place where the index expects no schema.
        else if (isObject<JsonValue>(target)) this.#index(target, this.#baseOf(schema), schemas)
      }
    }
    return [...dangling]
  }

  /**
   * Returns the schema that a reference in `from` leads to: an object, `true` or `false`; else undefined.
   */
  target(reference: string, from: JsonObject): JsonObject | boolean | undefined {
    this.#indexed()
    const uri = absolute(reference, this.#baseOf(from))
    if (uri === undefined) return undefined
    const [resource = '', fragment = ''] = uri.split('#', 2)
    const namedSchema =
      this.#schemaByUri.get(uri) ?? (fragment === '' ? this.#schemaByUri.get(resource) : undefined)
    if (namedSchema || fragment === '') return namedSchema
    const holder = this.#schemaByUri.get(resource)
    return holder && fragment.startsWith('/') ? resolvePointer(holder, fragment) : undefined
  }

  #indexed(): Set<JsonObject> {
    if (this.#schemas) return this.#schemas
    const schemas = (this.#schemas = new Set<JsonObject>())
    this.#schemaByUri.set(namelessBase, this.#root)
    this.#index(this.#root, namelessBase, schemas)
    return schemas
  }

  #baseOf(schema: JsonObject): string {
    return this.#bases.get(schema) ?? namelessBase
  }

  #index(start: JsonObject, startBase: string, schemas: Set<JsonObject>): void {
    const open: [schema: unknown, base: string][] = [[start, startBase]]
    for (let next = open.pop(); next; next = open.pop()) {
      const [schema, outer] = next
      if (!isObject<JsonValue>(schema) || schemas.has(schema)) continue
      schemas.add(schema)
      const { $id: id, $anchor: anchor } = schema
      const base = (typeof id === 'string' && absolute(id, outer)) || outer
      this.#bases.set(schema, base)
      if (typeof id === 'string') this.#schemaByUri.set(base.replace(/#$/, ''), schema)
      if (typeof anchor === 'string')
        this.#schemaByUri.set(`${base.split('#', 1)[0]}#${anchor}`, schema)
      for (const inner of schemasIn(schema)) open.push([inner, base])
    }
  }
}

export function referencesOf(schema: JsonObject): string[] {
  return [schema['$ref'], schema['$dynamicRef']].filter((one) => typeof one === 'string')
}

function schemasIn(schema: JsonObject): unknown[] {
  const { one, list, map } = schemaKeywords
  return [
    ...one.map((keyword) => schema[keyword]),
    ...list.flatMap((keyword) => listOf(schema[keyword])),
    ...map.flatMap((keyword) => Object.values(objectOf(schema[keyword]))),
  ]
}

export function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : []
}

function absolute(reference: string, base: string): string | undefined {
  return URL.parse(reference, base)?.href
}

/** Resolves a JSON pointer such as `/$defs/owner`; undefined if no schema can be there. */
function resolvePointer(holder: JsonObject, fragment: string): JsonObject | boolean | undefined {
  let value: unknown = holder
  for (const segment of fragment.slice(1).split('/')) {
    const key = decodeUri(segment)?.replaceAll('~1', '/').replaceAll('~0', '~')
    if (key === undefined) return undefined
    if (isList(value)) value = /^\d{1,9}$/.test(key) ? value[Number(key)] : undefined
    else value = isObject(value) ? ownMember(value, key) : undefined
  }
  return typeof value === 'boolean' || isObject<JsonValue>(value) ? value : undefined
}

function decodeUri(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
