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
  contractCategories.flatMap(({ name, aliases: otherNames }) =>
    [name, ...otherNames].map((alias): [string, string] => [alias, name]),
  ),
)

/** The categories of the format, with the folded names of their tools. */
const categories = contractCategories.map(({ name, servers, tools }) => ({
  name,
  servers,
  tools: new Set(tools.split(' ').map(foldName)),
}))

/** Returns the one name of a category: `browser` for `Browser Automation`, or a slug of any other name. */
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
 * Returns the categories of the format, which decide on workflows. They follow from the server: its name in
 * the configuration, the word with which all of its tools start (`browser_click`), or a majority of tools
 * of the format. A few shared names do not count: `list_issues` is a tool of many services.
 */
export function contractCategoriesOf(tools: readonly CategorisedTool[]): Map<string, string> {
  const categoryById = new Map<string, string>()
  for (const [server, list] of Map.groupBy(tools, serverOf)) {
    const serverCategory = categoryOfServer(server) ?? sharedCategory(list)
    const byTool = serverCategory === undefined ? categoriesByTools(list) : undefined
    for (const tool of list) {
      const [toolCategory, ...otherCategories] = categoriesNaming(tool)
      // A server of one category can also have a tool of another, and that category decides on its
      // workflows.
      const onlyCategory = otherCategories.length === 0 ? toolCategory : undefined
      const category =
        serverCategory === undefined ? byTool?.get(tool.id) : (onlyCategory ?? serverCategory)
      if (category !== undefined) categoryById.set(tool.id, category)
    }
  }
  return categoryById
}

function categoryOfServer(server: string): string | undefined {
  const slug = canonicalCategory(serverName(server))
  const isNamed = ({ name, servers }: (typeof categories)[number]) =>
    name === slug ||
    servers.some((pattern) =>
      pattern.endsWith('*') ? slug.startsWith(pattern.slice(0, -1)) : pattern === slug,
    )
  return categories.find(isNamed)?.name
}

/**
 * Returns the category of each tool, if most tools of a server are tools of the format; undefined if not.
 */
function categoriesByTools(
  tools: readonly CategorisedTool[],
): ReadonlyMap<string, string> | undefined {
  const candidates = tools.map((tool) => ({ id: tool.id, names: categoriesNaming(tool) }))
  const ofFormat = candidates.filter(({ names }) => names.length > 0)
  if (ofFormat.length <= tools.length / 2) return undefined
  const common = categories.filter(({ name }) =>
    ofFormat.every(({ names }) => names.includes(name)),
  )
  const only = common.length === 1 ? common[0]?.name : undefined
  return new Map(
    candidates.flatMap(({ id, names: [name, ...otherNames] }): [string, string][] => {
      const category = only ?? (otherNames.length === 0 ? name : undefined)
      return category === undefined ? [] : [[id, category]]
    }),
  )
}

/** Returns the category of the format with whose name every tool of a server starts. */
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

/** Returns each tool's category of the format, or else the name of its server in the configuration. */
export function categorise(tools: readonly CategorisedTool[]): Map<string, string> {
  const contractCategoryById = contractCategoriesOf(tools)
  return new Map(
    tools.flatMap((tool): [string, string][] => {
      const category =
        contractCategoryById.get(tool.id) ?? canonicalCategory(serverName(serverOf(tool)))
      return category === '' ? [] : [[tool.id, category]]
    }),
  )
}

export function describeCategories(
  tools: readonly (CategorisedTool & { description: string })[],
  categoryById: ReadonlyMap<string, string>,
): Category[] {
  const sortedTools = tools
    .toSorted((a, b) => compareText(a.id, b.id))
    .filter(({ id }) => categoryById.has(id))
  return [...Map.groupBy(sortedTools, ({ id }) => categoryById.get(id) ?? '')]
    .toSorted(([a], [b]) => compareText(a, b))
    .map(([name, list]) => {
      const servers = [...new Set(list.map(serverOf))].toSorted(compareText)
      const keywords = keywordsOf(name, list)
      const serverNames = servers.slice(0, 3).map((server) => safeLine(server))
      const suffix = servers.length > 3 ? ' and others' : ''
      return {
        name,
        description: `Tools of ${serverNames.join(', ')}${suffix}: ${keywords.slice(0, 4).join(', ')}.`,
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
  // In a sentence `GitHub` is one word, so it stays one word in `getGitHubIssue`.
  const sentences = tools.map(({ description }) => description.slice(0, 300).toLowerCase())
  const sentenceWords = new Set(sentences.flatMap(plainWords))
  const texts = [
    ...tools.map(({ name }): [string, number] => [joinNames(lastSegment(name), sentenceWords), 3]),
    ...sentences.map((sentence): [string, number] => [sentence, 1]),
  ]
  for (const [text, weight] of [[category, 3] as const, ...texts]) {
    for (const word of new Set(wordsOf(text).map(({ text: one }) => one))) {
      if (!/^\d+$/.test(word)) counts.set(word, (counts.get(word) ?? 0) + weight)
    }
  }
  const words = byCount(counts)
  const keywords = new Set([...words, 'tool', 'call', 'server', 'service', 'function'])
  return [...keywords].slice(0, Math.min(10, Math.max(5, words.length)))
}

/** Returns the words of an identifier; two that form one known word are joined. */
function joinNames(identifier: string, knownWords: ReadonlySet<string>): string {
  const words: string[] = []
  for (const word of plainWords(identifier)) {
    const compound = `${words.at(-1) ?? ''}${word}`
    if (words.length > 0 && knownWords.has(compound)) words.splice(-1, 1, compound)
    else words.push(word)
  }
  return words.join(' ')
}

function categoriesNaming({ name }: CategorisedTool): string[] {
  const having = (word: string): string[] =>
    categories.filter(({ tools }) => tools.has(foldName(word))).map((category) => category.name)
  const matches = having(lastSegment(name))
  return matches.length > 0 ? matches : having(name)
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
