import { compareText } from '../../core/diagnostic.ts'
import { type CategorisedTool, nameParts } from './_evidence.ts'
import { telling, wordsOf } from './_words.ts'
import { categorySlug } from './canonical.ts'

/** How alike the words of two servers must be to share a category: the cosine of their weights. */
const alike = 0.4
/** A category of more tools than this is divided by the words that its tools' names share. */
const largest = 40
/** A category of fewer tools than this is none. */
const smallest = 2

interface Group {
  tools: readonly CategorisedTool[]
  servers: readonly string[]
  weights: ReadonlyMap<string, number>
}

/** Tools that the catalogue does not know → a category by server and by shared words. */
export function clusterTools(tools: readonly CategorisedTool[]): Map<string, string> {
  const groups = serverGroups(tools)
  const assigned = new Map<string, string>()
  for (const group of joinAlike(groups)) {
    for (const [name, members] of divide(group)) {
      if (members.length < smallest || name === '') continue
      for (const { id } of members) assigned.set(id, name)
    }
  }
  return assigned
}

function serverGroups(tools: readonly CategorisedTool[]): Group[] {
  const byServer = new Map<string, CategorisedTool[]>()
  for (const tool of tools) {
    const { server } = nameParts(tool)
    const known = byServer.get(server)
    if (known === undefined) byServer.set(server, [tool])
    else known.push(tool)
  }
  const drafts = [...byServer].map(([server, members]) => ({
    tools: members,
    servers: [server],
    counts: wordCounts(members, server),
  }))
  const spread = new Map<string, number>()
  for (const { counts } of drafts) {
    for (const word of counts.keys()) spread.set(word, (spread.get(word) ?? 0) + 1)
  }
  return drafts.map(({ counts, ...group }) => ({
    ...group,
    weights: normalised(counts, spread, drafts.length),
  }))
}

/** How often each telling word occurs; a word of a name counts as three of a description. */
export function wordCounts(tools: readonly CategorisedTool[], server: string): Map<string, number> {
  const counts = new Map<string, number>()
  const count = (text: string, weight: number): void => {
    for (const word of new Set(telling(wordsOf(text)))) {
      counts.set(word, (counts.get(word) ?? 0) + weight)
    }
  }
  count(server, 3)
  for (const tool of tools) {
    count(nameParts(tool).ownName, 3)
    count(tool.description.slice(0, 300), 1)
  }
  return counts
}

function normalised(
  counts: ReadonlyMap<string, number>,
  spread: ReadonlyMap<string, number>,
  groups: number,
): Map<string, number> {
  const weighted = [...counts].map(([word, count]): [string, number] => [
    word,
    Math.log(1 + count) * Math.log(1 + groups / (spread.get(word) ?? 1)),
  ])
  const strongest = weighted
    .toSorted(([a, left], [b, right]) => right - left || compareText(a, b))
    .slice(0, 24)
  const length = Math.hypot(...strongest.map(([, weight]) => weight))
  return new Map(strongest.map(([word, weight]) => [word, weight / length]))
}

/** Groups that are alike, directly or through others, become one. */
function joinAlike(groups: readonly Group[]): Group[] {
  const ordered = groups.toSorted((a, b) => compareText(a.servers[0] ?? '', b.servers[0] ?? ''))
  const waiting = new Set(ordered)
  const joined: Group[] = []
  for (const first of ordered) {
    if (!waiting.delete(first)) continue
    const members = [first]
    for (const member of members) {
      for (const other of waiting) {
        if (cosine(member.weights, other.weights) < alike) continue
        waiting.delete(other)
        members.push(other)
      }
    }
    joined.push(together(members))
  }
  return joined
}

function cosine(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): number {
  let sum = 0
  for (const [word, weight] of a) sum += weight * (b.get(word) ?? 0)
  return sum
}

function together(members: readonly Group[]): Group {
  const weights = new Map<string, number>()
  for (const member of members) {
    for (const [word, weight] of member.weights) {
      weights.set(word, (weights.get(word) ?? 0) + weight)
    }
  }
  return {
    tools: members.flatMap(({ tools }) => tools),
    servers: members.flatMap(({ servers }) => servers).toSorted(compareText),
    weights,
  }
}

/** The category's name → its tools; more than one where a large group falls apart. */
function divide(group: Group): [string, readonly CategorisedTool[]][] {
  const name = groupName(group)
  if (group.tools.length <= largest) return [[name, group.tools]]
  const counts = new Map<string, number>()
  for (const tool of group.tools) {
    for (const word of nameWords(tool)) counts.set(word, (counts.get(word) ?? 0) + 1)
  }
  const parts = new Map<string, CategorisedTool[]>()
  for (const tool of group.tools) {
    const shared = nameWords(tool)
      .filter((word) => isPart(counts.get(word) ?? 0, group.tools.length))
      .toSorted((a, b) => (counts.get(b) ?? 0) - (counts.get(a) ?? 0) || compareText(a, b))[0]
    const part = shared === undefined ? name : categorySlug(`${name} ${shared}`)
    parts.set(part, [...(parts.get(part) ?? []), tool])
  }
  return [...parts]
}

function isPart(count: number, all: number): boolean {
  return count >= 4 && count <= all / 2
}

function nameWords(tool: CategorisedTool): string[] {
  return [...new Set(telling(wordsOf(nameParts(tool).ownName)))]
}

/** The server's own name; of several servers, the word that they share most. */
function groupName({ servers, weights }: Group): string {
  const [only] = servers
  if (servers.length === 1 && only !== undefined) {
    return categorySlug(only.replace(/\b(?:mcp|server)\b/gi, ' ')) || categorySlug(only)
  }
  const [first] = [...weights].toSorted(
    ([a, left], [b, right]) => right - left || compareText(a, b),
  )
  return categorySlug(first?.[0] ?? only ?? '')
}
