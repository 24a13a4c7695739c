import { withoutEnd } from '../../core/text.ts'
import type { JsonObject, ToolDefinition } from '../model.ts'
import { type Extracted, type Extraction, extractValue } from './extract-value.ts'
import { mapParameters, type MappedValue } from './map-parameters.ts'
import { splitClauses } from './clauses.ts'
import { moves, playbooks, providers, visitor } from './provider-table.ts'
import { findSlots } from './slots.ts'

/** A parameter that is taken from what an earlier step returned. */
export interface Binding {
  parameter: string
  /** `name` of the earlier step. */
  from: string
  extraction: Extraction
}

export interface PlannedCall {
  /** Unique in the plan: `take_snapshot`, `take_snapshot2`. */
  name: string
  /** Id of the tool. */
  tool: string
  params: JsonObject
  bindings: readonly Binding[]
  /** Required parameters that neither the request nor an earlier step has. */
  missing: readonly string[]
  trace: readonly MappedValue[]
  /** Why the step is there: `asked for`, `gives uid to click`. */
  reason: string
  /** Names of the steps that have to come first. */
  after: readonly string[]
}

/** What a request comes to: one call, or several in the order of their execution. */
export interface RequestPlan {
  steps: readonly PlannedCall[]
}

export interface PlanWorld {
  router: { route: (request: string) => { tool?: string | undefined } }
  /** The whole definition of a tool by its id. */
  definition: (id: string) => ToolDefinition | undefined
  /** Ids of every tool, in the registry's order. */
  tools: readonly string[]
  /** Values known before, such as the page that is open. */
  known?: JsonObject | undefined
}

/**
 * Plans a request (seed 3, multi-tool orchestration): its clauses in their order, each with the
 * calls that give it what it needs, such as `take_snapshot` before a click on something that is
 * only described. Pure; calls nothing. No steps where the router finds no tool.
 *
 * @param tool id of the tool for a request of one clause, where it has been chosen already.
 */
export function planRequest(request: string, world: PlanWorld, tool?: string): RequestPlan {
  const clauses = tool === undefined ? splitClauses(request) : [request]
  const chosen = clauses.map((clause) => ({
    clause,
    tool: tool ?? world.router.route(clause).tool,
  }))
  const whole = tool ?? world.router.route(request).tool
  const isSplit = chosen.length > 1 && chosen.every((part) => part.tool !== undefined)
  const parts = isSplit ? chosen : [{ clause: request, tool: whole }]
  const draft: Draft = { steps: [], world, known: { ...world.known } }
  for (const part of parts) {
    const definition = part.tool === undefined ? undefined : world.definition(part.tool)
    if (definition === undefined) return { steps: [] }
    for (const each of withPlaybook(part.clause, definition, world)) {
      visitFirst(draft, part.clause, each)
      addCall(draft, part.clause, each, 'asked for', 0)
    }
  }
  return { steps: draft.steps }
}

export type BoundParams =
  | { ready: true; params: JsonObject }
  /** The earlier answer does not settle it; `candidates` is what there is to choose from. */
  | { ready: false; parameter: string; from: string; candidates: readonly string[] }

/** The parameters of a planned call, with those of its bindings that the earlier texts give. */
export function bindParams(
  { params, bindings }: PlannedCall,
  texts: ReadonlyMap<string, string>,
): BoundParams {
  const bound: Record<string, JsonObject[string]> = { ...params }
  for (const { parameter, from, extraction } of bindings) {
    const extracted: Extracted = extractValue(extraction, texts.get(from) ?? '')
    if (!extracted.found) return { ready: false, parameter, from, candidates: extracted.candidates }
    bound[parameter] = extracted.value
  }
  return { ready: true, params: bound }
}

interface Draft {
  steps: PlannedCall[]
  world: PlanWorld
  known: JsonObject
}

/** A provider may itself need a provider (a snapshot needs a page), but never without end. */
const maxDepth = 3

function addCall(
  draft: Draft,
  clause: string,
  tool: ToolDefinition,
  reason: string,
  depth: number,
): PlannedCall {
  const mapping = mapParameters(clause, tool, { known: draft.known })
  const bindings: Binding[] = []
  const missing: string[] = []
  for (const parameter of mapping.missing) {
    const binding = provide(draft, clause, tool, parameter, depth)
    if (binding === undefined) missing.push(parameter)
    else bindings.push(binding)
  }
  const previous = draft.steps.at(-1)
  const after = bindings.map(({ from }) => from)
  const step: PlannedCall = {
    name: freeName(draft, tool.name),
    tool: tool.id,
    params: mapping.params,
    bindings,
    missing,
    trace: mapping.trace,
    reason,
    after: after.length > 0 || previous === undefined ? [...new Set(after)] : [previous.name],
  }
  draft.steps.push(step)
  draft.known = { ...draft.known, ...sharedValues(mapping.params) }
  return step
}

function provide(
  draft: Draft,
  clause: string,
  tool: ToolDefinition,
  parameter: string,
  depth: number,
): Binding | undefined {
  const row = providers.find((each) => each.parameter.test(parameter) && !each.tool.test(tool.name))
  const provider = row === undefined ? undefined : sibling(draft.world, tool.server, row.tool)
  if (row === undefined || provider === undefined || depth >= maxDepth) return undefined
  const given = draft.steps.findLast((step) => step.tool === provider.id)
  const step =
    given ?? addCall(draft, clause, provider, `gives ${parameter} to ${tool.name}`, depth + 1)
  return { parameter, from: step.name, extraction: row.extraction(clause) }
}

/** A tool that takes no address works on the page that is open: the one of the request comes first. */
function visitFirst(draft: Draft, clause: string, tool: ToolDefinition): void {
  const [address] = findSlots(clause).filter(({ kind }) => kind === 'url')
  if (address === undefined || moves.test(tool.name)) return
  const opener = sibling(draft.world, tool.server, visitor)
  if (opener === undefined) return
  const { trace } = mapParameters(clause, tool)
  if (trace.some(({ text }) => text.includes(address.value))) return
  addCall(draft, clause, opener, `opens the page for ${tool.name}`, 0)
}

/** The tool itself, or the tools that answer such a request together when it is one of them. */
function withPlaybook(clause: string, tool: ToolDefinition, world: PlanWorld): ToolDefinition[] {
  for (const { request, tools } of playbooks) {
    if (!request.test(clause) || !tools.some((name) => name.test(tool.name))) continue
    const all = tools.map((name) => sibling(world, tool.server, name))
    const present = all.filter((each) => each !== undefined)
    if (present.length === tools.length) return present
  }
  return [tool]
}

function sibling(world: PlanWorld, server: string, name: RegExp): ToolDefinition | undefined {
  const prefix = `${server}__`
  for (const id of world.tools) {
    // Few definitions are worth reading.
    if (!id.startsWith(prefix) || !name.test(id.slice(prefix.length))) continue
    const definition = world.definition(id)
    if (definition?.server === server && name.test(definition.name)) return definition
  }
  return undefined
}

/** What one step says is meant for the next ones too, when they require it and say nothing else. */
const sharedParameters =
  /^(?:owner|repo|repository|pull_?number|issue_?number|database|page_?id|library_?id)$/i

function sharedValues(params: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(params).filter(([name]) => sharedParameters.test(name)))
}

function freeName({ steps }: Draft, tool: string): string {
  const base = tool.replaceAll(/\W/g, '_')
  const count = steps.filter(
    ({ name }) => name === base || withoutEnd(name, '0123456789') === base,
  ).length
  return count === 0 ? base : `${base}${String(count + 1)}`
}
