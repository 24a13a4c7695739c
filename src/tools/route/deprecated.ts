import type { Ranked } from '#rank/ranker'
import type { ToolSummary } from '#tools/model'

/** Marks at the beginning of a description, and those that stand out within it. */
const marks = [
  /^[^\p{L}\p{N}]{0,10}deprecated\b/iu,
  /\bDEPRECATED\b/,
  /[[(]deprecated[\])]/i,
  /@deprecated\b/i,
  /\bthis (?:tool|function|command|method) is deprecated\b/i,
]

/** How far the name of a successor can be behind the mark. */
const nearMark = 200

/** So that it is not a candidate beside its replacement. */
const partLeft = 0.4

export interface Deprecation {
  /** The tool of the same server that the description names behind its mark. */
  successor?: string | undefined
}

/** What a tool's own description says about its end; undefined: nothing. */
export function deprecationOf(
  { id, server, description }: ToolSummary,
  tools: readonly ToolSummary[],
): Deprecation | undefined {
  const offsets = marks.flatMap((mark) => mark.exec(description)?.index ?? [])
  if (offsets.length === 0) return undefined
  const from = Math.min(...offsets)
  const words = description.slice(from, from + nearMark).split(/[^\p{L}\p{N}_.-]+/u)
  const names = words.map((word) => word.replace(/(?<![.-])[.-]+$/, ''))
  const others = new Map(
    tools.flatMap((tool) =>
      tool.server === server && tool.id !== id ? [[tool.name, tool.id]] : [],
    ),
  )
  const name = names.find((one) => others.has(one))
  return { successor: name === undefined ? undefined : others.get(name) }
}

/** Puts a deprecated tool behind its successor, and behind others that fit nearly as well. */
export function behindSuccessors(
  ranked: readonly Ranked[],
  deprecated: ReadonlyMap<string, Deprecation>,
): readonly Ranked[] {
  if (!ranked.some(({ id }) => deprecated.has(id))) return ranked
  const byId = new Map(ranked.map((one) => [one.id, one]))
  for (const { id, score, parts } of ranked) {
    const deprecation = deprecated.get(id)
    if (!deprecation) continue
    const left = score * partLeft
    const part = { kind: 'deprecated', text: 'says that it is deprecated', score: left - score }
    byId.set(id, { id, score: left, parts: [...parts, part] })
    const { successor } = deprecation
    if (successor === undefined || deprecated.has(successor)) continue
    const next = byId.get(successor) ?? { id: successor, score: 0, parts: [] }
    const gain = Math.max(0, score - next.score)
    const named = { kind: 'successor', text: `named by ${id}`, score: gain }
    byId.set(successor, { id: successor, score: next.score + gain, parts: [...next.parts, named] })
  }
  return [...byId.values()].toSorted((a, b) => b.score - a.score)
}
