import { isList, isObject, ownMember, type JsonValue } from '#core/json'
import type { GatedCall, JsonObject, Prerequisite } from './model.ts'
import { foldParameter } from './match.ts'

export interface Reference {
  text: string
  /** `call`, `sql`, `steps`, or the `output_as` of a step. */
  root: string
  /** The number of the step, for the root `steps`. */
  step?: number | undefined
  path: readonly (string | number)[]
  /** With `[]` at its end, the step is called once for each element of the list. */
  each: boolean
}

/** A parameter's text: alternative references, with an optional text at the end. */
interface ReferenceChain {
  references: readonly Reference[]
  /** The text after the last `??`, if it is not a reference. */
  fallback?: string | undefined
  /** A `?` at the end: the parameter is left out if nothing has a value. */
  optional: boolean
}

const grammar =
  /^\$([A-Za-z][A-Za-z0-9_-]{0,63})((?:\.[A-Za-z0-9_-]{1,64}|\[(?:\d{1,6}|\*)\]){0,16})(\[\])?$/

/** Parses references: `$a.b ?? $c ?? text` is the first one with a value; `$$x` is the text `$x`. */
export function parseReferences(text: string): ReferenceChain | undefined {
  if (!text.startsWith('$') || text.startsWith('$$') || text.length > 1000) return undefined
  const optional = text.endsWith('?') && !text.endsWith('??')
  const parts = (optional ? text.slice(0, -1) : text).split('??').map((part) => part.trim())
  const references: Reference[] = []
  for (const [index, part] of parts.entries()) {
    const reference = parseReference(part)
    if (reference) references.push(reference)
    else if (index > 0 && index === parts.length - 1 && part !== '') {
      return { references, fallback: part, optional }
    } else return undefined
  }
  return { references, optional }
}

function parseReference(text: string): Reference | undefined {
  const [, root = '', pathText = '', list] = grammar.exec(text) ?? []
  if (root === '') return undefined
  const each = list !== undefined
  const path = Array.from(pathText.matchAll(/\.([A-Za-z0-9_-]+)|\[(\d+|\*)\]/g), ([, key, index]) =>
    key === undefined && index !== '*' ? Number(index) : (key ?? '*'),
  )
  if (root !== 'steps') return { text, root, path, each }
  const [step, ...inner] = path
  const number = Number(step)
  if (!Number.isInteger(number) || number < 1) return undefined
  return { text, root, step: number, path: inner, each }
}

/** Returns the value at a path; undefined if there is none. Never follows inherited properties. */
export function valueAt(
  value: JsonValue | undefined,
  path: readonly (string | number)[],
): JsonValue | undefined {
  let current = value
  for (const key of path) {
    if (current === undefined) return undefined
    if (isList(current)) current = elementOf(current, key)
    else if (isObject<JsonValue>(current)) current = ownMember(current, String(key))
    else return undefined
  }
  return current === null ? undefined : current
}

function elementOf(list: readonly JsonValue[], key: string | number): JsonValue | undefined {
  if (key === '*') return list.length === 1 ? list[0] : undefined
  return Number.isInteger(Number(key)) ? list[Number(key)] : undefined
}

export interface MissingValue {
  parameter: string
  reference: string
  /** Steps that could have the value and have not run yet. */
  waitsFor: readonly number[]
  /** Whether a step that ran, or no existing step, was expected to have the value. */
  isFromStep: boolean
}

export interface ResolvedParams {
  params: JsonObject
  missing: readonly MissingValue[]
  /** Parameters with `?` that have no value. */
  leftOut: readonly MissingValue[]
  /** Parameters with a list, of which each call takes one value. */
  each?: readonly string[] | undefined
}

interface ReferenceSources {
  call: GatedCall
  steps: readonly Prerequisite[]
  results: ReadonlyMap<number, JsonValue>
}

export function resolveParams(step: Prerequisite, sources: ReferenceSources): ResolvedParams {
  const missing: MissingValue[] = []
  const leftOut: MissingValue[] = []
  const each: string[] = []
  const params: JsonObject = {}
  for (const [parameter, template] of Object.entries(step.params ?? {})) {
    const value = resolve(template, parameter)
    if (value !== undefined) params[parameter] = value
  }
  return { params, missing, leftOut, each: each.length > 0 ? each : undefined }

  function resolve(template: JsonValue, parameter: string): JsonValue | undefined {
    if (typeof template === 'string') return resolveText(template, parameter)
    if (isList(template)) {
      return template.map((item) => resolve(item, parameter)).filter((item) => item !== undefined)
    }
    if (!isObject(template)) return template
    const entries = Object.entries(template).flatMap(([key, item]) => {
      const value = resolve(item, `${parameter}.${key}`)
      return value === undefined ? [] : [[key, value] as const]
    })
    return Object.fromEntries(entries)
  }

  function resolveText(text: string, parameter: string): JsonValue | undefined {
    const chain = parseReferences(text)
    if (!chain) return text.startsWith('$$') ? text.slice(1) : text
    const result = firstValue(chain, sources)
    if (result.each === true && isList(result.value)) each.push(parameter)
    if (result.value !== undefined) return result.value
    const { waitsFor, asked: isFromStep } = result
    ;(chain.optional ? leftOut : missing).push({ parameter, reference: text, waitsFor, isFromStep })
    return undefined
  }
}

/** Returns the step that a reference means; no `output_as` is named `call` or `sql`. */
export function stepOf({ root, step }: Reference, steps: readonly Prerequisite[]) {
  return step ?? steps.findLast(({ outputAs }) => outputAs === root)?.step
}

export function isReferred(number: number, steps: readonly Prerequisite[]): boolean {
  return steps
    .flatMap(({ params }) => textsOf(params ?? {}))
    .flatMap((text) => parseReferences(text)?.references ?? [])
    .some((reference) => stepOf(reference, steps) === number)
}

function firstValue(chain: ReferenceChain, sources: ReferenceSources) {
  const waitsFor: number[] = []
  let isFromStep = false
  for (const reference of chain.references) {
    const step = stepOf(reference, sources.steps)
    if (step === undefined && !['call', 'sql'].includes(reference.root)) isFromStep = true
    if (step !== undefined && !sources.results.has(step)) waitsFor.push(step)
    else if (step !== undefined) isFromStep = true
    const value = valueOf(reference, step, sources)
    // A step takes precedence over the alternatives after it, so it has to run first.
    if (value !== undefined && waitsFor.length === 0)
      return { value, waitsFor, asked: isFromStep, each: reference.each }
  }
  return waitsFor.length > 0
    ? { waitsFor, asked: isFromStep }
    : { value: chain.fallback, waitsFor, asked: isFromStep }
}

function valueOf(
  reference: Reference,
  step: number | undefined,
  { call, results }: ReferenceSources,
): JsonValue | undefined {
  if (step !== undefined) return valueAt(results.get(step), reference.path)
  const [first, ...innerPath] = reference.path
  if (reference.root === 'call') {
    if (first === undefined) return call.params
    return valueAt(callParameter(call.params, String(first)), innerPath)
  }
  return reference.root === 'sql' ? sqlValue(call.params, reference.path) : undefined
}

export function callParameter(params: JsonObject, name: string): JsonValue | undefined {
  if (Object.hasOwn(params, name)) return params[name]
  const foldedName = foldParameter(name)
  const key = Object.keys(params).find((candidate) => foldParameter(candidate) === foldedName)
  return key === undefined ? undefined : params[key]
}

const sqlParameters = ['query', 'sql', 'statement']

function sqlValue(params: JsonObject, path: readonly (string | number)[]): JsonValue | undefined {
  const text = sqlParameters
    .map((name) => callParameter(params, name))
    .find((value): value is string => typeof value === 'string')
  if (text === undefined) return undefined
  const tables = sqlTables(text)
  const names = [...new Set(tables.map(({ table }) => table))]
  if (names.length === 0) return undefined
  const qualifier = tables.find((table) => table.qualifier !== undefined)?.qualifier
  return valueAt({ table: names[0] ?? '', tables: names, database: qualifier ?? null }, path)
}

interface SqlTable {
  table: string
  /** The text before the dot: a database or a schema. */
  qualifier?: string | undefined
}

const maxLength = 100_000

/** A name, plain or in one of the quotes that databases use. */
const part = '(?:[\\p{L}_][\\p{L}\\p{N}_$]*|"[^"]+"|`[^`]+`|\\[[^\\][]+\\])'
const name = `${part}(?:\\s*\\.\\s*${part}){0,2}`
const firstName = new RegExp(name, 'u')
const parts = new RegExp(part, 'gu')
const place = new RegExp(
  `(?:\\bfrom|\\bjoin|\\binto|\\btable|^\\s*update)\\s+(?:only\\s+|if\\s+exists\\s+)?(${name}(?:(?:\\s+(?:as\\s+)?${part})?\\s*,\\s*${name})*)(\\s*\\()?`,
  'giu',
)

/**
 * Returns the tables of a SQL statement in order, each once, without common table expressions and
 * functions. A heuristic: the result selects tables to inspect, and never decides whether the statement may
 * run.
 */
export function sqlTables(sql: string): SqlTable[] {
  const text = withoutLiterals(sql.slice(0, maxLength))
  const commonTableNames = commonTables(text)
  const tables = new Map<string, SqlTable>()
  for (const [clause, list = '', bracket] of text.matchAll(place)) {
    const isInsert = /^into/i.test(clause.trimStart())
    if (bracket !== undefined && !isInsert) continue
    for (const item of list.split(',')) {
      const table = readName(item)
      const isCommonTable =
        table.qualifier === undefined && commonTableNames.has(table.table.toLowerCase())
      if (table.table !== '' && !isCommonTable)
        tables.set(`${table.qualifier ?? ''}.${table.table}`, table)
    }
  }
  return [...tables.values()]
}

function withoutLiterals(sql: string) {
  return sql
    .replace(/--[^\n]*|\/\*[^]*?(?:\*\/|$)|'(?:[^']|'')*'/g, ' ')
    .replace(/\b(?:extract|substring|trim|overlay|position)\s*\([^()]*\)/gi, ' ')
    .replace(/\bdistinct\s+from\b/gi, ' ')
    .replace(/\bcreate\s+(?:\w+\s+){0,3}?table\s+(?:if\s+not\s+exists\s+)?/gi, ' ')
}

function commonTables(sql: string): ReadonlySet<string> {
  if (!/^\s*with\b/i.test(sql)) return new Set()
  const names = sql.matchAll(
    /(?<![\p{L}\p{N}_$])([\p{L}_][\p{L}\p{N}_$]*)\s*(?:\([^()]*\)\s*)?\bas\s*(?:not\s+materialized\s*|materialized\s*)?\(/giu,
  )
  return new Set(Array.from(names, ([, name = '']) => name.toLowerCase()))
}

/** `a.b AS c` is the table `b` with the qualifier `a`. */
function readName(item: string): SqlTable {
  const [qualifiedName = ''] = firstName.exec(item) ?? []
  const names = Array.from(qualifiedName.matchAll(parts), ([text]) => unquote(text))
  return { table: names.at(-1) ?? '', qualifier: names.length > 1 ? names.at(-2) : undefined }
}

function unquote(text: string) {
  return /^["`[]/.test(text) ? text.slice(1, -1) : text
}

export function textsOf(value: JsonValue): string[] {
  if (typeof value === 'string') return [value]
  if (isList(value)) return value.flatMap(textsOf)
  return isObject(value) ? Object.values(value).flatMap(textsOf) : []
}
