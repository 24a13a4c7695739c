import { SkillrailError } from '../../base/index.ts'
import type { JsonValue } from '../../skill/index.ts'
import { ToolCallError } from '../errors.ts'
import { callTool } from './call-tool.ts'
import type { CallContext } from './context.ts'
import type { ToolStep } from './directive-text.ts'
import { ToolRequestError } from './errors.ts'
import { findTool } from './find-tool.ts'
import { outcomeValue } from './outcome-value.ts'
import { refuseHeld } from './permission.ts'
import type { CallReport } from './report.ts'

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
export async function resolveAll(
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
export async function runStep(
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
