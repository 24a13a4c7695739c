import { withoutEnd } from '../../core/text.ts'
import type { JsonObject, ToolDefinition } from '../model.ts'
import { lastSegment } from '../workflow/tool-names.ts'
import { splitClauses } from './clauses.ts'
import { contractOpener, contractProviders, contractSequences } from '../contract.ts'
import { type Extraction, extractValue } from './extract-value.ts'
import { mapParameters, type MappedValue, type ParameterMapping } from './map-parameters.ts'
import { wordsOf } from './parameter.ts'
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
  /** What the request says to this step and nothing took. */
  unplaced: readonly string[]
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

export interface PlanTools {
  /** The whole definition of a tool by its id. */
  definition: (id: string) => ToolDefinition | undefined
  /** Ids of every tool, in the registry's order. */
  tools: readonly string[]
  /** Sentences that are known to mean a tool. */
  examples?: ((id: string) => readonly string[]) | undefined
}

/**
 * Plans a request (seed 3, multi-tool orchestration): its clauses in their order, each with the
 * calls that give it what it needs, such as `take_snapshot` before a click on something that is
 * only described. Pure; calls nothing. No steps where a clause has no tool.
 *
 * @param chosen the tool of each clause, or of the whole request.
 */
export function planRequest(
  clauses: readonly { text: string; tool: string | undefined }[],
  tools: PlanTools,
): RequestPlan {
  const draft: Draft = { steps: [], tools }
  for (const { text, tool } of clauses) {
    const definition = tool === undefined ? undefined : tools.definition(tool)
    if (definition === undefined) return { steps: [] }
    for (const one of sequenceOf(text, definition, tools)) addAsked(draft, text, one)
  }
  return { steps: draft.steps }
}

/** The clauses of a request; the names of all tools say which words are verbs. */
export function clausesOf(request: string, { tools }: PlanTools): string[] {
  return splitClauses(
    request,
    tools.map((id) => ({ name: lastSegment(id) })),
  )
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
    const extracted = extractValue(extraction, texts.get(from) ?? '')
    if (!extracted.found) return { ready: false, parameter, from, candidates: extracted.candidates }
    bound[parameter] = extracted.value
  }
  return { ready: true, params: bound }
}

interface Draft {
  steps: PlannedCall[]
  tools: PlanTools
}

/** The tool of a clause, after the one that opens the address which it has no place for. */
function addAsked(draft: Draft, clause: string, tool: ToolDefinition): void {
  const mapping = mappingIn(draft, clause, tool)
  const address = findSlots(clause).find(
    ({ kind, value }) => kind === 'url' && mapping.unplaced.includes(value),
  )
  const opener = address && sibling(draft.tools, tool, contractOpener.tool)
  if (address !== undefined && opener !== undefined && opener.id !== tool.id) {
    const request = contractOpener.request(address.value)
    addStep(
      draft,
      request,
      opener,
      mappingIn(draft, request, opener),
      `opens the page for ${tool.name}`,
    )
    const rest = `${clause.slice(0, address.start)} ${clause.slice(address.end)}`
    addStep(draft, rest, tool, mappingIn(draft, rest, tool), 'asked for')
  } else addStep(draft, clause, tool, mapping, 'asked for')
}

function mappingIn(draft: Draft, clause: string, tool: ToolDefinition): ParameterMapping {
  return mapParameters(clause, tool, {
    known: knownFor(tool, draft),
    examples: draft.tools.examples?.(tool.id),
  })
}

/** What earlier steps on the same server say counts for the next ones that require it too. */
function knownFor({ server }: ToolDefinition, { steps, tools }: Draft): JsonObject {
  const before = steps.filter(({ tool }) => tools.definition(tool)?.server === server)
  return Object.assign({}, ...before.map(({ params }) => params))
}

function addStep(
  draft: Draft,
  clause: string,
  tool: ToolDefinition,
  { params, missing, unplaced, trace }: ParameterMapping,
  reason: string,
): PlannedCall {
  const bindings = missing.flatMap((parameter) => bindingFor(draft, clause, tool, parameter) ?? [])
  const bound = bindings.map(({ parameter }) => parameter)
  const from = [...new Set(bindings.map((binding) => binding.from))]
  const previous = draft.steps.at(-1)
  const words = new Set(bindings.flatMap(({ extraction }) => wordsOf(extraction.words.join(' '))))
  const step: PlannedCall = {
    name: freeName(draft, tool.name),
    tool: tool.id,
    params,
    bindings,
    missing: missing.filter((parameter) => !bound.includes(parameter)),
    unplaced: unplaced.filter((text) => !wordsOf(text).every((word) => words.has(word))),
    trace,
    reason,
    after: from.length > 0 || previous === undefined ? from : [previous.name],
  }
  draft.steps.push(step)
  return step
}

function bindingFor(
  draft: Draft,
  clause: string,
  tool: ToolDefinition,
  parameter: string,
): Binding | undefined {
  const found = providerOf(draft, tool, parameter)
  if (found === undefined) return undefined
  const { provider, kind } = found
  const known = draft.steps.findLast((step) => step.tool === provider.id)
  const mapping = mappingIn(draft, clause, provider)
  // Needs something that only another question could give.
  const isOpen = mapping.missing.some((name) => providerOf(draft, provider, name) === undefined)
  if (known === undefined && isOpen) return undefined
  const reason = `gives ${parameter} to ${tool.name}`
  const from = known ?? addStep(draft, clause, provider, { ...mapping, unplaced: [] }, reason)
  const own = new Set(wordsOf(tool.name))
  const words = (clause.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).slice(0, 60)
  const extraction = { kind, words: words.filter((word) => !own.has(word)) }
  return { parameter, from: from.name, extraction }
}

function providerOf(
  { tools }: Draft,
  tool: ToolDefinition,
  parameter: string,
): { provider: ToolDefinition; kind: Extraction['kind'] } | undefined {
  const row = contractProviders.find((one) => one.parameter === parameter)
  const provider = row && sibling(tools, tool, row.tool)
  return row === undefined || provider === undefined || provider.id === tool.id
    ? undefined
    : { provider, kind: row.kind }
}

/** The tool itself, or the tools that answer such a request together when it is one of them. */
function sequenceOf(clause: string, tool: ToolDefinition, tools: PlanTools): ToolDefinition[] {
  for (const { phrase, tools: names } of contractSequences) {
    const members = names.flatMap((name) => sibling(tools, tool, name) ?? [])
    const isMember = members.some(({ id }) => id === tool.id)
    if (phrase.test(clause) && isMember && members.length === names.length) return members
  }
  return [tool]
}

/** The tool of that name on the same server; `-` and `_` are the same. */
function sibling(
  { tools, definition }: PlanTools,
  { server }: ToolDefinition,
  name: string,
): ToolDefinition | undefined {
  const wanted = wordsOf(name).join()
  const id = tools.find(
    (one) =>
      one.startsWith(`${server}__`) && wordsOf(one.slice(server.length + 2)).join() === wanted,
  )
  return id === undefined ? undefined : definition(id)
}

/** Whether the tool has a place for everything, so that it can be called. */
export function isComplete({ steps }: RequestPlan): boolean {
  return (
    steps.length > 0 &&
    steps.every(({ missing, unplaced }) => missing.length === 0 && unplaced.length === 0)
  )
}

function freeName({ steps }: Draft, tool: string): string {
  const base = tool.replaceAll(/\W/g, '_')
  const count = steps.filter(
    ({ name }) => name === base || withoutEnd(name, '0123456789') === base,
  ).length
  return count === 0 ? base : `${base}${count + 1}`
}
