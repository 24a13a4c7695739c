import { nearest } from '../../core/text.ts'
import type { ToolDefinition, ToolSummary } from '../model.ts'
import type { CallContext } from './context.ts'
import { ToolNotFoundError, ToolRequestError } from './errors.ts'

interface FoundTool {
  tool: ToolSummary
  note?: string | undefined
}

export async function findDefinition(id: string, context: CallContext): Promise<ToolDefinition> {
  return await definitionOf(await findTool(id, context), context)
}

/** The tool that an id or a name means, after asking the servers once where needed. */
export async function findTool(id: string, context: CallContext): Promise<ToolSummary> {
  return (await findNamedTool(id, context)).tool
}

export async function findNamedTool(id: string, context: CallContext): Promise<FoundTool> {
  if (resolveTool(id, context.index).kind === 'unknown') await discoverOnce(context)
  return namedTool(id, context.index.tools, context.ranking)
}

export function namedTool(
  name: string,
  tools: readonly ToolSummary[],
  rank?: ToolRanking,
): FoundTool {
  const resolution = resolveName(name, { tools })
  switch (resolution.kind) {
    case 'found': {
      const { tool } = resolution
      const isAsWritten =
        isWrittenSo(tool, name.replace(clientPrefix, '')) || isWrittenSo(tool, name)
      return isAsWritten ? { tool } : { tool, note: looseNote(name, tool) }
    }
    case 'ambiguous':
      throw ambiguousName(name, resolution.candidates)
    case 'unknown':
      throw toolNotFound(name, tools, rank)
  }
}

export function ambiguousName(name: string, candidates: readonly string[]): ToolRequestError {
  return new ToolRequestError({
    code: 'tool-ambiguous',
    message: `several servers have a tool ${name}: ${candidates.slice(0, 10).join(', ')}`,
    hint: 'Write one of these ids.',
  })
}

export function looseNote(written: string, tool: ToolSummary): string {
  return `There is no tool ${written}; ${tool.id} was taken, which differs only in its spelling.`
}

/** The whole definition: from the index, else from the server itself. */
export async function definitionOf(
  summary: ToolSummary,
  context: CallContext,
): Promise<ToolDefinition> {
  const known = context.index.definition(summary.id)
  if (known !== undefined) return known
  const server = await context.servers.get(summary.server, { signal: context.signal })
  const { tools } = await server.list({ signal: context.signal })
  const found = tools.find((tool) => tool.name === summary.name)
  if (found === undefined) throw toolNotFound(summary.id, context.index.tools)
  return { ...found, id: summary.id }
}

/** Asks the servers what they have, unless this context already did. True when there is news. */
export async function discoverOnce(context: CallContext): Promise<boolean> {
  const { discover } = context
  if (discover === undefined) return false
  context.discover = undefined
  context.index = await discover(context.signal)
  return true
}

type Named = Pick<ToolSummary, 'id' | 'name'>

type ToolResolution<Tool extends Named> =
  | { kind: 'found'; tool: Tool }
  | { kind: 'ambiguous'; candidates: readonly string[] }
  | { kind: 'unknown' }

const clientPrefix = /^(?:mcp__|MetaMCP__?)+/i

/**
 * The tool that an id or a name means: `SERVER__TOOL`, also behind the prefixes of other clients
 * (`MetaMCP_SERVER__TOOL`, `mcp__SERVER__TOOL`), as `SERVER:TOOL`, in another case or with
 * characters that clients replace by `_`, and a bare name that one server alone has.
 */
export function resolveTool<Tool extends Named>(
  id: string,
  { tools }: { readonly tools: readonly Tool[] },
): ToolResolution<Tool> {
  const short = id.replace(clientPrefix, '')
  const near = nearbyTools(id, tools)
  const byId = (same: (a: string, b: string) => boolean): Tool | undefined =>
    [id, short, short.replace(':', '__')]
      .flatMap((text) => near.find((tool) => same(tool.id, text)) ?? [])
      .at(0)
  const exact = byId((a, b) => a === b)
  if (exact !== undefined) return { kind: 'found', tool: exact }
  const folded = byId((a, b) => fold(a) === fold(b))
  const fitting = folded ? [folded] : near.filter(({ name }) => fold(name) === fold(short))
  const named = fitting.filter(({ name }) => name === short)
  const likely = named.length > 0 ? named : fitting.filter((tool) => isWrittenSo(tool, short))
  const [tool, ...others] = likely.length > 0 ? likely : fitting
  if (tool === undefined) return { kind: 'unknown' }
  if (others.length > 0) {
    return { kind: 'ambiguous', candidates: [tool, ...others].map((candidate) => candidate.id) }
  }
  // Tools that differ in their spelling alone are ambiguous.
  const isRival = (other: Tool): boolean =>
    other !== tool &&
    loosely(other.id) === loosely(tool.id) &&
    (likely.length === 0 || isWrittenSo(other, short))
  const hasRival = named.length === 0 && nearbyTools(tool.id, tools).some(isRival)
  return hasRival ? { kind: 'unknown' } : { kind: 'found', tool }
}

/**
 * The same, also where `-`, `_`, `.`, `:`, `/` and case differ: `get_sum` for `get-sum`,
 * `github/get_issue` for `github__get_issue`. For names that a user gave.
 */
export function resolveName<Tool extends Named>(
  id: string,
  index: { readonly tools: readonly Tool[] },
): ToolResolution<Tool> {
  const resolution = resolveTool(id, index)
  if (resolution.kind !== 'unknown') return resolution
  const tool = resolveLoosely(id, index)
  return tool === undefined ? resolution : { kind: 'found', tool }
}

/** The one tool that an unknown id or bare name fits loosely. Undefined where several fit, or none. */
export function resolveLoosely<Tool extends Named>(
  id: string,
  { tools }: { readonly tools: readonly Tool[] },
): Tool | undefined {
  const wanted = [loosely(id), loosely(id.replace(clientPrefix, ''))]
  const [tool, ...others] = nearbyTools(id, tools).filter(
    (one) => wanted.includes(loosely(one.id)) || wanted.includes(loosely(one.name)),
  )
  return others.length > 0 ? undefined : tool
}

/** As its server writes it, except for characters that clients replace. */
function isWrittenSo({ id, name }: Named, written: string): boolean {
  const plain = [written, written.replace(':', '__')].map(replaced)
  return plain.includes(replaced(id)) || plain.includes(replaced(name))
}

function loosely(name: string): string {
  return name.toLowerCase().replaceAll(/[-_.:/]+/g, '-')
}

function fold(text: string): string {
  return replaced(text).toLowerCase()
}

function replaced(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9_-]/g, '_')
}

function nearbyTools<Tool extends Named>(id: string, tools: readonly Tool[]): Tool[] {
  const wanted = [id, id.replace(clientPrefix, '')].map(letters)
  return tools.filter((tool) => [tool.id, tool.name].some((one) => wanted.includes(letters(one))))
}

function letters(text: string): string {
  return fold(text).replaceAll(/[-_]+/g, '-')
}

export type ToolRanking = (text: string) => readonly string[]

/**
 * The ids of at most five tools that may have been meant: the nearest names, then what `rank`
 * finds, then tools of its server, up to three.
 */
export function suggestTools(
  id: string,
  tools: readonly ToolSummary[],
  rank: ToolRanking = () => [],
): readonly string[] {
  const server = serverOf(id, tools)
  const own = tools.filter((tool) => tool.server === server)
  const name = id.slice(id.lastIndexOf('__') + 1).replace(/^_+/, '')
  const close = [
    ...nearestSome(name, own, (tool) => tool.name),
    ...nearestSome(id, tools, (tool) => tool.id),
    ...nearestSome(name, tools, (tool) => tool.name),
  ]
  const all = [...close.slice(0, 3), ...rank(id), ...own.map((tool) => tool.id)]
  return [...new Set(all)].slice(0, close.length > 2 ? 5 : 3)
}

export function toolNotFound(
  id: string,
  tools: readonly ToolSummary[],
  rank?: ToolRanking,
  { head, advice } = {
    head: `Error: Tool not found: ${id}`,
    advice: 'confirm the intended tool',
  },
): ToolNotFoundError {
  const suggestions = suggestTools(id, tools, rank)
  const lines = [head]
  if (suggestions.length > 0) lines.push(`Suggestions: ${suggestions.join(', ')}`)
  if (id.includes('__') && tools.length > 0 && serverOf(id, tools) === undefined) {
    const servers = [...new Set(tools.map(({ server }) => `${server}__`))]
    lines.push(`Known prefixes: ${servers.slice(0, 10).join(', ')}`)
  }
  if (suggestions.length === 0) {
    lines.push('No name is near; skillrail tools search looks by meaning.')
  }
  lines.push(`Next: ${advice} or run skillrail tools refresh.`)
  return new ToolNotFoundError(id, lines.join('\n'), suggestions)
}

function serverOf(id: string, tools: readonly ToolSummary[]): string | undefined {
  const texts = [id, id.replace(clientPrefix, '')].map(fold)
  const beginning = tools
    .map(({ server }) => server)
    .filter((server) => texts.some((text) => text.startsWith(`${fold(server)}__`)))
  return beginning.toSorted((a, b) => b.length - a.length)[0]
}

function nearestSome(
  word: string,
  tools: readonly ToolSummary[],
  nameOf: (tool: ToolSummary) => string,
): string[] {
  const rest = Map.groupBy(tools, nameOf)
  const found: string[] = []
  while (found.length < 3) {
    const name = nearest(word, rest.keys())
    if (name === undefined) break
    found.push(...(rest.get(name) ?? []).map(({ id }) => id))
    rest.delete(name)
  }
  return found.slice(0, 3)
}
