import type { JsonObject } from '#core/json'
import type { CallReport } from './context.ts'
import { type CallToAllow, type ConsentSetup, requireNamedPaths, requireYes } from './consent.ts'
import { callTool } from './call-tool.ts'
import type { DirectiveKind, ToolStep } from './directive-text.ts'
import { findDefinition } from './find-tool.ts'
import { foreseeCall, foreseeGuard, foreseeSteps } from './foresee.ts'
import { checkSteps, runSteps, type StepOptions, type StepsResult } from './steps.ts'

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
  for (const one of planned) {
    const refused = await refusalOf(one, purpose, setup)
    if (refused && kind === 'chain') throw refused
    if (!refused && one.problems.length === 0) possible.push(one)
  }
  // A chain ends before a wrong first call. A later one may become right meanwhile.
  const ofChain = planned[0]?.problems.length === 0 ? planned : []
  const allowed: readonly CallToAllow[] = kind === 'chain' ? ofChain : possible
  await requireYes(allowed, purpose.texts, setup)
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
  for (const call of calls) {
    const refused = await refusalOf(call, purpose, setup)
    if (refused) throw refused
  }
  const [first] = calls
  if (first && (await isPossible(first, setup))) await requireYes(calls, purpose.texts, setup)
}

/** Nobody is asked about a call that is refused, or that has wrong parameters and is never made. */
async function requireCall(
  call: CallToAllow,
  purpose: CallPurpose,
  setup: ConsentSetup,
): Promise<void> {
  const refused = await refusalOf(call, purpose, setup)
  if (refused) throw refused
  if (await isPossible(call, setup)) await requireYes([call], purpose.texts, setup)
}

async function refusalOf(
  { tool, params }: CallToAllow,
  { requestText }: CallPurpose,
  { context }: ConsentSetup,
): Promise<Error | undefined> {
  return (await foreseeGuard(tool, params, context, requestText)).refused
}

async function isPossible(
  { tool, params, bindings = [] }: CallToAllow,
  { context }: ConsentSetup,
): Promise<boolean> {
  const later = bindings.map(({ parameter }) => parameter)
  return (await foreseeCall(tool, params, later, context)).problems.length === 0
}
