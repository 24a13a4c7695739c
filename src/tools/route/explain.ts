import type { Question, Ranking } from './ranking.ts'
import type { CandidateExplanation, PartKind, Route, RouteExplanation, ScorePart } from './route.ts'
import { fieldWeights } from './weights.ts'

/** Takes the scores of a route's candidates apart. */
export function explainRoute(route: Route, question: Question, ranking: Ranking): RouteExplanation {
  const parts = new Map<number, ScorePart[]>()
  const { words, spelled } = question.request
  const asWritten = (text: string): string =>
    text.replace(/\S+/g, (word) => spelled.get(word) ?? word)
  for (const { tool } of route.candidates) {
    const position = ranking.positions.get(tool)
    if (position !== undefined) parts.set(position, [])
  }
  ranking.score(question, (position, kind, text, score) => {
    const known = parts.get(position)
    if (known === undefined || score === 0) return
    const inUnits = score / ranking.unit
    const shown = asWritten(text)
    if (kind === 'word') {
      const shares = ranking.index.shares(position, text)
      known.push(...byField(shares, shown, inUnits))
    } else known.push({ kind, text: shown, score: inUnits })
  })
  const candidates = route.candidates.map(({ tool, score }) => {
    const found = parts.get(ranking.positions.get(tool) ?? -1) ?? []
    return { tool, score, parts: joined(found) }
  })
  return {
    route,
    words: [...words].map(([word, weight]) => ({ word: asWritten(word), weight })),
    candidates: candidates.map((candidate, place) => ({
      ...candidate,
      aheadOfNext: aheadOf(candidate, candidates[place + 1]),
    })),
  }
}

function byField(shares: readonly number[], text: string, score: number): ScorePart[] {
  const sum = shares.reduce((before, share) => before + share, 0)
  return fieldWeights.flatMap(({ field }, place) => {
    const share = shares[place] ?? 0
    return share === 0 ? [] : [{ kind: field, text, score: (score * share) / sum }]
  })
}

/** One part for each kind, greatest first. */
function joined(parts: readonly ScorePart[]): ScorePart[] {
  const byKind = new Map<PartKind, ScorePart & { texts: Set<string> }>()
  for (const { kind, text, score } of parts) {
    const known = byKind.get(kind)
    if (known === undefined) byKind.set(kind, { kind, text: '', score, texts: new Set([text]) })
    else {
      known.score += score
      known.texts.add(text)
    }
  }
  return [...byKind.values()]
    .map(({ kind, score, texts }) => ({
      kind,
      text: [...texts].filter((text) => text !== '').join(', '),
      score: Math.round(score * 10_000) / 10_000,
    }))
    .toSorted((a, b) => b.score - a.score || (a.kind < b.kind ? -1 : 1))
}

type Explained = Pick<CandidateExplanation, 'tool' | 'score' | 'parts'>

function aheadOf(candidate: Explained, next: Explained | undefined): string | undefined {
  if (next === undefined) return undefined
  if (candidate.score === next.score) return 'the scores are equal; its id comes first'
  const leads = candidate.parts
    .map(({ kind, text, score }) => {
      const other = next.parts.find((part) => part.kind === kind)?.score ?? 0
      return { kind, text, lead: score - other }
    })
    .filter(({ lead }) => lead > 0)
    .toSorted((a, b) => b.lead - a.lead)
  return leads
    .slice(0, 2)
    .map(({ kind, text, lead }) => `${kind}${text === '' ? '' : ` (${text})`} +${lead.toFixed(2)}`)
    .join(', ')
}
