import { withoutEnd } from '#core/text'
import { plainWords, wordsOf } from '#rank/words'
import type { RankDocument } from '#rank/index'
import { prepareRanker, type Ranked, type Ranking } from '#rank/ranker'
import type { ToolIndex } from '#tools/cache/tool-index'
import { blankObjects, readJsonIn } from '#tools/call/directive-text'
import { resolveTool } from '#tools/call/find-tool'
import { behindColon, isWholeWord, writtenNames } from '#tools/call/passthrough'
import type { ToolSummary } from '#tools/model'
import { contractExamples } from '#tools/contract'
import { findSlots, maxRequestLength, type Slot } from '#tools/parameters/slots'
import { foldName, lastSegment } from '#tools/workflow/match'
import { behindSuccessors, deprecationOf } from './deprecated.ts'

export interface Route {
  /**
   * `answer`: one tool is clearly meant. `shortlist`: it is one of the candidates. `ask`: nothing
   * fits well enough to be offered without a question.
   */
  decision: 'answer' | 'shortlist' | 'ask'
  category?: string | undefined
  tool?: string | undefined
  /** How far the first candidate is ahead of the second, as a part of its score: 0 to 1. */
  margin: number
  /** The probability that the first candidate is meant: 0 to 1. */
  probability: number
  /** Best first; equal scores in code-point order of their ids. */
  candidates: readonly {
    tool: string
    /** Evidence, where 1 is one word that no other tool has. */
    score: number
    /** Why the tool's server cannot be reached: configured, but failing. */
    unavailable?: string | undefined
  }[]
  /** What the request is about: its words in phrases, without grammar and typed pieces. */
  intent: readonly string[]
  slots: readonly Slot[]
  named: readonly string[]
}

export interface RouteExplanation extends Pick<Ranking, 'words'> {
  route: Route
  /** Parts of a score besides those of the ranker: `called by name`. */
  candidates: readonly (Omit<Ranked, 'id'> & {
    tool: string
    /** Why it precedes the next candidate; undefined for the last one. */
    aheadOfNext?: string | undefined
  })[]
}

export interface RouterOptions {
  /** Why servers cannot be reached, by name. Their tools stay candidates and say so. */
  unavailable?: ReadonlyMap<string, string> | undefined
}

export interface RouteOptions {
  limit?: number | undefined
}

export interface Router {
  route(request: string, options?: RouteOptions): Route
  explain(request: string, options?: RouteOptions): RouteExplanation
}

/** From this probability on the first candidate is the answer. */
const sureEnough = 0.75
/** The lead over the second that an answer needs. */
const minLead = 0.2
/** Below this score nothing fits. */
const minEvidence = 0.3

/**
 * Makes tools ready for routing, in any order. No model, no network, no disk.
 *
 * @example
 * prepareRouter(index.tools).route('take a screenshot of the login page').tool
 */
export function prepareRouter(tools: readonly ToolSummary[], options: RouterOptions = {}): Router {
  const rank = rankerOf(tools)
  const byId = new Map(tools.toReversed().map((tool) => [tool.id, tool]))
  const unique = [...byId.values()]
  const deprecated = new Map(
    tools.flatMap((tool) => {
      const deprecation = deprecationOf(tool, tools)
      return deprecation ? [[tool.id, deprecation] as const] : []
    }),
  )

  const explain: Router['explain'] = (request, { limit = 5 } = {}) => {
    const named = namedTools(request, unique)
    const slots = findSlots(request)
    const { probability: certainty, ...ranking } = rank(rankedText(request, slots))
    const ranked = withNamed(behindSuccessors(ranking.ranked, deprecated), named)
    const [first, second] = ranked
    // What is certain of a tool is so of its successor, but not of another one.
    const meant = ranking.ranked[0]?.id ?? ''
    const isMeant = [meant, deprecated.get(meant)?.successor].includes(first?.id)
    const probability = isMeant ? certainty : Math.min(certainty, 1 - certainty)
    const tool = byId.get(first?.id ?? '')
    const margin = first ? 1 - (second?.score ?? 0) / first.score : 0
    const isSure = named.length === 1 || (probability >= sureEnough && margin >= minLead)
    const isAsk = named.length === 0 && (first?.score ?? 0) < minEvidence
    const shown = ranked.slice(0, limit)
    const route: Route = {
      decision: isAsk ? 'ask' : isSure && named.length < 2 ? 'answer' : 'shortlist',
      category: tool?.category,
      tool: isAsk ? undefined : tool?.id,
      margin: Math.round(margin * 10_000) / 10_000,
      probability: named.length === 1 ? 1 : probability,
      candidates: shown.map(({ id, score }) => {
        const unavailable = options.unavailable?.get(byId.get(id)?.server ?? '')
        return { tool: id, score, ...(unavailable === undefined ? {} : { unavailable }) }
      }),
      intent: intentOf(request, slots),
      slots,
      named,
    }
    const candidates = shown.map(({ id, score, parts }, at) => {
      const next = shown[at + 1]
      return { tool: id, score, parts, aheadOfNext: next && aheadOf(parts, next) }
    })
    return { route, words: ranking.words, candidates }
  }
  return { explain, route: (request, routing) => explain(request, routing).route }
}

const rankers = new WeakMap<readonly ToolSummary[], ReturnType<typeof prepareRanker>>()

function rankerOf(tools: readonly ToolSummary[]): ReturnType<typeof prepareRanker> {
  const cached = rankers.get(tools)
  if (cached) return cached
  const rank = prepareRanker(tools.map(documentOf), { isSearch: true })
  rankers.set(tools, rank)
  return rank
}

/** The router over a project's tools; it says which servers failed. */
export function projectRouter(index: Pick<ToolIndex, 'tools' | 'servers'>): Router {
  const unavailable = new Map(
    index.servers.flatMap(({ name, unavailable: failure }) =>
      failure ? [[name, failure.message]] : [],
    ),
  )
  return prepareRouter(index.tools, { unavailable })
}

function documentOf(tool: ToolSummary): RankDocument {
  const { id, server, name, description, parameters, examples = [] } = tool
  const { parameterText = '', choices = [] } = tool
  const requests = [...examples, ...(contractExamples.get(foldName(lastSegment(name))) ?? [])]
  return {
    id,
    name,
    fields: [
      { kind: 'name', text: name, weight: 3 },
      { kind: 'description', text: description, weight: 1 },
      { kind: 'server', text: server, weight: 3, isShared: true },
      { kind: 'parameters', text: parameters.join(' '), weight: 0.5 },
      { kind: 'choices', text: choices.join('\n'), weight: 0.5, isDetail: true },
      { kind: 'parameter text', text: parameterText, weight: 0.25, isDetail: true },
    ],
    examples: requests.map((request) => ({ text: rankedText(request) })),
  }
}

/** A request with a word for what only its form tells: of a URL only that it is one. */
function rankedText(request: string, slots: readonly Slot[] = findSlots(request)): string {
  const told = slots.filter(({ kind }) => ['url', 'email', 'sql'].includes(kind))
  return replaced(request, told, ({ kind }) => kind)
}

function replaced(request: string, slots: readonly Slot[], by: (slot: Slot) => string): string {
  let text = request.slice(0, maxRequestLength)
  for (const slot of slots.toReversed()) {
    text = `${text.slice(0, slot.start)}${by(slot)}${text.slice(slot.end)}`
  }
  return text
}

function intentOf(request: string, slots: readonly Slot[]): string[] {
  const phrases = replaced(request, slots, () => '\n')
    .split(/[\n,.;:!?()]+/)
    .flatMap((line) => {
      const words = plainWords(line).map((word) => (wordsOf(word).length > 0 ? word : '\n'))
      return words.join(' ').split('\n')
    })
    .map((phrase) => phrase.trim())
  return [...new Set(phrases.filter((phrase) => phrase !== ''))]
}

const longestName = 256
const maxNamed = 10

/** A token of several words: joined by `_`, `-`, `.`, `:` or written with a hump. */
const identifier =
  /(?<![\w./:-])(?:[A-Za-z0-9]+(?:[_.:-]{1,2}[A-Za-z0-9]+)+|[A-Za-z]*[a-z0-9][A-Z][A-Za-z0-9]*)(?![\w/])/g

/** The ids of the tools that a request names, in order. One word in prose is prose. */
export function namedTools(
  request: string,
  tools: readonly Pick<ToolSummary, 'id' | 'name'>[],
): readonly string[] {
  const idsOf = (written: string) => resolveTool(written, { tools }).found.map(({ id }) => id)
  const text = request.slice(0, maxRequestLength).trim()
  const whole = text.length <= longestName ? idsOf(text) : []
  if (whole.length > 0) return whole
  const { objects, end } = readJsonIn(text)
  const prose = blankObjects(text.slice(0, end), objects)
  const tokens = [...prose.matchAll(identifier)]
    .filter(({ 0: token, index }) => isWholeWord(prose, index, index + token.length))
    .map(([token]) => token)
  const beforeJson = writtenNames(text).map(({ token }) => withoutEnd(token, '.:-'))
  const ids = [...beforeJson, ...tokens].flatMap((token) => {
    const own = idsOf(token)
    return own.length > 0 ? own : idsOf(behindColon(token) ?? '')
  })
  return [...new Set(ids)].slice(0, maxNamed)
}

/** A tool that is called by its name precedes all that are only meant. */
function withNamed(ranked: readonly Ranked[], named: readonly string[]): readonly Ranked[] {
  if (named.length === 0) return ranked
  const most = ranked[0]?.score ?? 0
  const first = named.map((id): Ranked => {
    const known = ranked.find((one) => one.id === id) ?? { id, score: 0, parts: [] }
    const score = most + 1
    const part = { kind: 'called by name', text: id, score: score - known.score }
    return { id, score, parts: [part, ...known.parts] }
  })
  return [...first, ...ranked.filter(({ id }) => !named.includes(id))]
}

function aheadOf(parts: Ranked['parts'], next: Ranked): string {
  const theirs = new Map(next.parts.map(({ text, score }) => [text, score]))
  return parts
    .map(({ text, score }) => ({ text, lead: score - (theirs.get(text) ?? 0) }))
    .toSorted((a, b) => b.lead - a.lead)
    .slice(0, 3)
    .filter(({ lead }) => lead > 0)
    .map(({ text, lead }) => `${text} +${lead.toFixed(2)}`)
    .join(', ')
}
