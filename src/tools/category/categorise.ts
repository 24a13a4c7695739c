import { compareText } from '../../core/diagnostic.ts'
import { clusterTools } from './_cluster.ts'
import { catalogueCategory, type CategorisedTool, nameParts } from './_evidence.ts'
import { canonicalCategory } from './canonical.ts'

/** The share of a server's tools that must agree before the others follow them. */
const majority = 0.5

/**
 * Tool id → canonical category, without a model: by the catalogue, by what most tools of the same
 * server are, and for servers that it is not known by server and shared words. A tool that stands alone
 * is in no category. The order of the tools changes nothing; of two with one id the first by
 * description counts.
 */
export function categorise(tools: readonly CategorisedTool[]): Map<string, string> {
  const unique = new Map<string, CategorisedTool>()
  for (const tool of tools.toSorted(byIdentity)) {
    if (!unique.has(tool.id)) unique.set(tool.id, tool)
  }
  const known = byCatalogue([...unique.values()])
  const unknown = [...unique.values()].filter(({ id }) => !known.has(id))
  const assigned = new Map<string, string>()
  for (const id of unique.keys()) {
    const category = known.get(id)
    if (category !== undefined) assigned.set(id, category)
  }
  for (const [id, name] of clusterTools(unknown)) assigned.set(id, canonicalCategory(name))
  return assigned
}

function byIdentity(a: CategorisedTool, b: CategorisedTool): number {
  return (
    compareText(a.id, b.id) ||
    compareText(a.server, b.server) ||
    compareText(a.name, b.name) ||
    compareText(a.description, b.description) ||
    compareText(a.title ?? '', b.title ?? '') ||
    compareText(a.annotations?.title ?? '', b.annotations?.title ?? '')
  )
}

function byCatalogue(tools: readonly CategorisedTool[]): Map<string, string> {
  const own = new Map<string, string>()
  const votes = new Map<string, { tools: number; categories: Map<string, number> }>()
  for (const tool of tools) {
    const { server } = nameParts(tool)
    const vote = votes.get(server) ?? { tools: 0, categories: new Map<string, number>() }
    votes.set(server, vote)
    vote.tools++
    const category = catalogueCategory(tool)
    if (category === undefined) continue
    own.set(tool.id, category)
    vote.categories.set(category, (vote.categories.get(category) ?? 0) + 1)
  }
  for (const tool of tools) {
    const vote = votes.get(nameParts(tool).server)
    if (own.has(tool.id) || vote === undefined) continue
    const [winner] = [...vote.categories].toSorted(
      ([a, left], [b, right]) => right - left || compareText(a, b),
    )
    if (winner !== undefined && winner[1] >= vote.tools * majority) own.set(tool.id, winner[0])
  }
  return own
}
