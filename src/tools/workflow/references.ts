import { isList, isObject, ownMember, type JsonValue } from '#core/json'
import type { GatedCall, JsonObject, Prerequisite } from './model.ts'
import { foldParameter } from './match.ts'

export interface Reference {
  text: string
  /** `call`, `sql`, `steps`, or the `output_as` of a step. */
  root: string
  /** Of the root `steps`. */
  step?: number | undefined
  path: readonly (string | number)[]
  /** With `[]` at its end the step is called once for each element of the list. */
  each: boolean
}

/** A parameter's text: one of several references, or the text at the end of them. */
interface ReferenceChain {
  references: readonly Reference[]
  /** After the last `??`, where it is not a reference. */
  fallback?: string | undefined
  /** A `?` at the end: left out where nothing has a value. */
  optional: boolean
}

const grammar =
  /^\$([A-Za-z][A-Za-z0-9_-]{0,63})((?:\.[A-Za-z0-9_-]{1,64}|\[(?:\d{1,6}|\*)\]){0,16})(\[\])?$/

/** Reads references: `$a.b ?? $c ?? text` is the first with a value; `$$x` is the text `$x`. */
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
  const [, root = '', rest = '', list] = grammar.exec(text) ?? []
  if (root === '') return undefined
  const each = list !== undefined
  const path = Array.from(rest.matchAll(/\.([A-Za-z0-9_-]+)|\[(\d+|\*)\]/g), ([, key, index]) =>
    key === undefined && index !== '*' ? Number(index) : (key ?? '*'),
  )
  if (root !== 'steps') return { text, root, path, each }
  const [step, ...inner] = path
  const number = Number(step)
  if (!Number.isInteger(number) || number < 1) return undefined
  return { text, root, step: number, path: inner, each }
}

/** What a path leads to; undefined where it leads nowhere. Never follows inherited properties. */
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
  /** Steps whose result could give it and have not run yet. */
  waitsFor: readonly number[]
  /** Whether a step that ran was asked and had no such value. */
  asked: boolean
}

export interface ResolvedParams {
  params: JsonObject
  missing: readonly MissingValue[]
  /** Those with `?` that have none. */
  leftOut: readonly MissingValue[]
  /** Parameters with a list of which each call takes one. */
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
  for (const [parameter, written] of Object.entries(step.params ?? {})) {
    const value = resolve(written, parameter)
    if (value !== undefined) params[parameter] = value
  }
  return { params, missing, leftOut, each: each.length > 0 ? each : undefined }

  function resolve(written: JsonValue, parameter: string): JsonValue | undefined {
    if (typeof written === 'string') return resolveText(written, parameter)
    if (isList(written)) {
      return written.map((item) => resolve(item, parameter)).filter((item) => item !== undefined)
    }
    if (!isObject(written)) return written
    const entries = Object.entries(written).flatMap(([key, item]) => {
      const value = resolve(item, `${parameter}.${key}`)
      return value === undefined ? [] : [[key, value] as const]
    })
    return Object.fromEntries(entries)
  }

  function resolveText(text: string, parameter: string): JsonValue | undefined {
    const chain = parseReferences(text)
    if (!chain) return text.startsWith('$$') ? text.slice(1) : text
    const found = firstValue(chain, sources)
    if (found.each === true && isList(found.value)) each.push(parameter)
    if (found.value !== undefined) return found.value
    const { waitsFor, asked } = found
    ;(chain.optional ? leftOut : missing).push({ parameter, reference: text, waitsFor, asked })
    return undefined
  }
}

/** The step whose result is meant; no `output_as` is named `call` or `sql`. */
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
  let asked = false
  for (const reference of chain.references) {
    const step = stepOf(reference, sources.steps)
    if (step === undefined && !['call', 'sql'].includes(reference.root)) asked = true
    if (step !== undefined && !sources.results.has(step)) waitsFor.push(step)
    else if (step !== undefined) asked = true
    const value = valueOf(reference, step, sources)
    // A step takes precedence over the alternatives behind it: it has to run first.
    if (value !== undefined && waitsFor.length === 0)
      return { value, waitsFor, asked, each: reference.each }
  }
  return waitsFor.length > 0 ? { waitsFor, asked } : { value: chain.fallback, waitsFor, asked }
}

function valueOf(
  reference: Reference,
  step: number | undefined,
  { call, results }: ReferenceSources,
): JsonValue | undefined {
  if (step !== undefined) return valueAt(results.get(step), reference.path)
  const [first, ...rest] = reference.path
  if (reference.root === 'call') {
    if (first === undefined) return call.params
    return valueAt(callParameter(call.params, String(first)), rest)
  }
  return reference.root === 'sql' ? sqlValue(call.params, reference.path) : undefined
}

export function callParameter(params: JsonObject, name: string): JsonValue | undefined {
  if (Object.hasOwn(params, name)) return params[name]
  const wanted = foldParameter(name)
  const key = Object.keys(params).find((candidate) => foldParameter(candidate) === wanted)
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
  /** What stands before the dot: a database, or a schema. */
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
 * The tables of a SQL statement in order, each once, without common table expressions and
 * functions. A heuristic: the result selects tables to inspect, and never decides whether the
 * statement may run.
 */
export function sqlTables(sql: string): SqlTable[] {
  const text = withoutLiterals(sql.slice(0, maxLength))
  const own = commonTables(text)
  const found = new Map<string, SqlTable>()
  for (const [whole, list = '', bracket] of text.matchAll(place)) {
    const isInsert = /^into/i.test(whole.trimStart())
    if (bracket !== undefined && !isInsert) continue
    for (const item of list.split(',')) {
      const table = readName(item)
      const isOwn = table.qualifier === undefined && own.has(table.table.toLowerCase())
      if (table.table !== '' && !isOwn) found.set(`${table.qualifier ?? ''}.${table.table}`, table)
    }
  }
  return [...found.values()]
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
  return new Set(Array.from(names, ([, found = '']) => found.toLowerCase()))
}

/** `a.b AS c` is the table `b`, qualified by `a`. */
function readName(item: string): SqlTable {
  const [written = ''] = firstName.exec(item) ?? []
  const names = Array.from(written.matchAll(parts), ([text]) => unquote(text))
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
