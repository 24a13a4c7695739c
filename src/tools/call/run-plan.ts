import { coerceText, parametersOf } from '#tools/parameters/parameter'
import { schemaPattern } from '#tools/schema/pattern'
import type { ToolDefinition } from '#tools/model'
import { bindParams, type PlannedCall } from '#tools/parameters/plan-request'
import { callTool } from './call-tool.ts'
import { callToComplete } from './check-parameters.ts'
import { outcomeText } from './content.ts'
import type { CallIndex, CallReport } from './context.ts'
import type { RequestAnswer, RequestSetup } from './do-request.ts'
import { findDefinition } from './find-tool.ts'
import { type CallToAllow, requireNamedPaths, unplacedText, unsetText } from './consent.ts'
import { requirePlan } from './make-calls.ts'

type PlanOutcome =
  | Pick<RequestAnswer & { kind: 'called' }, 'kind' | 'status' | 'calls' | 'cancelled'>
  /** An earlier answer lacks the value that `tool` needs. */
  | { kind: 'unsure'; reason: string; tool: string }

type MadeCall = { call: PlannedCall; report: CallReport }

/**
 * Calls the steps in order, each with earlier answers, until one fails. A yes covers all of them.
 */
export async function runPlan(
  steps: readonly PlannedCall[],
  request: string,
  setup: RequestSetup,
): Promise<PlanOutcome> {
  const { context, onStep } = setup
  const calls: MadeCall[] = []
  const texts = new Map<string, string>()
  const purpose = { requestText: request, texts: request }
  await requirePlan(await callsOf(steps, setup), purpose, setup)
  for (const [index, call] of steps.entries()) {
    const bound = bindParams(call, texts)
    if (!bound.ready) return { kind: 'unsure', reason: bound.why, tool: call.tool }
    const { params } = bound
    const tool = await findDefinition(call.tool, context)
    if (call.bindings.length > 0) await requireNamedPaths(tool, params, request, setup)
    onStep?.({ index, tool: call.tool })
    let report: CallReport
    try {
      report = await callTool({ tool: call.tool, params, requestText: request }, context)
    } catch (error) {
      if (context.signal.aborted && calls.length > 0) {
        const cancelled = steps.slice(index).map((step) => step.tool)
        return { kind: 'called', status: 'cancelled', calls, cancelled }
      }
      throw error
    }
    calls.push({ call: { ...call, params }, report })
    onStep?.({ index, tool: call.tool, report })
    if (report.status === 'error') return { kind: 'called', status: 'error', calls }
    texts.set(call.name, outcomeText(report.outcome))
  }
  return { kind: 'called', status: 'success', calls }
}

async function callsOf(steps: readonly PlannedCall[], { context }: RequestSetup) {
  const calls: CallToAllow[] = []
  for (const { tool, params, bindings, unplaced, unset, doubts } of steps) {
    const definition = await findDefinition(tool, context)
    calls.push({ tool: definition, params, bindings, unplaced, unset, doubts })
  }
  return calls
}

/**
 * Asks for what the request does not say. Without a user a call with an unplaced value, or that changes nothing, stays open.
 */
export async function fillMissing(
  steps: readonly PlannedCall[],
  setup: RequestSetup,
): Promise<{ steps: readonly PlannedCall[]; open?: PlannedCall | undefined }> {
  const filled: PlannedCall[] = []
  for (const step of steps) {
    const params = { ...step.params }
    for (const [index, name] of step.missing.entries()) {
      const value = await provided(step.tool, name, setup)
      const missing = step.missing.slice(index)
      if (value === undefined) return { steps, open: { ...step, params, missing } }
      params[name] = value
    }
    filled.push({ ...step, params, missing: [] })
  }
  const isOpen = ({ unplaced, unset }: PlannedCall) => unplaced.length + unset.length > 0
  return { steps: filled, open: setup.user ? undefined : filled.find(isOpen) }
}

const maxQuestions = 2

async function provided(tool: string, name: string, { context, user }: RequestSetup) {
  const definition = context.index.definition(tool)
  const parameter =
    definition && parametersOf(definition.inputSchema).find((one) => one.name === name)
  if (!definition || !parameter) return undefined
  let problem: string | undefined
  for (let asked = 0; asked < maxQuestions; asked++) {
    const text = await user?.provide(definition, name, problem)
    if (text === undefined) return undefined
    const value = text.trim() === '' ? undefined : coerceText(text, parameter)
    if (value !== undefined) return value
    problem = `${name} cannot be ${text.trim().slice(0, 80) || 'empty'}: ${parameter.kind} is needed.`
  }
  return undefined
}

/** The question about a call that cannot be made: what of it was understood, and how to complete it. */
export function openCall(
  { tool, params, missing, unplaced, unset, bindings }: PlannedCall,
  index: CallIndex,
  reason?: string,
): Omit<RequestAnswer & { kind: 'unsure' }, 'decidedBy' | 'candidates'> {
  const definition = index.definition(tool)
  const names = [...new Set(missing)]
  const open = [...bindings.map(({ parameter }) => parameter), ...names]
  const unsaid = names.length === 0 ? '' : `The request does not say ${names.join(', ')}.`
  const unread = definition ? unreadPatterns(definition, names) : ''
  return {
    kind: 'unsure',
    reason: reason ?? (unsaid + unread || openText(unplaced, unset)),
    tool,
    params,
    missing: names,
    unplaced,
    unset,
    complete: definition && callToComplete(definition, params, open),
  }
}

function openText(unplaced: readonly string[], unset: readonly string[]): string {
  return unplaced.length > 0 ? unplacedText(unplaced) : unsetText(unset)
}

/** Parameters that may be missing because their pattern was of no use. */
function unreadPatterns({ inputSchema }: ToolDefinition, names: readonly string[]): string {
  const unread = parametersOf(inputSchema).filter(({ name, pattern }) => {
    return names.includes(name) && pattern !== undefined && !schemaPattern(pattern)
  })
  if (unread.length === 0) return ''
  const list = unread.map(({ name }) => name).join(', ')
  return ` No value was placed by the pattern of ${list}: RE2 cannot read it.`
}
