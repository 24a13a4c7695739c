import type { ToolDefinition } from '../model.ts'
import { wordsOf } from './_words.ts'
import { type CatalogueEntry, categoryCatalogue } from './catalogue.ts'

/** What the categoriser looks at. */
export type CategorisedTool = Pick<
  ToolDefinition,
  'id' | 'server' | 'name' | 'title' | 'description' | 'annotations'
>

/** Points of one kind of evidence; a tool belongs to an entry from {@link enough} points on. */
const points = { server: 3, toolName: 3, nameWord: 1, textWord: 0.35 }
const most = { nameWords: 2, textWords: 1.4 }
const enough = 2.5

/** The catalogue's category of a tool judged by itself, or undefined where too little speaks for one. */
export function catalogueCategory(tool: CategorisedTool): string | undefined {
  const { ownName, server } = nameParts(tool)
  const facts = {
    ownName: wordsOf(ownName),
    server: new Set(wordsOf(server)),
    text: new Set(wordsOf(textOf(tool))),
  }
  let best: string | undefined
  let bestScore = 0
  for (const entry of entries) {
    const score = scoreOf(entry, facts)
    if (score > bestScore) {
      best = entry.name
      bestScore = score
    }
  }
  return bestScore >= enough ? best : undefined
}

/** The first sentences; what follows describes parameters and answers. */
function textOf(tool: CategorisedTool): string {
  const title = tool.title ?? tool.annotations?.title ?? ''
  return `${title} ${tool.description.slice(0, 300)}`
}

/**
 * The name without the prefix that an aggregating server gave it, and the server that it came from:
 * `chrome-devtools__click` of `MetaMCP`.
 */
export function nameParts(tool: Pick<CategorisedTool, 'name' | 'server'>): {
  ownName: string
  server: string
} {
  const at = tool.name.lastIndexOf('__')
  if (at <= 0) return { ownName: tool.name, server: tool.server }
  return { ownName: tool.name.slice(at + 2), server: tool.name.slice(0, at) }
}

interface Facts {
  ownName: readonly string[]
  server: ReadonlySet<string>
  text: ReadonlySet<string>
}

interface PreparedEntry {
  name: string
  servers: readonly string[]
  toolNames: ReadonlySet<string>
  words: ReadonlySet<string>
}

const entries: readonly PreparedEntry[] = categoryCatalogue.map(prepare)

function prepare(entry: CatalogueEntry): PreparedEntry {
  return {
    name: entry.name,
    servers: entry.servers.flatMap(wordsOf),
    toolNames: new Set(entry.tools.split(' ').map((name) => wordsOf(name).join(' '))),
    words: new Set([...entry.keywords, ...entry.words].flatMap(wordsOf)),
  }
}

function scoreOf(entry: PreparedEntry, facts: Facts): number {
  const server = entry.servers.some((word) => facts.server.has(word)) ? points.server : 0
  const toolName = entry.toolNames.has(facts.ownName.join(' ')) ? points.toolName : 0
  const inName = new Set(facts.ownName.filter((word) => entry.words.has(word))).size
  const inText = [...facts.text].filter((word) => entry.words.has(word)).length
  return (
    server +
    toolName +
    Math.min(most.nameWords, inName * points.nameWord) +
    Math.min(most.textWords, inText * points.textWord)
  )
}
