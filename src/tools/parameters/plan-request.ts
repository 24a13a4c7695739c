import { withoutEnd } from '../../core/text.ts'
import { plainWords } from '../../rank/words.ts'
import type { JsonValue } from '../../skill/model.ts'
import type { JsonObject, ToolDefinition } from '../model.ts'
import { contractOpener, contractProviders, contractSequences } from '../contract.ts'
import { type Extraction, extractValue } from './extract-value.ts'
import { mapParameters, type ParameterMapping } from './map-parameters.ts'
import { parametersOf } from './parameter.ts'
import { type MappedValue, only } from './reading.ts'
import { findSlots } from './slots.ts'

export interface Binding {
  parameter: string
  /** `name` of the earlier step. */
  from: string
  extraction: Extraction
}

export interface PlannedCall {
  /** Unique in the plan: `take_snapshot`, `take_snapshot2`. */
  name: string
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
  after: readonly string[]
}

export interface PlanTools {
  definition: (id: string) => ToolDefinition | undefined
  tools: readonly string[]
  examples?: ((id: string) => readonly string[]) | undefined
}

/**
 * Plans a request (seed 3, multi-tool orchestration): its clauses in their order, each with the
 * calls that give it what it needs, such as `take_snapshot` before a click on something that is
 * only described. Pure; calls nothing. No steps where a clause has no tool.
 *
 * @param clauses with the tool of each
 */
export function planRequest(
  clauses: readonly { text: string; tool: string | undefined }[],
  tools: PlanTools,
): readonly PlannedCall[] {
  const planner = new Planner(tools)
  for (const { text, tool } of clauses) {
    const definition = tool === undefined ? undefined : tools.definition(tool)
    if (definition === undefined) return []
    for (const one of sequenceOf(text, definition, tools)) planner.addAsked(text, one)
  }
  return planner.steps
}

/**
 * The parameters of a planned call, with those of its bindings that the earlier texts give. Not ready
 * where an earlier answer does not settle it; `candidates` is what there is to choose from.
 */
export function bindParams({ params, bindings }: PlannedCall, texts: ReadonlyMap<string, string>) {
  const bound: Record<string, JsonValue> = { ...params }
  for (const { parameter, from, extraction } of bindings) {
    const extracted = extractValue(extraction, texts.get(from) ?? '')
    if (!extracted.found) {
      return { ready: false as const, parameter, from, candidates: extracted.candidates }
    }
    bound[parameter] = extracted.value
  }
  return { ready: true as const, params: bound }
}

class Planner {
  readonly steps: PlannedCall[] = []
  readonly #tools: PlanTools

  constructor(tools: PlanTools) {
    this.#tools = tools
  }

  /** The tool of a clause, after the one that opens the address which it has no place for. */
  addAsked(clause: string, tool: ToolDefinition): void {
    const mapping = this.#map(clause, tool)
    const address = findSlots(clause).find(
      ({ kind, value }) => kind === 'url' && mapping.unplaced.includes(value),
    )
    const opener = address && sibling(this.#tools, tool, contractOpener.tool)
    if (address === undefined || opener === undefined || opener.id === tool.id) {
      this.#add(clause, tool, 'asked for', mapping)
      return
    }
    const { value, start, end } = address
    this.#add(contractOpener.request(value), opener, `opens the page for ${tool.name}`)
    this.#add(`${clause.slice(0, start)} ${clause.slice(end)}`, tool, 'asked for')
  }

  /** What earlier steps on the same server say counts for the next ones that require it too. */
  #map(clause: string, tool: ToolDefinition): ParameterMapping {
    const { definition, examples } = this.#tools
    const before = this.steps.filter((step) => definition(step.tool)?.server === tool.server)
    const known: JsonObject = Object.assign({}, ...before.map(({ params }) => params))
    return mapParameters(clause, tool, { known, examples: examples?.(tool.id) })
  }

  #add(
    clause: string,
    tool: ToolDefinition,
    reason: string,
    { params, missing, unplaced, trace } = this.#map(clause, tool),
  ): PlannedCall {
    const bindings = missing.flatMap((parameter) => this.#binding(clause, tool, parameter) ?? [])
    const from = [...new Set(bindings.map((binding) => binding.from))]
    const words = new Set(bindings.flatMap(({ extraction }) => extraction.words))
    const names = this.steps.map(({ name }) => name)
    const base = tool.name.replaceAll(/\W/g, '_')
    const isSame = (name: string) => [name, withoutEnd(name, '0123456789')].includes(base)
    const same = names.filter(isSame).length
    const step: PlannedCall = {
      name: same === 0 ? base : `${base}${same + 1}`,
      tool: tool.id,
      params,
      bindings,
      missing: missing.filter((name) => !bindings.some(({ parameter }) => parameter === name)),
      unplaced: unplaced.filter((text) => !plainWords(text).every((word) => words.has(word))),
      trace,
      reason,
      after: from.length > 0 ? from : names.slice(-1),
    }
    this.steps.push(step)
    return step
  }

  /** Takes a parameter from the answer of an earlier step, or of one that is added for it. */
  #binding(clause: string, tool: ToolDefinition, parameter: string): Binding | undefined {
    const found = providerOf(this.#tools, tool, parameter)
    if (found === undefined) return undefined
    const { provider, kind } = found
    let from = this.steps.findLast((step) => step.tool === provider.id)
    if (from === undefined) {
      const mapping = this.#map(clause, provider)
      // Needs something that only another question could give.
      if (mapping.missing.some((name) => !providerOf(this.#tools, provider, name))) return undefined
      const reason = `gives ${parameter} to ${tool.name}`
      from = this.#add(clause, provider, reason, { ...mapping, unplaced: [] })
    }
    const own = new Set(plainWords(tool.name))
    const words = plainWords(clause.toLowerCase()).slice(0, 60)
    const extraction = { kind, words: words.filter((word) => !own.has(word)) }
    return { parameter, from: from.name, extraction }
  }
}

function providerOf(tools: PlanTools, tool: ToolDefinition, parameter: string) {
  const row = contractProviders.find((one) => one.parameter === parameter)
  const provider = row && sibling(tools, tool, row.tool)
  if (provider && provider.id !== tool.id) return { provider, kind: row.kind }
  const described = describedProvider(tools, tool, parameter)
  return described && { provider: described, kind: 'element' as const }
}

/** The one tool that a description names as the source: `element reference from the page snapshot`. */
function describedProvider(
  tools: PlanTools,
  { id, server, inputSchema }: ToolDefinition,
  parameter: string,
) {
  const { description = '' } =
    parametersOf(inputSchema).find(({ name }) => name === parameter) ?? {}
  const [, source = ''] = /\breference from ([^,.;]{1,60})/i.exec(description) ?? []
  const words = plainWords(source)
  const others = tools.tools.filter((one) => one !== id && one.startsWith(`${server}__`))
  const named = others.flatMap((one) => {
    const definition = words.includes(plainWords(one).at(-1) ?? '') && tools.definition(one)
    return definition ? [definition] : []
  })
  return only(named)
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
function sibling({ tools, definition }: PlanTools, { server }: ToolDefinition, name: string) {
  const wanted = plainWords(name).join()
  const isWanted = (id: string) =>
    id.startsWith(`${server}__`) && plainWords(id.slice(server.length + 2)).join() === wanted
  const id = tools.find(isWanted)
  return id === undefined ? undefined : definition(id)
}
