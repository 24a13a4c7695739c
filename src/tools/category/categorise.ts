import { compareText } from '#core/errors'
import { safeLine } from '#core/text'
import { plainWords, wordsOf } from '#rank/words'
import { contractCategories } from '#tools/contract'
import type { ToolDefinition } from '#tools/model'
import { foldName, lastSegment } from '#tools/workflow/match'

export interface Category {
  name: string
  description: string
  keywords: readonly string[]
  tools: readonly string[]
}

export type CategorisedTool = Pick<ToolDefinition, 'id' | 'server' | 'name'>

const aliases: ReadonlyMap<string, string> = new Map(
  contractCategories.flatMap(({ name, aliases: others }) =>
    [name, ...others].map((alias): [string, string] => [alias, name]),
  ),
)

/** The categories of the format, with the folded names of their tools. */
const categories = contractCategories.map(({ name, servers, tools }) => ({
  name,
  servers,
  tools: new Set(tools.split(' ').map(foldName)),
}))

/** The one name of a category: `browser` for `Browser Automation`; any other as a slug. */
export function canonicalCategory(name: string): string {
  const slug = categorySlug(name)
  // `GitHub` is one word in spite of its capital.
  return aliases.get(slug) ?? aliases.get(categorySlug(name.toLowerCase())) ?? slug
}

/** Lowercase letters and digits of any script, joined by single hyphens; at most 64 characters. */
function categorySlug(name: string): string {
  const words = name
    .slice(0, 256)
    .normalize('NFKC')
    .replaceAll(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1-$2')
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu)
  const slug = (words ?? []).join('-')
  return Array.from(slug).slice(0, 64).join('').replace(/-$/, '')
}

/**
 * Categories of the format, which decide on workflows. They follow from what a server is: its name in the
 * configuration, the word with which all of its tools start (`browser_click`), or a majority of tools of the
 * format. A few shared names do not count: `list_issues` is a tool of many services.
 */
export function contractCategoriesOf(tools: readonly CategorisedTool[]): Map<string, string> {
  const assigned = new Map<string, string>()
  for (const [server, list] of Map.groupBy(tools, serverOf)) {
    const known = categoryOfServer(server) ?? sharedCategory(list)
    const byTool = known === undefined ? categoriesByTools(list) : undefined
    for (const tool of list) {
      const [own, ...others] = categoriesNaming(tool)
      // A server of one category can also have a tool of another one, which is guarded as such.
      const named = others.length === 0 ? own : undefined
      const category = known === undefined ? byTool?.get(tool.id) : (named ?? known)
      if (category !== undefined) assigned.set(tool.id, category)
    }
  }
  return assigned
}

function categoryOfServer(server: string): string | undefined {
  const configured = canonicalCategory(serverName(server))
  const isNamed = ({ name, servers }: (typeof categories)[number]) =>
    name === configured ||
    servers.some((pattern) =>
      pattern.endsWith('*') ? configured.startsWith(pattern.slice(0, -1)) : pattern === configured,
    )
  return categories.find(isNamed)?.name
}

/** What each tool is, if most tools of a server are tools of the format; undefined if not. */
function categoriesByTools(
  tools: readonly CategorisedTool[],
): ReadonlyMap<string, string> | undefined {
  const named = tools.map((tool) => ({ id: tool.id, found: categoriesNaming(tool) }))
  const ofFormat = named.filter(({ found }) => found.length > 0)
  if (ofFormat.length <= tools.length / 2) return undefined
  const common = categories.filter(({ name }) =>
    ofFormat.every(({ found }) => found.includes(name)),
  )
  const only = common.length === 1 ? common[0]?.name : undefined
  return new Map(
    named.flatMap(({ id, found: [own, ...others] }): [string, string][] => {
      const category = only ?? (others.length === 0 ? own : undefined)
      return category === undefined ? [] : [[id, category]]
    }),
  )
}

/** The category of the format whose name every tool of a server starts with. */
function sharedCategory(tools: readonly CategorisedTool[]): string | undefined {
  return categories.find(({ name: category }) =>
    tools.every(({ name }) => foldName(lastSegment(name)).startsWith(`${category}_`)),
  )?.name
}

function byCount(counts: ReadonlyMap<string, number>): string[] {
  return [...counts]
    .toSorted(([a, left], [b, right]) => right - left || compareText(a, b))
    .map(([name]) => name)
}

/** That of the format, else the name of the server in the configuration. */
export function categorise(tools: readonly CategorisedTool[]): Map<string, string> {
  const known = contractCategoriesOf(tools)
  return new Map(
    tools.flatMap((tool): [string, string][] => {
      const category = known.get(tool.id) ?? canonicalCategory(serverName(serverOf(tool)))
      return category === '' ? [] : [[tool.id, category]]
    }),
  )
}

export function describeCategories(
  tools: readonly (CategorisedTool & { description: string })[],
  assigned: ReadonlyMap<string, string>,
): Category[] {
  const sorted = tools
    .toSorted((a, b) => compareText(a.id, b.id))
    .filter(({ id }) => assigned.has(id))
  return [...Map.groupBy(sorted, ({ id }) => assigned.get(id) ?? '')]
    .toSorted(([a], [b]) => compareText(a, b))
    .map(([name, list]) => {
      const servers = [...new Set(list.map(serverOf))].toSorted(compareText)
      const keywords = keywordsOf(name, list)
      const shown = servers.slice(0, 3).map((server) => safeLine(server))
      const others = servers.length > 3 ? ' and others' : ''
      return {
        name,
        description: `Tools of ${shown.join(', ')}${others}: ${keywords.slice(0, 4).join(', ')}.`,
        keywords,
        tools: [...new Set(list.map(({ id }) => id))],
      }
    })
}

function keywordsOf(
  category: string,
  tools: readonly (CategorisedTool & { description: string })[],
): string[] {
  const counts = new Map<string, number>()
  // In a sentence `GitHub` is one word, and so it is in `getGitHubIssue` then.
  const sentences = tools.map(({ description }) => description.slice(0, 300).toLowerCase())
  const known = new Set(sentences.flatMap(plainWords))
  const texts = [
    ...tools.map(({ name }): [string, number] => [joinNames(lastSegment(name), known), 3]),
    ...sentences.map((sentence): [string, number] => [sentence, 1]),
  ]
  for (const [text, weight] of [[category, 3] as const, ...texts]) {
    for (const word of new Set(wordsOf(text).map(({ text: one }) => one))) {
      if (!/^\d+$/.test(word)) counts.set(word, (counts.get(word) ?? 0) + weight)
    }
  }
  const words = byCount(counts)
  const filled = new Set([...words, 'tool', 'call', 'server', 'service', 'function'])
  return [...filled].slice(0, Math.min(10, Math.max(5, words.length)))
}

/** The words of an identifier, where two that are one known word stay together. */
function joinNames(identifier: string, known: ReadonlySet<string>): string {
  const joined: string[] = []
  for (const word of plainWords(identifier)) {
    const whole = `${joined.at(-1) ?? ''}${word}`
    if (joined.length > 0 && known.has(whole)) joined.splice(-1, 1, whole)
    else joined.push(word)
  }
  return joined.join(' ')
}

function categoriesNaming({ name }: CategorisedTool): string[] {
  const having = (word: string): string[] =>
    categories.filter(({ tools }) => tools.has(foldName(word))).map((category) => category.name)
  const found = having(lastSegment(name))
  return found.length > 0 ? found : having(name)
}

function serverOf({ name, server }: CategorisedTool): string {
  const at = name.lastIndexOf('__')
  return at > 0 ? name.slice(0, at) : server
}

/** `ticker` for `ticker-mcp-server`. */
function serverName(server: string): string {
  const plain = server.replaceAll(/(?<![\p{L}\p{N}])(?:mcp|server)(?![\p{L}\p{N}])/giu, ' ')
  return categorySlug(plain) === '' ? server : plain
}
