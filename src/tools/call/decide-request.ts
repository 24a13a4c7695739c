import { mapParameters } from '#tools/parameters/map-parameters'
import {
  choicesOf,
  isGrammar,
  only,
  Reading,
  saysItReads,
  wordsOfInitials,
} from '#tools/parameters/reading'
import { findSlots, splitClauses } from '#tools/parameters/slots'
import { type PlannedCall, planRequest, type PlanTools } from '#tools/parameters/plan-request'
import { parametersOf } from '#tools/parameters/parameter'
import { plainWords, stemOf } from '#rank/words'
import {
  callingVerbs,
  contractExamples,
  contractPhrases,
  contractSequences,
  readingVerbs,
  showingVerbs,
} from '#tools/contract'
import type { JsonObject } from '#core/json'
import type { ToolDefinition } from '#tools/model'
import { deprecationOf } from '#tools/route/deprecated'
import type { Route } from '#tools/route/router'
import { foldName, lastSegment } from '#tools/workflow/match'
import type { CallIndex } from './context.ts'

export interface RequestDecision {
  /** Of the whole request, with the final decision and tool. */
  route: Route
  /** The calls, the last of which is asked for; none where there is a doubt, or no known schema. */
  steps: readonly PlannedCall[]
}

export const maxConsidered = 5

/** Decides a request of one or several clauses: it is answered where every clause is. Pure. */
export function decideRequest(
  request: string,
  routeOf: (text: string) => Route,
  tools: PlanTools,
): RequestDecision {
  const whole = routeOf(request)
  const clauses = splitClauses(request, tools.tools.map(lastSegment))
  if (clauses.length > 1) {
    const parts = clauses.map((text) => ({
      text,
      tool: sureTool(decideTool(text, routeOf(text), tools)),
    }))
    const steps = planRequest(parts, tools)
    const tool = steps.at(-1)?.tool
    if (tool !== undefined) return { route: { ...whole, decision: 'answer', tool }, steps }
  }
  const decided = decideTool(request, whole, tools)
  const tool = sureTool(decided)
  if (tool === undefined) return { route: decided, steps: [] }
  // One tool for a request of several clauses must take all that is said.
  const steps = planRequest([{ text: request, tool }], tools)
  if (clauses.length < 2 || takesAll(steps)) {
    return { route: { ...decided, tool: steps.at(-1)?.tool ?? tool }, steps }
  }
  return { route: { ...decided, decision: 'shortlist' }, steps: [] }
}

/** Whether there are steps, and a place for all that is said. */
function takesAll(steps: readonly PlannedCall[]): boolean {
  return steps.length > 0 && steps.every(({ unplaced }) => unplaced.length === 0)
}

export function planTools(index: CallIndex): PlanTools {
  const summaries = new Map(index.tools.map((tool) => [tool.id, tool]))
  const examples = new Map(index.tools.map(({ id, examples: own = [] }) => [id, own]))
  const ids = index.tools.map(({ id }) => id)
  return {
    definition: (id) => index.definition(id),
    tools: ids,
    reads: (id) => summaries.get(id)?.readOnly === true,
    replacement: (id) => {
      const tool = summaries.get(id)
      const deprecation = tool && deprecationOf(tool, index.tools)
      return deprecation && (deprecation.successor ?? null)
    },
    examples: (id) => [
      ...(examples.get(id) ?? []),
      ...(contractExamples.get(foldName(ownName(id, ids))) ?? []),
    ],
  }
}

/** A tool answers a request only if the request says its name or a phrase of the format, and it takes all values. */
function decideTool(request: string, route: Route, tools: PlanTools): Route {
  if (route.decision === 'ask' || route.named.length > 0) return route
  const called = calledTool(request, route, tools)
  const isAnswer = called !== undefined || isGiven(request, route, tools)
  return { ...route, decision: isAnswer ? 'answer' : 'shortlist', tool: called ?? route.tool }
}

/**
 * Whether the request gives all values of the best candidate, at least one, and the router is sure or no other candidate
 * can be called with all that is said.
 */
function isGiven(request: string, route: Route, tools: PlanTools): boolean {
  const steps = planRequest([{ text: request, tool: route.tool }], tools)
  const isSaid = steps.some(({ trace }) => trace.some(({ text }) => text !== ''))
  if (!isSaid || !takesAll(steps) || !isComplete(steps)) return false
  if (!isSafeUnnamed(route.tool ?? '', request, tools)) return false
  if (isOnlyAbout(request, route.tool ?? '', tools)) return false
  const tool = tools.definition(route.tool ?? '')
  if (tool && (isVerbOfOther(request, tool) || isVerbOfSibling(request, tool, tools))) return false
  if (route.decision === 'answer') return true
  const plain = withoutSlots(request, route)
  const others = route.candidates.slice(1, maxConsidered).map(({ tool: id }) => id)
  const isRival = (other: string) =>
    isNamedAlike(plain, route.tool ?? '', other, tools) || takesRequest(request, other, tools)
  return !others.some(isRival)
}

/**
 * Whether a tool may be called although the request does not say its whole name: if it only reads, or if the request says
 * the first word of the name and the schema requires a value, so that the request says what is changed, and how.
 */
function isSafeUnnamed(tool: string, request: string, tools: PlanTools): boolean {
  if (tools.reads?.(tool) === true) return true
  const { inputSchema = {} } = tools.definition(tool) ?? {}
  const [verb = ''] = plainWords(ownName(tool, tools.tools))
  return (
    parametersOf(inputSchema).some(({ required }) => required) &&
    plainWords(request).some((word) => stemOf(word) === stemOf(verb))
  )
}

/**
 * Whether a request asks or tells something about what a tool that may change something does: `why was PR 17 declined`,
 * `PR 17 is merged`, `get PR 17 and merge it`.
 */
function isOnlyAbout(request: string, id: string, tools: PlanTools): boolean {
  const tool = tools.definition(id)
  if (!tool || tools.reads?.(id) === true || saysItReads(tool)) return false
  const reading = new Reading(request, tool, new Set())
  return reading.isOnlyAbout() || (startsWithShowing(request) && !startsWithOwnVerb(reading))
}

/** Whether a request starts with the verb or a choice of the tool: `list tags` for `tag`, but not `get PR 5 and merge it`. */
function startsWithOwnVerb({ tokens, name, parameters }: Reading): boolean {
  const first = tokens.find(({ word }) => showingVerbs.has(word) || !isGrammar(word))
  const choices = parameters.flatMap(choicesOf)
  return first !== undefined && (name.includes(first.word) || choices.includes(first.word))
}

/**
 * Whether a request starts with another form of a word in the name of a tool that shows something: `transition X to Done`
 * is an action, and does not ask for `get_transitions`.
 */
function isVerbOfOther(request: string, tool: ToolDefinition): boolean {
  const { first, name } = new Reading(request, tool, new Set())
  if (!first || first.kind || !name.some((word) => showingVerbs.has(word))) return false
  return !name.includes(first.word) && name.some((word) => stemOf(word) === first.stem)
}

/**
 * Whether a request starts with the verb of another tool of the server: `mark the next task … as done` does not ask for
 * `get_next_task`, whose verb is not said, where there is a `mark_task_done`.
 */
function isVerbOfSibling(
  request: string,
  tool: ToolDefinition,
  { tools }: Pick<PlanTools, 'tools'>,
): boolean {
  const { first } = new Reading(request, tool, new Set())
  const isAction = first && !first.kind && !callingVerbs.has(first.word)
  if (!isAction || readingVerbs.has(first.word)) return false
  const own = plainWords(tool.name).map(stemOf)
  if (own.includes(first.stem)) return false
  return tools.some((id) => {
    if (id === tool.id || !id.startsWith(`${tool.server}__`)) return false
    const isSaid = plainWords(lastSegment(id)).some((word) => stemOf(word) === first.stem)
    return isSaid && stemOf(plainWords(ownName(id, tools))[0] ?? '') === first.stem
  })
}

/**
 * Returns another tool of the server that takes the same values, and whose name fits the request better: `approve_task`
 * for `approve task 7` instead of `finish_task`, and `get_issue` for `issue 7` instead of `update_issue`.
 */
export function betterNamed(
  request: string,
  tool: ToolDefinition,
  params: JsonObject,
  tools: PlanTools,
): string | undefined {
  const { first, tokens } = new Reading(request, tool, new Set())
  const requestStems = new Set(tokens.flatMap((one) => (one.kind ? [] : [one.stem])))
  const nameOf = (id: string) =>
    plainWords(ownName(id, tools.tools))
      .filter((word) => !isGrammar(word) || word === 'get')
      .map(stemOf)
  const partsOf = (id: string) => Map.groupBy(new Set(nameOf(id)), (word) => requestStems.has(word))
  const countOf = (id: string, inRequest: boolean) => partsOf(id).get(inRequest)?.length ?? 0
  const [verb = '', ...object] = nameOf(tool.id)
  const ownMatches = countOf(tool.id, true)
  const ownOthers = countOf(tool.id, false)
  const saysNoAction = first !== undefined && object.includes(first.stem) && !requestStems.has(verb)
  return tools.tools.find((id) => {
    if (id === tool.id || !id.startsWith(`${tool.server}__`)) return false
    if (!takesNames(Object.keys(params), tools.definition(id))) return false
    const matches = countOf(id, true)
    const isCloser = countOf(id, false) < ownOthers || (saysNoAction && tools.reads?.(id) === true)
    return matches > ownMatches || (matches === ownMatches && isCloser)
  })
}

/** Whether a tool accepts and needs nothing but these parameters. */
function takesNames(names: readonly string[], tool: ToolDefinition | undefined): boolean {
  const parameters = parametersOf(tool?.inputSchema ?? {})
  const own = parameters.map(({ name }) => name)
  return (
    names.length > 0 &&
    names.every((name) => own.includes(name)) &&
    parameters.every(({ name, required }) => !required || names.includes(name))
  )
}

/** Whether the request itself gives every value. */
function isComplete(steps: readonly PlannedCall[]): boolean {
  return steps.every(
    ({ missing, bindings, unset }) => missing.length + bindings.length + unset.length === 0,
  )
}

/** The one tool that the request calls with the most words; undefined if several are called alike. */
function calledTool(request: string, route: Route, tools: PlanTools): string | undefined {
  const plain = withoutSlots(request, route)
  const ofPhrases = tools.tools.filter((id) => isPhraseOf(foldName(lastSegment(id)), request))
  const best5 = route.candidates.slice(0, maxConsidered).map(({ tool }) => tool)
  const called = [...new Set([...ofPhrases, ...best5])].flatMap((candidate) => {
    const replacement = tools.replacement?.(candidate)
    const tool = replacement === undefined ? candidate : replacement
    const definition = tool === null ? undefined : tools.definition(tool)
    const own = tools.definition(candidate)
    if (tool === null || !definition || !own) return []
    const asksToSee = tools.reads?.(candidate) === true && startsWithShowing(request)
    const words = nameWords(plain, ownName(candidate, tools.tools), own, asksToSee)
    const count = Math.max(phraseWords(request, plain, definition, tools), words)
    // One word, such as `search`, calls a tool only if no other one is as likely.
    const isClear = count > 1 || (count === 1 && route.decision === 'answer' && route.tool === tool)
    const rivals = best5.filter((other) => other !== candidate)
    const isRival = (other: string) =>
      isNamedAlike(plain, candidate, other, tools) ||
      (differsInVerb(plain, candidate, other, tools) && takesRequest(request, other, tools))
    const isOpen = count < Infinity && rivals.some(isRival)
    const isOther =
      isVerbOfOther(request, own) || (count < Infinity && isVerbOfSibling(request, own, tools))
    const isAsked = !isOnlyAbout(request, tool, tools) && !isOther
    return isClear && !isOpen && isAsked && takesAll(planRequest([{ text: request, tool }], tools))
      ? [{ tool, count }]
      : []
  })
  const most = Math.max(...called.map(({ count }) => count))
  const best = new Set(called.filter(({ count }) => count === most).map(({ tool }) => tool))
  const isSure = route.decision === 'answer' && route.tool !== undefined && best.has(route.tool)
  return isSure ? route.tool : (only([...best]) ?? firstOfSequence(request, [...best]))
}

/** Tools that answer a phrase of the format together are called by the first of them. */
function firstOfSequence(request: string, ids: readonly string[]): string | undefined {
  const sequence = contractSequences.find(({ phrase }) => phrase.test(request))
  const places = ids.map((id) => sequence?.tools.indexOf(lastSegment(id)) ?? -1)
  const servers = new Set(ids.map((id) => id.slice(0, -lastSegment(id).length)))
  return servers.size === 1 && places.every((place) => place >= 0)
    ? ids[places.indexOf(Math.min(...places))]
    : undefined
}

function withoutSlots(request: string, { slots }: Pick<Route, 'slots'>): string {
  let text = request
  for (const { start, end } of slots.toReversed()) {
    text = `${text.slice(0, start)} ${text.slice(end)}`
  }
  return text
}

/**
 * How many words of a tool's name the request says; 0 if one is missing. `PR` says two words. Words of the server need
 * not be said, and neither does the verb of a tool that shows something if `asksToSee`.
 */
function nameWords(
  plain: string,
  name: string,
  { server }: ToolDefinition,
  asksToSee: boolean,
): number {
  const words = plainWords(name)
  const serverWords = new Set(plainWords(server))
  const stems = new Set(plainWords(plain).map(stemOf))
  const initials = plain.split(/\W+/).flatMap((word) => wordsOfInitials(word, words))
  const isSaid = (word: string) => stems.has(stemOf(word)) || initials.includes(word)
  const [verb = '', ...object] = words.filter((word) => !serverWords.has(word))
  const impliesVerb = asksToSee && showingVerbs.has(verb)
  const required = (impliesVerb ? object : [verb, ...object]).filter((word) => !isGrammar(word))
  const saidOfServer = words.filter((word) => serverWords.has(word) && isSaid(word))
  // A verb alone does not name a tool.
  const isNamed = required.length > 0 || (impliesVerb && saidOfServer.length > 0)
  if (!isNamed || !required.every(isSaid)) return 0
  return required.length + saidOfServer.length + (impliesVerb ? 1 : 0)
}

/** Whether a request asks to see something: `show issue 5` also calls `get_issue`. */
function startsWithShowing(request: string): boolean {
  const words = plainWords(request)
  return showingVerbs.has(words.find((word) => word === 'get' || !isGrammar(word)) ?? '')
}

/**
 * Whether a tool of another server has the same name, and the request does not name the server: which one is meant is not
 * decided by which of them takes the values.
 */
function isNamedAlike(plain: string, one: string, other: string, { tools }: PlanTools): boolean {
  const [name, rival] = [one, other].map((id) => plainWords(ownName(id, tools)).map(stemOf).join())
  const server = plainWords(one.slice(0, -lastSegment(one).length)).map(stemOf)
  const said = plainWords(plain).map(stemOf)
  return name === rival && !server.some((word) => said.includes(word))
}

/** Whether a tool can be called with all that is said. */
function takesRequest(request: string, tool: string, tools: PlanTools): boolean {
  const steps = planRequest([{ text: request, tool }], tools)
  return takesAll(steps) && isComplete(steps)
}

/** Whether two names differ only in a reading verb that the request does not say: `list_requests` and `get_request`. */
function differsInVerb(plain: string, one: string, other: string, { tools }: PlanTools): boolean {
  const [name, rival] = [one, other].map((id) => plainWords(ownName(id, tools)).map(stemOf))
  const [verb = '', ...object] = name ?? []
  const [otherVerb = '', ...otherObject] = rival ?? []
  const said = plainWords(plain).map(stemOf)
  const isVerb = [verb, otherVerb].every((word) => readingStems.has(word))
  return isVerb && !said.includes(verb) && object.length > 0 && object.join() === otherObject.join()
}

const readingStems: ReadonlySet<string> = new Set([...readingVerbs].map(stemOf))

/** A tool's name without the words that the names of all tools of its server start with: `click` of `browser_click`. */
function ownName(id: string, tools: readonly string[]): string {
  const name = lastSegment(id)
  const server = id.slice(0, -name.length)
  const names = tools
    .filter((one) => one.startsWith(server))
    .map((one) => plainWords(lastSegment(one)))
  const words = plainWords(name)
  const isShared = (word: string, at: number) => names.every((one) => one[at] === word)
  const own = words.findIndex((word, at) => readingVerbs.has(word) || !isShared(word, at))
  return own > 0 ? words.slice(own).join('_') : name
}

/**
 * How many words of a phrase of the format, or of a learned example, are the whole request beside its values and the
 * words of the tool's name.
 */
function phraseWords(
  request: string,
  plain: string,
  tool: ToolDefinition,
  { examples }: PlanTools,
): number {
  if (isPhraseOf(foldName(tool.name), request)) return Infinity
  const { trace } = mapParameters(request, tool)
  const placed = new Set(trace.flatMap((one) => contentStems(`${one.parameter} ${one.text}`)))
  const said = contentStems(plain)
  const kinds = new Set(findSlots(request).map(({ kind }) => kind))
  const ofName = new Set(contentStems(tool.name))
  const isWhole = (example: string) => {
    const slots = findSlots(example)
    const words = contentStems(withoutSlots(example, { slots }))
    if (!slots.every(({ kind }) => kinds.has(kind))) return false
    return (
      words.length > 0 &&
      words.every((word) => said.includes(word)) &&
      said.every((word) => words.includes(word) || ofName.has(word) || placed.has(word))
    )
  }
  return (examples?.(tool.id) ?? []).some(isWhole) ? Infinity : 0
}

function isPhraseOf(foldedName: string, request: string): boolean {
  return contractPhrases.some(
    ({ tool, phrase }) =>
      tool !== undefined && foldName(tool) === foldedName && phrase.test(request),
  )
}

function contentStems(text: string): string[] {
  const words = plainWords(text).filter((word) => !isGrammar(word))
  return [...new Set(words.map(stemOf))]
}

function sureTool({ decision, tool }: Route): string | undefined {
  return decision === 'answer' ? tool : undefined
}
