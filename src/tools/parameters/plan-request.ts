import { withoutEnd } from '#core/text'
import { plainWords, stemOf } from '#rank/words'
import { answerJson } from '#tools/workflow/gate'
import { foldName } from '#tools/workflow/match'
import { isList, type JsonValue, type JsonObject } from '#core/json'
import type { ToolDefinition } from '#tools/model'
import {
  contractLibraryName,
  contractOpener,
  contractPhrases,
  contractProviders,
  contractSequences,
} from '#tools/contract'
import { mapParameters, type ParameterMapping } from './map-parameters.ts'
import { parametersOf } from './parameter.ts'
import { isGrammar, only, Reading, reservation, saysItReads } from './reading.ts'
import { findSlots } from './slots.ts'
import { unsetProperties } from './unset-properties.ts'

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
  /** Optional parameters of which the call must set one to change anything; empty if that is said. */
  unset: readonly string[]
  /** Why a call that may change something needs a question, also with a yes in advance. */
  doubts?: readonly string[] | undefined
  /** The reason for the step: `asked for`, `gives uid to click`. */
  reason: string
  after: readonly string[]
}

export interface PlanTools {
  definition: (id: string) => ToolDefinition | undefined
  tools: readonly string[]
  examples?: ((id: string) => readonly string[]) | undefined
  /** Whether a tool is known to read only. */
  reads?: ((id: string) => boolean) | undefined
  /** The tool that replaces a deprecated one; null if its description names none. Undefined: not deprecated. */
  replacement?: ((id: string) => string | null | undefined) | undefined
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
  mapping: Partial<ParameterMapping & Pick<PlannedCall, 'doubts' | 'unset'>>,
): PlannedCall {
  const none = {
    params: {},
    missing: [],
    unplaced: [],
    trace: [],
    bindings: [],
    unset: [],
    identifying: [],
    after: [],
  }
  return { name, tool: id, reason: 'asked for', ...none, ...mapping }
}

/** Fills parameters from earlier answers. If the request does not identify a value, returns the candidates. */
export function bindParams(
  { params, bindings, identifying }: PlannedCall,
  texts: ReadonlyMap<string, string>,
) {
  const bound: Record<string, JsonValue> = { ...params }
  const named = new Set<string>()
  const unclear = ({ parameter, from }: Binding, candidates: readonly string[]) => {
    const choice = candidates.length > 0 ? `; it has ${candidates.slice(0, 10).join(', ')}` : ''
    const why = `${parameter} is not clear from the answer of ${from}${choice}`
    return { ready: false as const, why }
  }
  for (const binding of bindings) {
    const { value, text, candidates } = extractValue(
      binding.extraction,
      texts.get(binding.from) ?? '',
    )
    if (value === undefined) return unclear(binding, candidates)
    for (const word of plainWords(text)) named.add(stemOf(word))
    bound[binding.parameter] = value
  }
  const last = bindings.at(-1)
  // `close the shop page` does not mean the only open page if that one is a bank.
  if (last && !identifying.every((word) => named.has(stemOf(word)))) {
    return unclear(last, extractValue(last.extraction, texts.get(last.from) ?? '').candidates)
  }
  return { ready: true as const, params: bound }
}

/** Empty if it is not known whether the tool reads. */
export function unsetOf(
  tool: ToolDefinition,
  params: JsonObject,
  { tools, definition, reads }: PlanTools,
): readonly string[] {
  if (!reads || reads(tool.id)) return []
  const ids = tools.filter((id) => id.startsWith(`${tool.server}__`))
  return unsetProperties(tool, params, {
    siblings: ids.flatMap((id) => definition(id) ?? []),
    reads,
  })
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
    const examples = this.#tools.examples?.(tool.id)
    return mapParameters(clause, tool, { known: this.#earlier(tool), examples })
  }

  #earlier({ server }: ToolDefinition): JsonObject {
    const before = this.steps.filter(({ tool }) => this.#tools.definition(tool)?.server === server)
    return Object.assign({}, ...before.map(({ params }) => params))
  }

  #add(
    clause: string,
    tool: ToolDefinition,
    reason: string,
    { params, missing, unplaced, identifying, trace } = this.#map(clause, tool),
  ): PlannedCall {
    const bindings = missing.flatMap((parameter) => this.#binding(clause, tool, parameter) ?? [])
    const from = [...new Set(bindings.map((binding) => binding.from))]
    // Words and labels can name an element of an answer; a path, an address or a number cannot.
    const isPicked = bindings.some(({ extraction }) => extraction.kind !== 'library-id')
    const isName = (text: string) =>
      isPicked && findSlots(text).every(({ kind, value }) => kind === 'quoted' || value !== text)
    const doubts = this.#doubts(clause, tool, trace)
    const names = this.steps.map(({ name }) => name)
    const base = tool.name.replaceAll(/\W/g, '_')
    const same = names.filter((name) => [name, withoutEnd(name, '0123456789')].includes(base))
    const step: PlannedCall = {
      name: same.length === 0 ? base : `${base}${same.length + 1}`,
      tool: tool.id,
      params,
      bindings,
      unset: unsetOf(tool, params, this.#tools),
      missing: missing.filter((name) => !bindings.some(({ parameter }) => parameter === name)),
      unplaced: unplaced.filter((text) => !isName(text)),
      identifying: isPicked ? identifying : [],
      trace,
      doubts,
      reason,
      after: from.length > 0 ? from : names.slice(-1),
    }
    this.steps.push(step)
    return step
  }

  /** Why a call that may change something needs a question: the request says when or to how many things it applies. */
  #doubts(clause: string, tool: ToolDefinition, trace: ParameterMapping['trace']): string[] {
    if (this.#tools.reads?.(tool.id) === true || saysItReads(tool)) return []
    const reading = new Reading(clause, tool, new Set())
    for (const one of trace) reading.found.set(one.parameter, one)
    const placed = new Set(trace.flatMap(({ text }) => plainWords(text)))
    const words = [...reading.conditions(), ...reading.openQuantifiers()]
    return reservation([...words.filter((word) => !placed.has(word)), ...reading.otherSenses()])
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
      from = this.#add(clause, provider, reason, { ...mapping, unplaced: [], identifying: [] })
    }
    const toolWords = new Set(plainWords(tool.name))
    const library = kind === 'library-id' ? from.params[contractLibraryName] : undefined
    const words = plainWords(typeof library === 'string' ? library : clause).slice(0, 60)
    const extraction = {
      kind,
      words: words.filter((word) => !toolWords.has(word)),
      named: plainWords(namedIn(clause, tool)),
    }
    return { parameter, from: from.name, extraction }
  }
}

/** What a phrase of the format says that the call is about: `login` of `screenshot of the login page`. */
function namedIn(clause: string, { name }: ToolDefinition): string {
  const phrases = contractPhrases.filter(
    (one) => one.tool !== undefined && foldName(one.tool) === foldName(name),
  )
  return phrases.map(({ phrase }) => phrase.exec(clause)?.groups?.['named']).find(Boolean) ?? ''
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
  /** The words for one of several open pages. */
  named: readonly string[]
}

interface Extracted {
  /** Undefined if no candidate fits, or several fit equally. */
  value: JsonValue | undefined
  /** The part of the answer that has the value. */
  text: string
  candidates: readonly string[]
}

function extractValue({ kind, words, named }: Extraction, answer: string): Extracted {
  switch (kind) {
    case 'element':
      return elementIn(answer, words)
    case 'item':
      return itemIn(answer, words)
    case 'open-page':
      return openPage(answer, words, named)
    case 'library-id':
      return libraryIn(answer, words)
  }
}

/** Finds the first library whose ID has the library's name: `/vuejs/core` for `vue`, but no `/preactjs/preact` for `react`. */
function libraryIn(answer: string, words: readonly string[]): Extracted {
  const pattern = /(?<![\w:/.])(\/[\w.-]+\/[\w.-]+(?:\/[\w.-]+)?)(?![\w/])/g
  const ids = [...new Set([...answer.matchAll(pattern)].flatMap(([, id]) => id ?? []))]
  const isNamed = (id: string) => {
    const parts = plainWords(id)
    const hasPart = (word: string) => parts.some((part) => part.startsWith(word))
    return words.length > 0 && (words.every(hasPart) || hasPart(words.join('')))
  }
  return { value: ids.find(isNamed), text: '', candidates: ids }
}

/** Finds the page with the most words of the request, else the selected or only one: `1: about:blank [selected]`. */
function openPage(
  answer: string,
  words: readonly string[],
  required: readonly string[],
): Extracted {
  const pages = [...answer.matchAll(/^[^\S\n\r\u2028\u2029]*(\d+):\s(.*)$/gm)].map(
    ([line, id, text = '']) => ({ line: line.trim(), id: Number(id), text }),
  )
  const content = words.filter((word) => !isGrammar(word))
  const scored = pages.map((page) => {
    const named = new Set(plainWords(page.text).map(stemOf))
    return { page, score: content.filter((word) => named.has(stemOf(word))).length }
  })
  const most = Math.max(...scored.map(({ score }) => score))
  const best = scored.filter(({ score }) => score === most)
  const selected = only(pages.filter((one) => one.text.includes('[selected]')))
  const current = required.length > 0 ? only(pages) : (selected ?? only(pages))
  const page = most > 0 ? only(best)?.page : current
  return { value: page?.id, text: page?.text ?? '', candidates: pages.map(({ line }) => line) }
}

/** `uid=1_4 button "Send"` or `- button "Send" [ref=e5]`. */
const elementPattern =
  /^\s*(?:- )?(?:uid=(?<uid>\S{1,40})\s+)?(?<role>\w{1,40})(?:\s+"(?<label>[^"]{0,500})")?(?:.{0,200}?\[ref=(?<ref>\w{1,40})\])?/

function elementIn(snapshot: string, words: readonly string[]): Extracted {
  const elements = snapshot.split('\n').flatMap((line) => {
    const { uid, ref, role = '', label = '' } = elementPattern.exec(line)?.groups ?? {}
    const id = uid ?? ref ?? ''
    const labelWords = new Set(plainWords(label))
    const named = [...labelWords].filter((word) => words.includes(word))
    const isWhole = named.length > 0 && named.length === labelWords.size
    // Grammar names an element only if its whole label is said: `click more`, not `click on the …`.
    const matches = named.filter((word) => isWhole || !isGrammar(word)).length
    const whole = isWhole ? 0.5 : 0
    const score = matches * 2 + whole + (words.includes(role.toLowerCase()) ? 1 : 0)
    return id === '' ? [] : [{ id, text: `${id} ${role}${label && ` "${label}"`}`, score }]
  })
  const scored = elements
    .filter(({ score }) => score > 0)
    .toSorted((one, other) => other.score - one.score)
  const [best, second] = scored
  const near = scored.length > 0 ? scored : elements
  const value = best?.score === second?.score ? undefined : best?.id
  return { value, text: best?.text ?? '', candidates: near.map(({ text }) => text) }
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
  return { value: longest, text: longest ?? '', candidates: items }
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
