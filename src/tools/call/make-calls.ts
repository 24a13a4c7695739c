import type { JsonObject } from '#core/json'
import type { CallReport } from './context.ts'
import { type CallToAllow, type ConsentSetup, requireNamedPaths, requireYes } from './consent.ts'
import { callTool } from './call-tool.ts'
import type { DirectiveKind, ToolStep } from './directive-text.ts'
import { findDefinition } from './find-tool.ts'
import { foreseeCall, foreseeGuard, foreseeSteps } from './foresee.ts'
import { checkSteps, runSteps, type StepOptions, type StepsResult } from './steps.ts'
import { permissionOf } from '#tools/workflow/match'

/** What calls are made for. */
export interface CallPurpose {
  /** What the user typed, for workflows that go by keywords. */
  requestText?: string | undefined
  /** All text that may name a path: a path from elsewhere needs a yes of its own. */
  texts: string
}

/** Makes one call, once it has the yes that it needs. Throws as `callTool` and `requireYes` do. */
export async function makeCall(
  { tool: name, params }: { tool: string; params: JsonObject },
  purpose: CallPurpose,
  setup: ConsentSetup,
): Promise<CallReport> {
  const { context } = setup
  const tool = await findDefinition(name, context)
  await requireCall({ tool, params }, purpose, setup)
  return await callTool({ tool: name, params, requestText: purpose.requestText }, context)
}

/**
 * Makes the calls of a batch or a chain. The user is asked once, about all calls that can be made;
 * a chain with a call that is refused does not begin.
 */
export async function makeSteps(
  kind: DirectiveKind,
  steps: readonly ToolStep[],
  purpose: CallPurpose,
  setup: ConsentSetup,
  options: Pick<StepOptions, 'onStep' | 'toValue'>,
): Promise<StepsResult> {
  const { context } = setup
  await checkSteps(kind, steps, context)
  const planned = await foreseeSteps(kind, steps, context)
  const possible: CallToAllow[] = []
  const prerequisites: CallToAllow[] = []
  for (const one of planned) {
    const { refused, asking } = await guardOf(one, purpose, setup)
    if (refused && kind === 'chain') throw refused
    if (refused || one.problems.length > 0) continue
    possible.push(one)
    prerequisites.push(...asking)
  }
  // A chain ends before a wrong first call. A later one may become right meanwhile.
  const ofChain = planned[0]?.problems.length === 0 ? planned : []
  const allowed: readonly CallToAllow[] = kind === 'chain' ? ofChain : possible
  if (allowed.length > 0) await requireYesBefore(prerequisites, allowed, purpose, setup)
  const keyOf = ({ tool: { id }, params }: CallToAllow): string =>
    kind === 'chain' ? id : `${id} ${JSON.stringify(params)}`
  const keys = new Set(allowed.map(keyOf))
  return await runSteps(kind, steps, context, {
    ...options,
    requestText: purpose.requestText,
    // The yes was to the plan: not to a path that an earlier answer names, nor to a call that a
    // server makes possible meanwhile.
    async beforeCall({ tool: name, params }) {
      const one = { tool: await findDefinition(name, context), params }
      if (keys.has(keyOf(one))) await requireNamedPaths(one.tool, params, purpose.texts, setup)
      else await requireCall(one, purpose, setup)
    },
  })
}

/** Requires the yes to the calls of a plan, which run in order until one fails. */
export async function requirePlan(
  calls: readonly CallToAllow[],
  purpose: CallPurpose,
  setup: ConsentSetup,
): Promise<void> {
  const prerequisites: CallToAllow[] = []
  for (const call of calls) {
    const { refused, asking } = await guardOf(call, purpose, setup)
    if (refused) throw refused
    prerequisites.push(...asking)
  }
  const [first] = calls
  if (first && (await isPossible(first, setup)))
    await requireYesBefore(prerequisites, calls, purpose, setup)
}

/** Nobody is asked about a call that is refused, or that has wrong parameters and is never made. */
async function requireCall(
  call: CallToAllow,
  purpose: CallPurpose,
  setup: ConsentSetup,
): Promise<void> {
  const { refused, asking } = await guardOf(call, purpose, setup)
  if (refused) throw refused
  if (await isPossible(call, setup)) await requireYesBefore(asking, [call], purpose, setup)
}

/** Why a call is refused, and the prerequisites before it whose tools always ask. */
async function guardOf(
  { tool, params }: CallToAllow,
  { requestText }: CallPurpose,
  { context }: ConsentSetup,
): Promise<{ refused: Error | undefined; asking: CallToAllow[] }> {
  const { refused, before } = await foreseeGuard(tool, params, context, requestText)
  const asking: CallToAllow[] = []
  for (const { id, params: stepParams } of before?.prerequisites ?? []) {
    if (id === undefined || permissionOf(id, context.permissions) !== 'ask') continue
    asking.push({ tool: await findDefinition(id, context), params: stepParams })
  }
  return { refused, asking }
}

/** Requires one yes to calls and the prerequisites before them, which may then be called. */
async function requireYesBefore(
  prerequisites: readonly CallToAllow[],
  calls: readonly CallToAllow[],
  { texts }: CallPurpose,
  setup: ConsentSetup,
): Promise<void> {
  const keyOf = ({ tool: { id }, params }: CallToAllow): string => `${id} ${JSON.stringify(params)}`
  const once = new Map(prerequisites.map((call) => [keyOf(call), call]))
  await requireYes([...once.values(), ...calls], texts, setup)
  const { context } = setup
  const approved = prerequisites.map(({ tool: { id } }) => id)
  context.approvedSteps = new Set([...(context.approvedSteps ?? []), ...approved])
}

async function isPossible(
  { tool, params, bindings = [] }: CallToAllow,
  { context }: ConsentSetup,
): Promise<boolean> {
  const later = bindings.map(({ parameter }) => parameter)
  return (await foreseeCall(tool, params, later, context)).problems.length === 0
}
