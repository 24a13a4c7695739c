import { isObject } from '../base/index.ts'
import type { JsonValue } from '../skill/index.ts'
import { isJsonList, textsOf } from './_json-values.ts'
import { type Reference, type ReferenceChain, parseReferences, valueAt } from './reference.ts'
import { sqlTables } from './sql-tables.ts'
import { foldParameter } from './tool-names.ts'
import type { GatedCall, JsonObject, Prerequisite } from './model.ts'

/** A parameter that has no value, and why. */
export interface MissingValue {
  parameter: string
  /** The text of the reference, as the workflow has it. */
  reference: string
  /** Steps whose result could give it and have not run yet. */
  waitsFor: readonly number[]
  /** Whether a step that ran was asked and had no such value. */
  asked: boolean
}

export interface ResolvedParams {
  params: JsonObject
  /** Those that must have a value. */
  missing: readonly MissingValue[]
  /** Those with `?` that have none. */
  leftOut: readonly MissingValue[]
}

/** Where references find their values. */
export interface ReferenceSources {
  call: GatedCall
  steps: readonly Prerequisite[]
  /** Results of steps by number. */
  results: ReadonlyMap<number, JsonValue>
}

/** The parameters of a step with every reference replaced. A value keeps its type. */
export function resolveParams(step: Prerequisite, sources: ReferenceSources): ResolvedParams {
  const missing: MissingValue[] = []
  const leftOut: MissingValue[] = []
  const params: JsonObject = {}
  for (const [parameter, written] of Object.entries(step.params ?? {})) {
    const value = resolve(written, parameter)
    if (value !== undefined) params[parameter] = value
  }
  return { params, missing, leftOut }

  function resolve(written: JsonValue, parameter: string): JsonValue | undefined {
    if (typeof written === 'string') return resolveText(written, parameter)
    if (isJsonList(written)) {
      return written
        .map((item) => resolve(item, parameter))
        .filter((item): item is JsonValue => item !== undefined)
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
    if (chain === undefined) return text.startsWith('$$') ? text.slice(1) : text
    const found = firstValue(chain, sources)
    if (found.value !== undefined) return found.value
    const { waitsFor, asked } = found
    ;(chain.optional ? leftOut : missing).push({ parameter, reference: text, waitsFor, asked })
    return undefined
  }
}

/** Numbers of the steps that the references of a step lead to. */
export function stepOf(reference: Reference, steps: readonly Prerequisite[]): number | undefined {
  const { root } = reference
  if (root.kind === 'step') return root.step
  if (root.kind !== 'output') return undefined
  return steps.findLast(({ outputAs }) => outputAs === root.name)?.step
}

/** Whether a parameter of any step refers to the result of this one. */
export function isReferred(number: number, steps: readonly Prerequisite[]): boolean {
  return steps
    .flatMap(({ params }) => textsOf(params ?? {}))
    .flatMap((text) => parseReferences(text)?.references ?? [])
    .some((reference) => stepOf(reference, steps) === number)
}

function firstValue(
  chain: ReferenceChain,
  sources: ReferenceSources,
): { value?: JsonValue | undefined; waitsFor: number[]; asked: boolean } {
  const waitsFor: number[] = []
  let asked = false
  for (const reference of chain.references) {
    const step = stepOf(reference, sources.steps)
    if (reference.root.kind === 'output' && step === undefined) asked = true
    if (step !== undefined && !sources.results.has(step)) waitsFor.push(step)
    else if (step !== undefined) asked = true
    const value = valueOf(reference, step, sources)
    // What a step would say comes before the alternatives behind it: it has to run first.
    if (value !== undefined && waitsFor.length === 0) return { value, waitsFor, asked }
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
  if (reference.root.kind === 'call') {
    if (first === undefined) return call.params
    return valueAt(callParameter(call.params, String(first)), rest)
  }
  if (reference.root.kind === 'sql') return sqlValue(call.params, reference.path)
  return undefined
}

/** A parameter of the call, also where its server spells it otherwise: `pullNumber`. */
export function callParameter(params: JsonObject, name: string): JsonValue | undefined {
  if (Object.hasOwn(params, name)) return params[name]
  const wanted = foldParameter(name)
  const key = Object.keys(params).find((candidate) => foldParameter(candidate) === wanted)
  return key === undefined ? undefined : params[key]
}

/** Parameters that hold a statement, on the servers there are. */
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
