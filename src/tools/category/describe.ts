import { compareText } from '../../core/diagnostic.ts'
import { safeLine } from '../../core/text.ts'
import { wordCounts } from './_cluster.ts'
import { type CategorisedTool, nameParts } from './_evidence.ts'
import { wordsOf } from './_words.ts'
import { categoryCatalogue } from './catalogue.ts'
import type { Category } from './category.ts'

const keywordCounts = { least: 5, most: 10 }

/** The categories of an assignment, in code-point order: one sentence and 5 to 10 keywords each. */
export function describeCategories(
  tools: readonly CategorisedTool[],
  assigned: ReadonlyMap<string, string>,
): Category[] {
  const members = new Map<string, CategorisedTool[]>()
  for (const tool of tools.toSorted((a, b) => compareText(a.id, b.id))) {
    const name = assigned.get(tool.id)
    if (name !== undefined) members.set(name, [...(members.get(name) ?? []), tool])
  }
  return [...members]
    .toSorted(([a], [b]) => compareText(a, b))
    .map(([name, list]) => ({
      name,
      ...descriptionOf(name, list),
      tools: [...new Set(list.map(({ id }) => id))],
    }))
}

function descriptionOf(
  name: string,
  tools: readonly CategorisedTool[],
): Pick<Category, 'description' | 'keywords'> {
  const known = categoryCatalogue.find((entry) => entry.name === name)
  if (known !== undefined) return { description: known.description, keywords: known.keywords }
  const servers = [...new Set(tools.map((tool) => nameParts(tool).server))].toSorted(compareText)
  const keywords = keywordsOf(name, servers, tools)
  const shown = servers.slice(0, 3).map((server) => safeLine(server))
  const others = servers.length > 3 ? ' and others' : ''
  return {
    description: `Tools of ${shown.join(', ')}${others}: ${keywords.slice(0, 4).join(', ')}.`,
    keywords,
  }
}

function keywordsOf(
  name: string,
  servers: readonly string[],
  tools: readonly CategorisedTool[],
): string[] {
  const telling = [...wordCounts(tools, name)]
    .toSorted(([a, left], [b, right]) => right - left || compareText(a, b))
    .map(([word]) => word)
  const keywords = new Set(telling.slice(0, keywordCounts.most))
  const further = [
    ...tools.flatMap((tool) => wordsOf(nameParts(tool).ownName)),
    ...servers.flatMap(wordsOf),
    ...tools.flatMap((tool) => wordsOf(tool.description).slice(0, 20)),
    'tool',
    'call',
    'server',
    'service',
    'function',
  ]
  for (const word of further) {
    if (keywords.size >= keywordCounts.least) break
    keywords.add(word)
  }
  return [...keywords]
}
