import { isDeepStrictEqual } from 'node:util'
import { isObject, objectOf, ownMember, type JsonObject, type JsonValue } from '#core/json'
import { listOf, referencesOf, SchemaDocument } from './schema-document.ts'

export const schemaTypes = ['string', 'integer', 'number', 'boolean', 'array', 'object'] as const
export type SchemaType = (typeof schemaTypes)[number]

/** Numbers and texts that limit a value, in the order in which they are described. */
const limitKeywords = [
  'format',
  'pattern',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
] as const
type LimitKeyword = (typeof limitKeywords)[number]

const maxParts = 1000
const maxAlternatives = 32

const places = new WeakMap<JsonObject, SchemaPlace>()

/**
 * The one reader of input schemas: for calls, completion, descriptions, models and plans. A schema that
 * refers to parts of itself reads like one that contains them inline.
 */
export function readSchema(root: JsonObject): SchemaPlace {
  const cachedPlace = places.get(root)
  if (cachedPlace) return cachedPlace
  const place = new SchemaPlace(new SchemaDocument(root), [root])
  places.set(root, place)
  return place
}

/**
 * A schema at one place, with references, `allOf` and a union of one type with null resolved. Deeper places
 * are read on demand, so that a recursive schema does not have to end.
 */
export class SchemaPlace {
  /** All schemas that apply here, in their order, each one once. */
  readonly parts: readonly JsonObject[]
  /** Nothing is valid here, because a schema is `false`. */
  readonly isFalse: boolean
  /** A reference leads nowhere, so that part of the schema is unknown. */
  readonly isOpen: boolean
  readonly #document: SchemaDocument
  readonly #schemas: readonly JsonValue[]
  /** Parts whose unions are decided here. */
  readonly #decidedUnions: ReadonlySet<JsonObject>
  #leaves: readonly SchemaPlace[] | undefined

  constructor(
    document: SchemaDocument,
    schemas: readonly JsonValue[],
    base: readonly JsonObject[] = [],
    decidedUnions: ReadonlySet<JsonObject> = new Set(),
  ) {
    this.#document = document
    this.#schemas = schemas
    this.#decidedUnions = decidedUnions
    const collection = collectParts(document, schemas, base)
    this.parts = [...collection.parts, ...base]
    this.isFalse = collection.isFalse
    this.isOpen = collection.isOpen
  }

  get dangling(): readonly string[] {
    return this.#document.dangling
  }

  /** The possible types of a value, without null; empty if any type is possible. */
  get types(): readonly SchemaType[] {
    const typeLists = this.parts.flatMap(({ type }) =>
      type === undefined ? [] : [listedTypes(type)],
    )
    const [first, ...otherLists] = typeLists
    if (first) return withoutDoubles(otherLists.reduce(commonTypes, first))
    const [choice] = this.choices
    if (typeof choice === 'string') return ['string']
    return typeof choice === 'number' ? ['number'] : []
  }

  /** The parts contradict each other about the type. */
  get isContradictory(): boolean {
    const typedParts = this.parts.filter(({ type }) => type !== undefined)
    return typedParts.length > 0 && this.types.length === 0 && !this.isNullable
  }

  get isNullable(): boolean {
    return this.parts.some(
      (part) =>
        part['nullable'] === true ||
        listOf(part['enum']).includes(null) ||
        [part['type']].flat().includes('null') ||
        optionsOf(part).some((option) => isNullOnly(option, this.#document)),
    )
  }

  /** The only possible values, without null; empty if the schema lists none. */
  get choices(): readonly JsonValue[] {
    const [first, ...otherLists] = this.parts.flatMap((part) => {
      const choices = choicesOf(part, this.#document)
      return choices ? [choices] : []
    })
    if (!first) return []
    const common = otherLists.reduce(
      (left, right) => left.filter((one) => right.some((other) => isDeepStrictEqual(one, other))),
      first,
    )
    return common.filter((choice) => choice !== null)
  }

  /** The schema lists choices, but no value is in all of its lists. */
  get isWithoutChoice(): boolean {
    const isListed = this.parts.some((part) => choicesOf(part, this.#document) !== undefined)
    return isListed && this.choices.length === 0 && !this.isNullable
  }

  get description(): string {
    return this.#first('description', isText) ?? ''
  }

  get default(): JsonValue | undefined {
    return this.#first('default', (value) => value !== undefined)
  }

  /** The strictest limits of the parts. */
  get limits(): Readonly<Partial<Record<LimitKeyword, string | number>>> {
    const limits: Partial<Record<LimitKeyword, string | number>> = {}
    for (const keyword of limitKeywords) {
      const values = this.parts.map((part) => part[keyword])
      const numbers = values.filter((value) => typeof value === 'number')
      const isLower = /^(?:min|exclusiveMin)/.test(keyword)
      if (numbers.length > 0)
        limits[keyword] = isLower ? Math.max(...numbers) : Math.min(...numbers)
      else if (values.some(isText)) limits[keyword] = values.find(isText) ?? ''
    }
    return limits
  }

  /** Names of the required fields, as far as all alternatives agree. */
  get required(): readonly string[] {
    const ownNames = this.parts.flatMap((part) => listOf(part['required']).filter(isText))
    const [first = [], ...otherLists] = this.#isUnion
      ? this.leaves.map((leaf) => leaf.required)
      : []
    const common = first.filter((name) => otherLists.every((names) => names.includes(name)))
    return [...new Set([...ownNames, ...common])]
  }

  /** Names of the fields of an object, of all alternatives, in the order of the schema. */
  get names(): readonly string[] {
    const holders = this.#isUnion ? this.leaves.flatMap(({ parts }) => parts) : this.parts
    return [...new Set(holders.flatMap((part) => Object.keys(objectOf(part['properties']))))]
  }

  /** The fields that a value can have. */
  get properties(): ReadonlyMap<string, SchemaPlace> {
    const entries = this.names.flatMap((name): [string, SchemaPlace][] => {
      const place = this.property(name)
      return place && !place.isFalse ? [[name, place]] : []
    })
    return new Map(entries)
  }

  property(name: string): SchemaPlace | undefined {
    const ways = this.#ways(name)
    const [first] = ways
    if (!first) return undefined
    const isSame = ways.every((way) => isSameList(way, first))
    const schemas = isSame ? first : [{ anyOf: ways.map(joinSchemas) }]
    return new SchemaPlace(this.#document, schemas)
  }

  /** The schema of a list's elements; tuples are not read. */
  get items(): SchemaPlace | undefined {
    const schemas = this.parts.flatMap(({ items }) => (isObject<JsonValue>(items) ? [items] : []))
    return schemas.length === 0 ? undefined : new SchemaPlace(this.#document, schemas)
  }

  /** The alternatives of all unions, nested ones too; this place alone if there is no union. */
  get leaves(): readonly SchemaPlace[] {
    this.#leaves ??= leavesOf(this)
    return this.#leaves
  }

  /** The alternatives of the first union here. */
  alternatives(): readonly SchemaPlace[] {
    for (const part of this.parts) {
      if (this.#decidedUnions.has(part)) continue
      const options = realOptions(part, this.#document)
      if (options.length > 1) return this.#decide(part, options)
    }
    const types = this.types
    const [first] = this.parts
    const isSingle = types.length < 2 || !first || this.choices.length > 0
    if (isSingle) return []
    return types.map(
      (type) => new SchemaPlace(this.#document, [{ type }], this.parts, this.#decidedUnions),
    )
  }

  /** One schema with the same meaning, within the document of this place. */
  get schema(): JsonValue {
    return joinSchemas(this.#schemas)
  }

  #decide(union: JsonObject, options: readonly JsonValue[]): SchemaPlace[] {
    const decidedUnions = new Set([...this.#decidedUnions, union])
    return options
      .map((option) => new SchemaPlace(this.#document, [option], this.parts, decidedUnions))
      .filter((place) => !place.isFalse)
  }

  get #isUnion(): boolean {
    return this.leaves.length > 1
  }

  /** What each alternative that has a field says about it. */
  #ways(name: string): (readonly JsonValue[])[] {
    const alternatives = this.#isUnion ? this.leaves : [this]
    return alternatives.flatMap(({ parts }) => {
      const schemas = parts.flatMap((part) => {
        const schema = ownMember(objectOf<JsonValue>(part['properties']), name)
        return schema === undefined ? [] : [schema]
      })
      return schemas.length === 0 ? [] : [schemas]
    })
  }

  #first<T extends JsonValue | undefined>(
    keyword: string,
    predicate: (value: JsonValue | undefined) => value is T,
  ): T | undefined
  #first(
    keyword: string,
    predicate: (value: JsonValue | undefined) => boolean,
  ): JsonValue | undefined
  #first(keyword: string, predicate: (value: JsonValue | undefined) => boolean) {
    return this.parts.map((part) => part[keyword]).find(predicate)
  }
}

function isText(value: JsonValue | undefined): value is string {
  return typeof value === 'string'
}

function joinSchemas(schemas: readonly JsonValue[]): JsonValue {
  const [only = {}, ...otherSchemas] = schemas
  return otherSchemas.length === 0 ? only : { allOf: schemas }
}

function isSameList(one: readonly JsonValue[], other: readonly JsonValue[]): boolean {
  return one.length === other.length && one.every((schema, at) => schema === other[at])
}

interface CollectedParts {
  parts: JsonObject[]
  isFalse: boolean
  isOpen: boolean
}

/** Follows references, `allOf`, and unions that leave one alternative to null. */
function collectParts(
  document: SchemaDocument,
  schemas: readonly JsonValue[],
  base: readonly JsonObject[],
): CollectedParts {
  const result: CollectedParts = { parts: [], isFalse: false, isOpen: false }
  const visited = new Set<JsonObject>(base)
  const open: (JsonValue | undefined)[] = [...schemas].toReversed()
  while (open.length > 0) {
    const schema = open.pop()
    if (schema === false) result.isFalse = true
    if (!isObject<JsonValue>(schema) || visited.has(schema)) continue
    visited.add(schema)
    if (result.parts.push(schema) === maxParts) return { ...result, isOpen: true }
    const targets = referencesOf(schema).map((reference) => document.target(reference, schema))
    if (targets.includes(undefined)) result.isOpen = true
    const options = realOptions(schema, document)
    const next = [...targets, ...listOf(schema['allOf']), ...(options.length === 1 ? options : [])]
    open.push(...next.toReversed())
  }
  return result
}

function optionsOf(schema: JsonObject): JsonValue[] {
  return ['anyOf', 'oneOf'].flatMap((keyword) => listOf(schema[keyword]))
}

/**
 * Reads `anyOf: [T, null]` as T, because a request never says null. Constants are choices, not
 * alternatives.
 */
function realOptions(schema: JsonObject, document: SchemaDocument): readonly JsonValue[] {
  const [anyOf, oneOf] = [listOf(schema['anyOf']), listOf(schema['oneOf'])]
  const options = anyOf.length > 0 ? anyOf : oneOf
  const nonNullOptions = options.filter((option) => !isNullOnly(option, document))
  return nonNullOptions.length > 1 && constantsOf(nonNullOptions, document) ? [] : nonNullOptions
}

const maxJumps = 20

/** Returns the schema behind references that have no other keywords. */
function followReferences(schema: JsonValue, document: SchemaDocument): JsonObject {
  let place = schema
  for (let jumps = 0; jumps < maxJumps; jumps++) {
    if (!isObject<JsonValue>(place)) return {}
    const [reference] = referencesOf(place)
    const says = ['type', 'const', 'enum'].some((keyword) =>
      Object.hasOwn(objectOf(place), keyword),
    )
    if (reference === undefined || says) return place
    place = document.target(reference, place) ?? {}
  }
  return {}
}

function isNullOnly(option: JsonValue, document: SchemaDocument): boolean {
  const { type, const: constant, enum: choices } = followReferences(option, document)
  const types = [type].flat()
  const isNullType = types.length === 1 && types[0] === 'null'
  return isNullType || constant === null || (isNullList(choices) && type === undefined)
}

function isNullList(choices: JsonValue | undefined): boolean {
  const list = listOf(choices)
  return list.length > 0 && list.every((choice) => choice === null)
}

/** Returns the constants of a union in which every alternative is a constant or a list of constants. */
function constantsOf(
  options: readonly JsonValue[],
  document: SchemaDocument,
): readonly JsonValue[] | undefined {
  const constants: JsonValue[] = []
  for (const option of options) {
    const schema = followReferences(option, document)
    const choices = directChoices(schema)
    if (!choices || optionsOf(schema).length > 0 || schema['allOf'] !== undefined) return undefined
    constants.push(...choices)
  }
  return constants
}

function directChoices(schema: JsonObject): readonly JsonValue[] | undefined {
  if (schema['const'] !== undefined) return [schema['const']]
  return Array.isArray(schema['enum']) ? listOf(schema['enum']) : undefined
}

function choicesOf(schema: JsonObject, document: SchemaDocument): readonly JsonValue[] | undefined {
  const choices = directChoices(schema)
  if (choices) return choices
  const nonNullOptions = optionsOf(schema).filter((option) => !isNullOnly(option, document))
  return nonNullOptions.length > 1 ? constantsOf(nonNullOptions, document) : undefined
}

function listedTypes(type: JsonValue): readonly SchemaType[] {
  const types: readonly JsonValue[] = [type].flat()
  return schemaTypes
    .filter((one) => types.includes(one))
    .toSorted((one, other) => types.indexOf(one) - types.indexOf(other))
}

/** Returns the types that both lists allow; every integer is a number. */
function commonTypes(
  left: readonly SchemaType[],
  right: readonly SchemaType[],
): readonly SchemaType[] {
  const has = (types: readonly SchemaType[], type: SchemaType): boolean =>
    types.includes(type) || (type === 'integer' && types.includes('number'))
  return [...new Set([...left, ...right])].filter((type) => has(left, type) && has(right, type))
}

/** Removes `integer` beside `number`, which includes it. */
function withoutDoubles(types: readonly SchemaType[]): readonly SchemaType[] {
  return types.includes('number') ? types.filter((type) => type !== 'integer') : types
}

function leavesOf(place: SchemaPlace): readonly SchemaPlace[] {
  const leaves: SchemaPlace[] = []
  const open = [place]
  for (let next = open.pop(); next; next = open.pop()) {
    const alternatives = next.alternatives()
    if (alternatives.length === 0) leaves.push(next)
    else open.push(...alternatives.toReversed())
    if (leaves.length >= maxAlternatives || open.length > maxAlternatives * 4) break
  }
  return leaves.length === 0 ? [place] : leaves
}

const deepestText = 6

/** `string`, `integer | null`, `"open" | "closed"`, `string[]`. */
export function typeText(place: SchemaPlace | undefined, depth = 0): string {
  if (!place || depth > deepestText) return 'any'
  const either = [...new Set(place.leaves.map((leaf) => leafText(leaf, depth)))]
  const isNamed = place.isNullable && !either.includes('any')
  return [...either.slice(0, 12), ...(isNamed ? ['null'] : [])].join(' | ')
}

function leafText(leaf: SchemaPlace, depth: number): string {
  const { choices, types } = leaf
  if (choices.length > 0) {
    return choices
      .slice(0, 12)
      .map((choice) => JSON.stringify(choice))
      .join(' | ')
  }
  const [type] = types
  if (type === undefined) return 'any'
  return type === 'array' ? `${typeText(leaf.items, depth + 1)}[]` : type
}
