import { isObject } from '../../core/json.ts'
import { SkillrailError } from '../../core/errors.ts'
import type { JsonValue } from '../../skill/model.ts'
import { ToolCallError } from '../errors.ts'
import type { JsonObject } from '../model.ts'
import { isList, type ToolStep } from './directive-text.ts'
import { callTool } from './call-tool.ts'
import { outcomeValue } from './content.ts'
import type { CallContext, CallReport } from './context.ts'
import { ToolRequestError } from './errors.ts'
import { findTool } from './find-tool.ts'
import { refuseHeld } from './permission.ts'

export const longestBatch = 10

/**
 * The seed's shape, and `cancelled` for what a cancellation stopped or did not let begin; `hint` where
 * nothing was called and it is known what to do, such as to trust a workflow, or the call to complete
 * (see `callToComplete`), as for a call alone; `note` only where there is something to say, such as that a retry was needed or that a part of the answer cannot be used.
 */
export type BatchResult =
  | { tool: string; status: 'success'; result: JsonValue; note?: string }
  | { tool: string; status: 'error' | 'cancelled'; error: string; hint?: string; note?: string }

/** Told of every member: before it is called without, after it with its result. */
export type StepListener = (event: {
  index: number
  tool: string
  result?: BatchResult | undefined
  report?: CallReport | undefined
}) => void

export interface StepOptions {
  onStep?: StepListener | undefined
  /** Makes the value of an answer, such as one with the paths of saved images. */
  toValue?: ((report: CallReport & { status: 'success' }) => Promise<JsonValue>) | undefined
  /**
   * Looks at each call of a chain with the parameters it will have; what it throws becomes the failure
   * of that step.
   */
  beforeCall?: ((call: Pick<ToolStep, 'tool' | 'params'>) => Promise<void>) | undefined
  /** What the user wrote. */
  requestText?: string | undefined
}

/**
 * Calls up to ten tools one after the other, each with its own attempts. One that fails does not stop
 * the others; a cancellation does, and takes no result away.
 *
 * @throws {ToolRequestError}, {ToolNotFoundError} for a batch that is too long, empty, or names an
 * unknown tool: it is rejected whole
 */
export async function runBatch(
  steps: readonly ToolStep[],
  context: CallContext,
  options: StepOptions = {},
): Promise<BatchResult[]> {
  await checkBatch(steps, context)
  const results: BatchResult[] = []
  for (const [index, step] of steps.entries()) {
    if (!context.signal.aborted) options.onStep?.({ index, tool: step.tool })
    const { result, report } = await runStep(step, context, options)
    results.push(result)
    options.onStep?.({ index, tool: step.tool, result, report })
  }
  return results
}

/** @throws {ToolRequestError}, {ToolNotFoundError} */
export async function checkBatch(
  steps: readonly ToolStep[],
  context: CallContext,
): Promise<string[]> {
  if (steps.length > longestBatch) {
    const message = `Batch size exceeds limit of ${longestBatch} tools`
    throw new ToolRequestError({ code: 'batch-too-long', message })
  }
  return await resolveAll(steps, context, 'batch')
}

/** The ids of all steps; whatever does not exist, or is held back, rejects the whole. */
async function resolveAll(
  steps: readonly ToolStep[],
  context: CallContext,
  what: 'batch' | 'chain',
): Promise<string[]> {
  if (steps.length === 0) {
    throw new ToolRequestError({ code: `${what}-empty`, message: `the ${what} names no tool` })
  }
  const ids: string[] = []
  for (const { tool } of steps) {
    const found = await findTool(tool, context)
    refuseHeld(found, context)
    ids.push(found.id)
  }
  return ids
}

/** Calls one member; an error that belongs to it alone, and a cancellation, become its result. */
async function runStep(
  { tool, params, notes = [] }: ToolStep,
  context: CallContext,
  { toValue, requestText, beforeCall }: StepOptions,
): Promise<{ result: BatchResult; report?: CallReport | undefined }> {
  if (context.signal.aborted) return { result: { tool, status: 'cancelled', error: notBegun } }
  try {
    await beforeCall?.({ tool, params })
    const report = await callTool({ tool, params, requestText }, context)
    const warnings = report.diagnostics.map(({ message }) => message)
    const note = noteOf([...notes, ...report.notes, ...warnings])
    if (report.status === 'error') {
      return { result: { tool, status: 'error', error: report.failure.message, ...note }, report }
    }
    const value = (await toValue?.(report)) ?? outcomeValue(report.outcome)
    return { result: { tool, status: 'success', result: value, ...note }, report }
  } catch (error) {
    const note = noteOf(notes)
    if (context.signal.aborted) {
      const isKnown = error instanceof ToolCallError && error.failure.delivered === 'no'
      return {
        result: { tool, status: 'cancelled', error: isKnown ? notBegun : underWay, ...note },
      }
    }
    if (!(error instanceof SkillrailError)) throw error
    const hint = error.hint === undefined ? {} : { hint: error.hint }
    return { result: { tool, status: 'error', error: error.message, ...hint, ...note } }
  }
}

const notBegun = 'cancelled before it was called'
const underWay = 'cancelled while it was under way; it may have acted'

function noteOf(notes: readonly string[]): { note?: string } {
  return notes.length === 0 ? {} : { note: notes.join(' ') }
}

export const longestChain = 5

/** The seed's shape; `failed` only where a step failed, `cancelled` where a cancellation stopped one. */
export interface ChainResult {
  completed: { tool: string; result: JsonValue; note?: string }[]
  failed?: { tool: string; error: string; hint?: string; note?: string }
  cancelled?: { tool: string; error: string; note?: string }
  skipped: string[]
}

/**
 * Calls up to five tools, each with the answers of those before it, until one fails or is cancelled.
 *
 * @throws {ToolRequestError}, {ToolNotFoundError} for a chain that is too long, empty, or names an
 * unknown tool: it is rejected whole
 */
export async function runToolChain(
  steps: readonly ToolStep[],
  context: CallContext,
  options: StepOptions = {},
): Promise<ChainResult> {
  await checkChain(steps, context)
  const declared = new Set(steps.flatMap(({ outputAs }) => outputAs ?? []))
  const variables = new Map<string, JsonValue>()
  const chain: ChainResult = { completed: [], skipped: [] }
  for (const [index, step] of steps.entries()) {
    const { tool, outputAs } = step
    if (!context.signal.aborted) options.onStep?.({ index, tool })
    const bound = bindParameters(step.params, variables, declared)
    const { result, report } = bound.ok
      ? await runStep({ ...step, params: bound.value }, context, options)
      : { result: unbound(tool, bound.message), report: undefined }
    options.onStep?.({ index, tool, result, report })
    const note = result.note === undefined ? {} : { note: result.note }
    if (result.status !== 'success') {
      const hint = result.hint === undefined ? {} : { hint: result.hint }
      const ended = { tool, error: result.error, ...hint, ...note }
      if (result.status === 'error') chain.failed = ended
      else chain.cancelled = ended
      chain.skipped = steps.slice(index + 1).map((later) => later.tool)
      return chain
    }
    if (outputAs !== undefined) variables.set(outputAs, result.result)
    chain.completed.push({ tool, result: result.result, ...note })
  }
  return chain
}

/** @throws {ToolRequestError}, {ToolNotFoundError} */
export async function checkChain(
  steps: readonly ToolStep[],
  context: CallContext,
): Promise<string[]> {
  if (steps.length > longestChain) {
    const message = `Chain length exceeds limit of ${longestChain} tools`
    throw new ToolRequestError({ code: 'chain-too-long', message })
  }
  return await resolveAll(steps, context, 'chain')
}

function unbound(tool: string, message: string): BatchResult {
  return { tool, status: 'error', error: message }
}

/** The answers of earlier steps by their `output_as`. */
type Variables = ReadonlyMap<string, JsonValue>

type Binding<T> = { ok: true; value: T } | { ok: false; message: string }

/**
 * Puts the answers of earlier steps into parameters.
 *
 * - A whole string `$name`, `$name.field`, `$name[0].field` or `$name["any key"]` becomes the value
 *   with its type. An unknown one is an error.
 * - Inside a longer text a reference becomes text: a string as it is, anything else as JSON. There
 *   `$word` is a reference only where a step of this chain has that name (`declared`), so that
 *   `$5.00` and the `$id` of a GraphQL query stay.
 * - `$$name` is the text `$name`.
 * - Only own members of JSON objects are reached; `__proto__` and the like are refused.
 */
export function bindParameters(
  params: JsonObject,
  variables: Variables,
  declared: ReadonlySet<string> = new Set(variables.keys()),
): Binding<JsonObject> {
  try {
    return { ok: true, value: bindObject(params, { variables, declared, written: 0 }, 0) }
  } catch (error) {
    if (error instanceof UnboundReference) return { ok: false, message: error.message }
    throw error
  }
}

/** The names that whole-string references in the parameters use, for a plan. */
export function referencedNames(params: JsonObject): string[] {
  const names = textsIn(params).flatMap(({ text }) => whole.exec(text)?.[1] ?? [])
  return [...new Set(names)]
}

/** The paths of texts in the parameters that an earlier answer changes. */
export function referencePaths(params: JsonObject): (readonly string[])[] {
  return textsIn(params).flatMap(({ text, path }) => (text.search(embedded) < 0 ? [] : [path]))
}

function textsIn(
  value: JsonValue,
  path: readonly string[] = [],
): { text: string; path: readonly string[] }[] {
  if (typeof value === 'string') return [{ text: value, path }]
  if (isList(value)) return value.flatMap((item, index) => textsIn(item, [...path, String(index)]))
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([name, member]) => textsIn(member, [...path, name]))
}

class UnboundReference extends Error {}

interface Scope {
  variables: Variables
  declared: ReadonlySet<string>
  /** Characters of answers in texts so far. */
  written: number
}

const path = String.raw`(?:\.[A-Za-z_][A-Za-z0-9_]*|\[\d{1,9}\]|\["[^"\\\]]{1,200}"\])*`
const whole = new RegExp(String.raw`^\$([A-Za-z_][A-Za-z0-9_]*)(${path})$`)
const embedded = new RegExp(String.raw`\$(\$?)([A-Za-z_][A-Za-z0-9_]*)(${path})`, 'g')

const forbidden: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])

/** Parameters nested deeper than this are refused. */
const deepest = 100

/** Many references to one long answer would come to more than a text can have. */
const mostWritten = 16 * 1024 * 1024

function bindObject(params: JsonObject, scope: Scope, depth: number): JsonObject {
  const entries = Object.entries(params)
  return Object.fromEntries(entries.map(([key, value]) => [key, bind(value, scope, depth + 1)]))
}

function bind(value: JsonValue, scope: Scope, depth: number): JsonValue {
  if (depth > deepest) throw new UnboundReference(`parameters are nested deeper than ${deepest}`)
  if (typeof value === 'string') return bindText(value, scope)
  if (isList(value)) return value.map((item) => bind(item, scope, depth + 1))
  return isObject(value) ? bindObject(value, scope, depth) : value
}

function bindText(text: string, scope: Scope): JsonValue {
  const [, name, path = ''] = whole.exec(text) ?? []
  if (name !== undefined) return resolve(name, path, scope)
  return text.replaceAll(embedded, (written, escape: string, name: string, path: string) => {
    if (escape !== '') return written.slice(1)
    if (!scope.declared.has(name)) return written
    const value = resolve(name, path, scope)
    const answer = typeof value === 'string' ? value : JSON.stringify(value)
    scope.written += answer.length
    if (scope.written <= mostWritten) return answer
    throw new UnboundReference(`the answers in its texts have more than ${mostWritten} characters`)
  })
}

function resolve(name: string, path: string, { variables, declared }: Scope): JsonValue {
  let value = variables.get(name)
  if (value === undefined) {
    const known = [...variables.keys()].map((variable) => `$${variable}`).join(', ')
    const why = declared.has(name) ? 'has no value yet' : 'is unknown'
    throw new UnboundReference(`$${name} ${why}; known here: ${known || 'none'}`)
  }
  let reached = `$${name}`
  for (const key of keysIn(path)) {
    if (forbidden.has(key.name)) throw new UnboundReference(`$${name}${path} is not allowed`)
    const next: JsonValue | undefined = member(value, key)
    if (next === undefined) {
      throw new UnboundReference(
        `${reached} has no ${key.isIndex ? `item ${key.name}` : `field ${key.name}`}`,
      )
    }
    value = next
    reached += key.isIndex ? `[${key.name}]` : `.${key.name}`
  }
  return value
}

interface Key {
  name: string
  isIndex: boolean
}

function keysIn(path: string): Key[] {
  return [...path.matchAll(/\.(\w+)|\[(\d+)\]|\["([^"]+)"\]/g)].map(([, field, index, quoted]) =>
    index === undefined
      ? { name: field ?? quoted ?? '', isIndex: false }
      : { name: index, isIndex: true },
  )
}

function member(value: JsonValue, { name, isIndex }: Key): JsonValue | undefined {
  if (isList(value)) return isIndex ? value[Number(name)] : undefined
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
}
