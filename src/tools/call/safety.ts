import { readsOnly } from '../cache/reads-only.ts'
import type { JsonObject, ToolDefinition } from '../model.ts'
import { ToolRefusedError } from './errors.ts'
import { planText } from './plan-text.ts'
import type { ProposedCall, RequestWorld } from './request-world.ts'
import { unnamedPath } from './unnamed-path.ts'

/** What decides whether a call may be made. */
export type ConsentWorld = Pick<RequestWorld, 'context' | 'yes' | 'person' | 'toAllow'>

/** A call that waits for its yes. */
export interface CallToAllow {
  tool: ToolDefinition
  params: JsonObject
  bindings?: ProposedCall['bindings'] | undefined
}

/**
 * Lets the calls of a plan pass that were not asked for by their names: those that only read do; a
 * plan with any other needs a yes to the whole, before its first call. Where the request does not
 * name a path that is written to, the yes in advance does not count: an earlier answer may have put
 * it there.
 *
 * @returns whether somebody said yes
 * @throws {ToolRefusedError} without a yes, with all that would have been called
 */
export async function requireYes(
  calls: readonly CallToAllow[],
  request: string,
  world: ConsentWorld,
): Promise<boolean> {
  const plan = calls.map((call) => proposed(call, request, world))
  if (plan.every(({ readOnly }) => readOnly)) return false
  if (world.yes && plan.every(({ unusual }) => unusual === undefined)) return true
  const answer = await world.person?.confirm(plan)
  if (answer === true) return true
  throw refusal(plan, answer, world.toAllow)
}

function proposed(
  { tool, params, bindings = [] }: CallToAllow,
  request: string,
  { context }: ConsentWorld,
): ProposedCall {
  const readOnly = readsOnly(tool, context.rules(tool.server).trusted)
  const path = readOnly ? undefined : unnamedPath(params, request)
  const unusual = path === undefined ? undefined : `The request does not name the path ${path}.`
  return { tool, params, bindings, readOnly, unusual }
}

/**
 * Looks at a call again once the answers of earlier steps are in its parameters: the yes was to what
 * the plan says, and a path that only an answer names needs one of its own.
 *
 * @throws {ToolRefusedError} without a yes
 */
export async function requireNamedPaths(
  tool: ToolDefinition,
  params: JsonObject,
  request: string,
  world: ConsentWorld,
): Promise<void> {
  if (unnamedPath(params, request) !== undefined)
    await requireYes([{ tool, params }], request, world)
}

function refusal(
  plan: readonly ProposedCall[],
  answer: boolean | undefined,
  toAllow: string | undefined,
): ToolRefusedError {
  const lines = plan.map((call) => ({ ...call, tool: call.tool.id }))
  const [only, ...others] = lines
  const isOne = only !== undefined && others.length === 0
  const what = isOne ? `${only.tool} ${JSON.stringify(only.params)}` : planText(lines)
  if (answer === false) {
    const message = isOne ? `not called: ${what}` : `nothing of this was called:\n${what}`
    return new ToolRefusedError({ code: 'tool-declined', message })
  }
  const unusual = plan.flatMap((call) => call.unusual ?? [])
  const why = unusual.length === 0 ? 'It may change something.' : unusual.join(' ')
  return new ToolRefusedError({
    code: 'tool-needs-yes',
    message: isOne ? `${what} needs a yes. ${why}` : `this plan needs a yes. ${why}\n${what}`,
    hint: toAllow ?? (unusual.length === 0 ? anyWay : 'Say it at a terminal.'),
  })
}

const anyWay = 'Say it at a terminal, or in advance with --yes.'
