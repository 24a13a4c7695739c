import { withoutEnd } from '#core/text'
import { plainWords } from '#rank/words'
import { answerJson } from '#tools/workflow/gate'
import { isList, type JsonValue, type JsonObject } from '#core/json'
import type { ToolDefinition } from '#tools/model'
import { contractOpener, contractProviders, contractSequences } from '#tools/contract'
import { mapParameters, type ParameterMapping } from './map-parameters.ts'
import { parametersOf } from './parameter.ts'
import { only } from './reading.ts'
import { findSlots } from './slots.ts'

export interface Binding {
  parameter: string
  /** The `name` of the earlier step. */
  from: string
  extraction: Extraction
}

/** `missing` has the parameters without a value from the request or an earlier step. */
export interface PlannedCall extends ParameterMapping {
  /** Unique in the plan: `take_snapshot`, `take_snapshot2`. */
  name: string
  tool: string
  bindings: readonly Binding[]
  /** The reason for the step: `asked for`, `gives uid to click`. */
  reason: string
  after: readonly string[]
}

export interface PlanTools {
  definition: (id: string) => ToolDefinition | undefined
  tools: readonly string[]
  examples?: ((id: string) => readonly string[]) | undefined
}

/**
 * Plans the clauses of a request in order, each with the calls that provide its parameters, such as
 * `take_snapshot` before a click (seed 3). Pure. Returns no steps if a clause has no tool.
 */
export function planRequest(
  clauses: readonly { text: string; tool: string | undefined }[],
  tools: PlanTools,
): readonly PlannedCall[] {
  const planner = new Planner(tools)
  for (const { text, tool } of clauses) {
    const definition = tool === undefined ? undefined : tools.definition(tool)
    if (!definition) return []
    for (const one of sequenceOf(text, definition, tools)) planner.addAsked(text, one)
  }
  return planner.steps
}

export function singleCall(
  { id, name }: Pick<ToolDefinition, 'id' | 'name'>,
  mapping: Partial<ParameterMapping>,
): PlannedCall {
  const none = { params: {}, missing: [], unplaced: [], trace: [], bindings: [], after: [] }
  return { name, tool: id, reason: 'asked for', ...none, ...mapping }
}

/** Fills parameters from earlier answers. If one is unclear, returns the candidates. */
export function bindParams({ params, bindings }: PlannedCall, texts: ReadonlyMap<string, string>) {
  const bound: Record<string, JsonValue> = { ...params }
  for (const { parameter, from, extraction } of bindings) {
    const { value, candidates } = extractValue(extraction, texts.get(from) ?? '')
    if (value === undefined) {
      const choice = candidates.length > 0 ? `; it has ${candidates.slice(0, 10).join(', ')}` : ''
      const why = `${parameter} is not clear from the answer of ${from}${choice}`
      return { ready: false as const, why }
    }
    bound[parameter] = value
  }
  return { ready: true as const, params: bound }
}

class Planner {
  readonly steps: PlannedCall[] = []
  readonly #tools: PlanTools

  constructor(tools: PlanTools) {
    this.#tools = tools
  }

  /** Adds the tool of a clause. If it takes no address, the tool that opens the address comes first. */
  addAsked(clause: string, tool: ToolDefinition): void {
    const mapping = this.#map(clause, tool)
    const address = findSlots(clause).find(
      ({ kind, value }) => kind === 'url' && mapping.unplaced.includes(value),
    )
    const opener = address && sibling(this.#tools, tool, contractOpener.tool)
    if (!address || !opener || opener.id === tool.id) {
      this.#add(clause, tool, 'asked for', mapping)
      return
    }
    const { value, start, end } = address
    this.#add(contractOpener.request(value), opener, `opens the page for ${tool.name}`)
    this.#add(`${clause.slice(0, start)} ${clause.slice(end)}`, tool, 'asked for')
  }

  /** Maps a clause. Values from earlier steps on the same server fill required parameters. */
  #map(clause: string, tool: ToolDefinition): ParameterMapping {
    const { definition, examples } = this.#tools
    const before = this.steps.filter((step) => definition(step.tool)?.server === tool.server)
    const earlier: JsonObject = Object.assign({}, ...before.map(({ params }) => params))
    return mapParameters(clause, tool, { known: earlier, examples: examples?.(tool.id) })
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
    const same = names.filter((name) => [name, withoutEnd(name, '0123456789')].includes(base))
    const step: PlannedCall = {
      name: same.length === 0 ? base : `${base}${same.length + 1}`,
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

  /** Takes a parameter from the answer of an earlier step, or of a step that is added for it. */
  #binding(clause: string, tool: ToolDefinition, parameter: string): Binding | undefined {
    const source = providerOf(this.#tools, tool, parameter)
    if (!source) return undefined
    const { provider, kind } = source
    let from = this.steps.findLast((step) => step.tool === provider.id)
    if (!from) {
      const mapping = this.#map(clause, provider)
      // The provider itself needs a value that no other tool provides.
      if (mapping.missing.some((name) => !providerOf(this.#tools, provider, name))) return undefined
      const reason = `gives ${parameter} to ${tool.name}`
      from = this.#add(clause, provider, reason, { ...mapping, unplaced: [] })
    }
    const toolWords = new Set(plainWords(tool.name))
    const words = plainWords(clause.toLowerCase()).slice(0, 60)
    const extraction = { kind, words: words.filter((word) => !toolWords.has(word)) }
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

/** Returns the only tool that a description names as the source: `element reference from the page snapshot`. */
function describedProvider(
  tools: PlanTools,
  { id, server, inputSchema }: ToolDefinition,
  parameter: string,
) {
  const { description = '' } =
    parametersOf(inputSchema).find(({ name }) => name === parameter) ?? {}
  const [, source = ''] = /\breference from ([^,.;]{1,60})/i.exec(description) ?? []
  const words = plainWords(source)
  const matches = tools.tools
    .filter((one) => one !== id && one.startsWith(`${server}__`))
    .filter((one) => words.includes(plainWords(one).at(-1) ?? ''))
    .flatMap((one) => tools.definition(one) ?? [])
  return only(matches)
}

/** Returns the tools that answer such a request together, if the tool is one of them, else the tool itself. */
function sequenceOf(clause: string, tool: ToolDefinition, tools: PlanTools): ToolDefinition[] {
  for (const { phrase, tools: names } of contractSequences) {
    const members = names.flatMap((name) => sibling(tools, tool, name) ?? [])
    const isMember = members.some(({ id }) => id === tool.id)
    if (phrase.test(clause) && isMember && members.length === names.length) return members
  }
  return [tool]
}

/** Returns the tool with a name on the same server; `-` and `_` are the same. */
function sibling({ tools, definition }: PlanTools, { server }: ToolDefinition, name: string) {
  const wanted = plainWords(name).join()
  const isWanted = (id: string) =>
    id.startsWith(`${server}__`) && plainWords(id.slice(server.length + 2)).join() === wanted
  const id = tools.find(isWanted)
  return id === undefined ? undefined : definition(id)
}

/** How a value is extracted from an earlier answer, by the words of the request. */
interface Extraction {
  /** A browser's element or open page, a library ID such as `/a/b`, or an item of a list. */
  kind: 'element' | 'library-id' | 'item' | 'open-page'
  words: readonly string[]
}

interface Extracted {
  /** Undefined if no candidate fits, or several fit equally. */
  value: JsonValue | undefined
  candidates: readonly string[]
}

function extractValue({ kind, words }: Extraction, text: string): Extracted {
  switch (kind) {
    case 'element':
      return elementIn(text, words)
    case 'item':
      return itemIn(text, words)
    case 'open-page':
      return openPage(text)
    case 'library-id': {
      const pattern = /(?<![\w:/.])(\/[\w.-]+\/[\w.-]+(?:\/[\w.-]+)?)(?![\w/])/
      return { value: pattern.exec(text)?.[1], candidates: [] }
    }
  }
}

/** Finds the open page: `1: about:blank [selected]`. */
function openPage(text: string): Extracted {
  const pages = [...text.matchAll(/^[^\S\n\r\u2028\u2029]*(\d+):\s(.*)$/gm)]
  const selected = pages.filter((match) => match[2]?.includes('[selected]'))
  const open = only(selected.length > 0 ? selected : pages)
  return { value: open && Number(open[1]), candidates: pages.map(([line]) => line.trim()) }
}

/** `uid=1_4 button "Send"` or `- button "Send" [ref=e5]`. */
const elementPattern =
  /^\s*(?:- )?(?:uid=(?<uid>\S{1,40})\s+)?(?<role>\w{1,40})(?:\s+"(?<label>[^"]{0,500})")?(?:.{0,200}?\[ref=(?<ref>\w{1,40})\])?/

function elementIn(snapshot: string, words: readonly string[]): Extracted {
  const elements = snapshot.split('\n').flatMap((line) => {
    const { uid, ref, role = '', label = '' } = elementPattern.exec(line)?.groups ?? {}
    const id = uid ?? ref ?? ''
    const labelWords = new Set(plainWords(label.toLowerCase()))
    const matches = words.filter((word) => labelWords.has(word)).length
    const whole = labelWords.size > 0 && matches === labelWords.size ? 0.5 : 0
    const score = matches * 2 + whole + (words.includes(role.toLowerCase()) ? 1 : 0)
    return id === '' ? [] : [{ id, text: `${id} ${role}${label && ` "${label}"`}`, score }]
  })
  const scored = elements
    .filter(({ score }) => score > 0)
    .toSorted((one, other) => other.score - one.score)
  const [best, second] = scored
  const near = scored.length > 0 ? scored : elements
  const value = best?.score === second?.score ? undefined : best?.id
  return { value, candidates: near.map(({ text }) => text) }
}

function itemIn(text: string, words: readonly string[]): Extracted {
  const json = answerJson(text)
  const lines = text
    .split('\n')
    .flatMap((line) => /^\s*(?:[-*•]\s*)?["'`]?([\w.$-]+)["'`]?/.exec(line)?.[1] ?? [])
  const items = [...new Set(json === undefined ? lines : namesIn(json, 0))].slice(0, 1000)
  const request = ` ${words.join(' ')} `
  const [longest] = items
    .filter((item) => request.includes(` ${plainWords(item.toLowerCase()).join(' ')} `))
    .toSorted((one, other) => other.length - one.length)
  return { value: longest ?? only(items), candidates: items }
}

function namesIn(value: unknown, depth: number): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null || depth > 6) return []
  if (isList(value)) return value.flatMap((item) => namesIn(item, depth + 1))
  const entries: [string, unknown][] = Object.entries(value)
  const name = entries.find(([key]) => /^(?:name|id)$/i.test(key))?.[1]
  if (typeof name === 'string') return [name]
  return entries.flatMap(([, part]) => (typeof part === 'object' ? namesIn(part, depth + 1) : []))
}
