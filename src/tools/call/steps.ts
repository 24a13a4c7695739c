import { SkillrailError } from '#core/errors'
import { isList, isObject, objectOf, plainText, type JsonValue, type JsonObject } from '#core/json'
import { amount, cutText } from '#core/text'
import { ToolCallError, ToolError, ToolRequestError } from '#tools/errors'
import { callTool, refuseHeld } from './call-tool.ts'
import { outcomeValue } from './content.ts'
import type { CallContext, CallReport } from './context.ts'
import type { DirectiveKind, ToolStep } from './directive-text.ts'
import { findTool } from './find-tool.ts'
import { textsOf } from '#tools/workflow/references'

/** The seed's shape; `hint`: nothing was called, and the next step is known. */
export type BatchResult =
  | { tool: string; status: 'success'; result: JsonValue; note?: string | undefined }
  | ({ status: 'error' | 'cancelled' } & FailedStep)

interface FailedStep {
  tool: string
  error: string
  hint?: string | undefined
  note?: string | undefined
}

/** The seed's shape; `failed` or `cancelled` is the step that ended it. */
export interface ChainResult {
  completed: { tool: string; result: JsonValue; note?: string | undefined }[]
  failed?: FailedStep
  cancelled?: FailedStep
  skipped: string[]
}

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
  /** Sees each call with its final parameters; what it throws is the failure of that step. */
  beforeCall?: ((call: Pick<ToolStep, 'tool' | 'params'>) => Promise<void>) | undefined
  requestText?: string | undefined
}

/**
 * Calls up to ten tools in order, each with its own attempts; only a cancellation stops the others.
 */
export async function runBatch(
  steps: readonly ToolStep[],
  context: CallContext,
  options: StepOptions = {},
): Promise<BatchResult[]> {
  await checkSteps('batch', steps, context)
  const results: BatchResult[] = []
  for (const [index, step] of steps.entries()) {
    results.push(await runStep(step, { ok: true, value: step.params }, index, context, options))
  }
  return results
}

/** Calls up to five tools, each with the answers of those before it, until one fails. */
export async function runToolChain(
  steps: readonly ToolStep[],
  context: CallContext,
  options: StepOptions = {},
): Promise<ChainResult> {
  await checkSteps('chain', steps, context)
  const declared = new Set(steps.flatMap(({ outputAs }) => outputAs ?? []))
  const variables = new Map<string, JsonValue>()
  const chain: ChainResult = { completed: [], skipped: [] }
  for (const [index, step] of steps.entries()) {
    const bound = bindParameters(step.params, variables, declared)
    const answer = await runStep(step, bound, index, context, options)
    if (answer.status === 'success') {
      const { status: _, ...completed } = answer
      chain.completed.push(completed)
      if (step.outputAs !== undefined) variables.set(step.outputAs, answer.result)
      continue
    }
    const { status, ...ended } = answer
    if (status === 'error') chain.failed = ended
    else chain.cancelled = ended
    chain.skipped = steps.slice(index + 1).map(({ tool }) => tool)
    break
  }
  return chain
}

export type StepsResult = readonly BatchResult[] | ChainResult

export function isBatch(result: object): result is readonly BatchResult[] {
  return Array.isArray(result)
}

export async function runSteps(
  kind: DirectiveKind,
  ...given: Parameters<typeof runBatch>
): Promise<StepsResult> {
  return kind === 'batch' ? await runBatch(...given) : await runToolChain(...given)
}

const limits = {
  batch: { most: 10, message: 'Batch size exceeds limit of 10 tools' },
  chain: { most: 5, message: 'Chain length exceeds limit of 5 tools' },
} as const

/** Before the first call: all tools exist and none is held back. */
export async function checkSteps(
  kind: DirectiveKind,
  steps: readonly ToolStep[],
  context: CallContext,
): Promise<void> {
  const { most, message } = limits[kind]
  if (steps.length > most) throw new ToolRequestError({ code: `${kind}-too-long`, message })
  if (steps.length === 0) {
    throw new ToolRequestError({ code: `${kind}-empty`, message: `the ${kind} names no tool` })
  }
  try {
    for (const { tool } of steps) refuseHeld((await findTool(tool, context)).tool, context)
  } catch (error) {
    if (error instanceof ToolError) error.message += `\nNothing of the ${kind} was called.`
    throw error
  }
}

async function runStep(
  step: ToolStep,
  bound: Binding,
  index: number,
  context: CallContext,
  options: StepOptions,
): Promise<BatchResult> {
  const { tool } = step
  const { onStep } = options
  if (!context.signal.aborted) onStep?.({ index, tool })
  const end: StepEnd = bound.ok
    ? await callStep({ ...step, params: bound.value }, context, options)
    : { result: { tool, status: 'error', error: bound.message } }
  onStep?.({ index, tool, ...end })
  return end.result
}

type StepEnd = { result: BatchResult; report?: CallReport }

async function callStep(
  { tool, params, notes = [] }: ToolStep,
  context: CallContext,
  { toValue, requestText, beforeCall }: StepOptions,
): Promise<StepEnd> {
  const { signal } = context
  if (signal.aborted) return { result: { tool, status: 'cancelled', error: notBegun } }
  try {
    await beforeCall?.({ tool, params })
    const report = await callTool({ tool, params, requestText }, context)
    const warnings = report.diagnostics.map(({ message }) => message)
    const note = [...notes, ...report.notes, ...warnings].join(' ') || undefined
    if (report.status === 'error') {
      return { result: { tool, status: 'error', error: report.failure.message, note }, report }
    }
    const value = (await toValue?.(report)) ?? outcomeValue(report.outcome)
    return { result: { tool, status: 'success', result: value, note }, report }
  } catch (error) {
    const note = notes.join(' ') || undefined
    if (signal.aborted) {
      const isKnown = error instanceof ToolCallError && error.failure.delivered === 'no'
      const message = isKnown ? notBegun : underWay
      return { result: { tool, status: 'cancelled', error: message, note } }
    }
    if (!(error instanceof SkillrailError)) throw error
    const { message, hint } = error
    return { result: { tool, status: 'error', error: message, hint, note } }
  }
}

const notBegun = 'cancelled before it was called'
const underWay = 'cancelled while it was under way; it may have acted'

type Binding = { ok: true; value: JsonObject } | { ok: false; message: string }

/**
 * Puts the answers of earlier steps, known by their `output_as`, into parameters.
 *
 * - A whole string `$name`, `$name.field`, `$name[0].field` or `$name["any key"]` becomes the value
 *   with its type. An unknown one is an error.
 * - Inside a longer text a reference becomes text: a string as it is, anything else as JSON. There
 *   `$word` is a reference only where a step of this chain has that name (`declared`), so that
 *   `$5.00` and the `$id` of a GraphQL query stay.
 * - `$$name` is the text `$name`.
 * - Only own members are reached.
 */
export function bindParameters(
  params: JsonObject,
  variables: ReadonlyMap<string, JsonValue>,
  declared: ReadonlySet<string> = new Set(variables.keys()),
): Binding {
  let written = 0
  try {
    return { ok: true, value: objectOf<JsonValue>(bind(params, 0)) }
  } catch (error) {
    if (error instanceof UnboundReference) return { ok: false, message: error.message }
    throw error
  }

  function bind(value: JsonValue, depth: number): JsonValue {
    if (depth > deepest) throw new UnboundReference(`parameters are nested deeper than ${deepest}`)
    if (typeof value === 'string') return bindText(value)
    if (isList(value)) return value.map((item) => bind(item, depth + 1))
    if (!isObject(value)) return value
    const members = Object.entries(value)
    return Object.fromEntries(members.map(([key, member]) => [key, bind(member, depth + 1)]))
  }

  function bindText(text: string): JsonValue {
    const [, name, path = ''] = whole.exec(text) ?? []
    if (name !== undefined) return memberAt(valueOf(name), name, path)
    return text.replaceAll(embedded, (found, escape: string, name: string, path: string) => {
      if (escape !== '') return found.slice(1)
      if (!declared.has(name)) return found
      const value = memberAt(valueOf(name), name, path)
      const answer = plainText(value)
      written += answer.length
      if (written <= maxWritten) return answer
      throw new UnboundReference(`its texts would have more than ${maxWritten} characters`)
    })
  }

  function valueOf(name: string): JsonValue {
    const value = variables.get(name)
    if (value !== undefined) return value
    const known = [...variables.keys()].map((variable) => `$${variable}`).join(', ')
    throw new UnboundReference(`$${name} is unknown; known here: ${known || 'none'}`)
  }
}

class UnboundReference extends Error {}

const path = String.raw`(?:\.[A-Za-z_][A-Za-z0-9_]*|\[\d{1,9}\]|\["[^"\\\]]{1,200}"\])*`
const whole = new RegExp(String.raw`^\$([A-Za-z_][A-Za-z0-9_]*)(${path})$`)
const embedded = new RegExp(String.raw`\$(\$?)([A-Za-z_][A-Za-z0-9_]*)(${path})`, 'g')

const deepest = 100

/** Many references to one long answer would exceed the length of a text. */
const maxWritten = 16 * 1024 * 1024

function memberAt(root: JsonValue, name: string, path: string): JsonValue {
  let value = root
  for (const [, field, index, quoted] of path.matchAll(/\.(\w+)|\[(\d+)\]|\["([^"]+)"\]/g)) {
    const key = field ?? quoted ?? ''
    let next: JsonValue | undefined
    if (index !== undefined) next = isList(value) ? value[Number(index)] : undefined
    else if (isObject(value) && Object.hasOwn(value, key)) next = value[key]
    if (next === undefined)
      throw new UnboundReference(`$${name}${path} has no value; ${partsOf(value)}`)
    value = next
  }
  return value
}

const maxNamedFields = 12

/** Says which parts a value has: `it has the fields id, title`. */
function partsOf(value: JsonValue): string {
  if (isList(value)) {
    const items = amount(value.length, 'item')
    return value.length === 0 ? 'it is an empty list' : `it has ${items}, the first is [0]`
  }
  if (!isObject(value)) return 'it is a single value without fields'
  const names = Object.keys(value)
  if (names.length === 0) return 'it has no fields'
  const more = names.length > maxNamedFields ? ', …' : ''
  const shown = names.slice(0, maxNamedFields).map((name) => cutText(name, 60))
  return `it has the fields ${shown.join(', ')}${more}`
}

export function referencedNames(params: JsonObject): string[] {
  return [...new Set(textsOf(params).flatMap((text) => whole.exec(text)?.[1] ?? []))]
}

export function referringParameters(params: JsonObject): string[] {
  return Object.keys(params).filter((name) =>
    textsOf(params[name] ?? null).some((text) => text.search(embedded) >= 0),
  )
}
