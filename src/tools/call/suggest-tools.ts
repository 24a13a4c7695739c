import { nearest } from '../../base/index.ts'
import type { ToolSummary } from '../model.ts'
import { ToolNotFoundError } from './errors.ts'
import { serverOf } from './resolve-tool.ts'

/** Ranks tools by what a text means; the router, where there is one. */
export type ToolRanking = (text: string) => readonly string[]

/**
 * The ids of at most five tools that may have been meant: the nearest names, then what the words of
 * the id mean, then the tools of its server, up to three. None where nothing is near.
 */
export function suggestTools(
  id: string,
  tools: readonly ToolSummary[],
  rank: ToolRanking = byWords(tools),
): readonly string[] {
  const server = serverOf(id, new Set(tools.map((tool) => tool.server)))
  const own = tools.filter((tool) => tool.server === server)
  const name = id.slice(id.lastIndexOf('__') + 1).replace(/^_+/, '')
  const close = [
    ...nearestSome(name, own, (tool) => tool.name),
    ...nearestSome(id, tools, (tool) => tool.id),
    ...nearestSome(name, tools, (tool) => tool.name),
  ]
  const all = [...close.slice(0, 3), ...rank(id), ...own.map(idOf)]
  return [...new Set(all)].slice(0, close.length > 2 ? 5 : 3)
}

/** The seed's error for an id that no server has. */
export function toolNotFound(
  id: string,
  tools: readonly ToolSummary[],
  rank?: ToolRanking,
): ToolNotFoundError {
  return notFound(`Error: Tool not found: ${id}`, 'confirm the intended tool', id, tools, rank)
}

/** The scenario's error for a passthrough that names no tool. */
export function passthroughNotFound(
  id: string,
  tools: readonly ToolSummary[],
  rank?: ToolRanking,
): ToolNotFoundError {
  return notFound(`Tool '${id}' not found`, 'verify the tool name', id, tools, rank)
}

function notFound(
  head: string,
  advice: string,
  id: string,
  tools: readonly ToolSummary[],
  rank: ToolRanking | undefined,
): ToolNotFoundError {
  const suggestions = suggestTools(id, tools, rank)
  const servers = [...new Set(tools.map((tool) => tool.server))]
  const isUnknownServer = id.includes('__') && serverOf(id, servers) === undefined
  const lines = [head]
  if (suggestions.length > 0) lines.push(`Suggestions: ${suggestions.join(', ')}`)
  if (isUnknownServer && servers.length > 0) {
    lines.push(
      `Known prefixes: ${servers
        .slice(0, 10)
        .map((server) => `${server}__`)
        .join(', ')}`,
    )
  }
  if (suggestions.length === 0)
    lines.push('No name is near; skillrail tools search looks by meaning.')
  lines.push(`Next: ${advice} or run skillrail tools refresh.`)
  return new ToolNotFoundError(id, lines.join('\n'), suggestions)
}

/** The nearest, then the nearest of the rest, at most three. */
function nearestSome(
  word: string,
  tools: readonly ToolSummary[],
  nameOf: (tool: ToolSummary) => string,
): string[] {
  const rest = new Map<string, string>()
  for (const tool of tools) if (!rest.has(nameOf(tool))) rest.set(nameOf(tool), tool.id)
  const found: string[] = []
  while (found.length < 3) {
    const name = nearest(word, rest.keys())
    const id = name === undefined ? undefined : rest.get(name)
    if (name === undefined || id === undefined) break
    rest.delete(name)
    found.push(id)
  }
  return found
}

/** Tools that share words of their name or description with the text, most shared words first. */
function byWords(tools: readonly ToolSummary[]): ToolRanking {
  return (text) => {
    const wanted = new Set(wordsOf(text))
    return tools
      .map((tool) => {
        const own = new Set([...wordsOf(tool.name), ...wordsOf(tool.description.slice(0, 500))])
        return { id: tool.id, shared: [...wanted].filter((word) => own.has(word)).length }
      })
      .filter(({ shared }) => shared > 0)
      .toSorted((a, b) => b.shared - a.shared)
      .map(({ id }) => id)
  }
}

function wordsOf(text: string): string[] {
  return text
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word.length > 2)
}

function idOf(tool: ToolSummary): string {
  return tool.id
}
