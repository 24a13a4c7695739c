import type { ToolDefinition } from '#tools/model'
import type { JsonObject } from '#core/json'
import { foreseenProblems, unknownParameters } from './check-parameters.ts'
import type { CallContext, ForeseenGate } from './context.ts'
import type { DirectiveKind, ToolStep } from './directive-text.ts'
import { ToolRefusedError } from '#tools/errors'
import { definitionOf, discoverOnce, findTool } from './find-tool.ts'
import { readsOnly } from '#tools/cache/tool-index'
import { isDeclaredReadOnly } from '#tools/workflow/match'
import { refuseForbidden } from './call-tool.ts'
import { referencedNames, referringParameters } from './steps.ts'

/** A call that is not made yet, with what is wrong with it. */
export interface CallForecast {
  tool: ToolDefinition
  params: JsonObject
  readOnly: boolean
  problems: readonly string[]
  /** Parameters that the schema does not know. */
  notes: readonly string[]
}

/** The same as a step of a batch or a chain. */
export interface ForeseenCall extends CallForecast {
  outputAs?: string | undefined
  /** Names of answers that no earlier step has. */
  unknown: readonly string[]
}

export async function foreseeSteps(
  kind: DirectiveKind,
  steps: readonly ToolStep[],
  context: CallContext,
): Promise<ForeseenCall[]> {
  const known = new Set<string>()
  const calls: ForeseenCall[] = []
  for (const { tool: name, params, outputAs, notes = [] } of steps) {
    const { tool: summary, note = [] } = await findTool(name, context)
    const tool = await definitionOf(summary, context)
    const isChain = kind === 'chain'
    const unknown = isChain ? referencedNames(params).filter((one) => !known.has(one)) : []
    const later = isChain ? referringParameters(params) : []
    const foreseen = await foreseeCall(tool, params, later, context)
    const said = [notes, note, foreseen.notes].flat()
    calls.push({ ...foreseen, outputAs, unknown, notes: said })
    if (outputAs !== undefined) known.add(outputAs)
  }
  return calls
}

/** What the gate would say first about a call that is not made. */
export interface ForeseenGuard {
  before?: ForeseenGate | undefined
  refused?: ToolRefusedError | undefined
}

export async function foreseeGuard(
  tool: ToolDefinition,
  params: JsonObject,
  context: CallContext,
  requestText?: string,
): Promise<ForeseenGuard> {
  try {
    const { tool: summary } = await findTool(tool.id, context)
    refuseForbidden(summary, context)
    const call = { tool: summary, params, request: requestText }
    if (context.gate?.lacks?.(call) === true) await discoverOnce(context)
    return { before: await context.gate?.foresee?.(call) }
  } catch (error) {
    if (error instanceof ToolRefusedError) return { refused: error }
    throw error
  }
}

/** `later`: parameters that an answer will give. `notes`: those that the schema does not know. */
export async function foreseeCall(
  tool: ToolDefinition,
  params: JsonObject,
  later: readonly string[],
  context: Pick<CallContext, 'rules' | 'schemas' | 'permissions'>,
): Promise<CallForecast> {
  const readOnly = readsHere(tool, context)
  const problems = await foreseenProblems(
    tool,
    params,
    later,
    context.schemas,
    context.rules(tool.server).files,
  )
  return { tool, params, readOnly, problems, notes: unknownParameters(tool, params) }
}

/** Whether a call only reads: the user's settings first, then hints and names. */
export function readsHere(
  tool: Pick<ToolDefinition, 'id' | 'server' | 'name' | 'annotations'>,
  { permissions, rules }: Pick<CallContext, 'permissions' | 'rules'>,
): boolean {
  return isDeclaredReadOnly(tool.id, permissions) || readsOnly(tool, rules(tool.server).trusted)
}
