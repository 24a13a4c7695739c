import { nearest } from '../../core/text.ts'
import type { ToolDefinition, ToolSummary } from '../model.ts'
import type { CallContext } from './context.ts'
import { ToolNotFoundError, ToolRequestError } from './errors.ts'

/** What an id or a name was found to mean. */
interface FoundTool {
  tool: ToolSummary
  /** A note where the name was not written as the tool's own. */
  note?: string | undefined
}

/**
 * The tool that an id or a name means, if need be after asking the servers once.
 *
 * @throws {ToolNotFoundError} with suggestions; {@link ToolRequestError} for an ambiguous name
 */
export async function findTool(id: string, context: CallContext): Promise<ToolSummary> {
  return (await findNamedTool(id, context)).tool
}

/** The same with the note that the answer of a call bears. */
export async function findNamedTool(id: string, context: CallContext): Promise<FoundTool> {
  if (resolveTool(id, context.index).kind === 'unknown') await discoverOnce(context)
  const isUnknown = resolveName(id, context.index).kind === 'unknown'
  return namedTool(id, context.index.tools, isUnknown ? await context.ranking?.() : undefined)
}

/**
 * The tool that a name means among those that are known.
 *
 * @throws {ToolNotFoundError} with suggestions; {@link ToolRequestError} for an ambiguous name
 */
export function namedTool(
  name: string,
  tools: readonly ToolSummary[],
  rank?: ToolRanking,
): FoundTool {
  const resolution = resolveName(name, { tools })
  switch (resolution.kind) {
    case 'found': {
      const { tool } = resolution
      return isRespelt(name, tool) ? { tool, note: looseNote(name, tool) } : { tool }
    }
    case 'ambiguous':
      throw ambiguousName(name, resolution.candidates)
    case 'unknown':
      throw toolNotFound(name, tools, rank)
  }
}

/** The error for a bare name that several servers have. */
export function ambiguousName(name: string, candidates: readonly string[]): ToolRequestError {
  return new ToolRequestError({
    code: 'tool-ambiguous',
    message: `several servers have a tool ${name}: ${candidates.slice(0, 10).join(', ')}`,
    hint: 'Write one of these ids.',
  })
}

/** Says which tool was taken for a name that is spelt differently. */
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
  const listed = await server.list({ signal: context.signal })
  const found = listed.find((tool) => tool.name === summary.name)
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

/** What a tool is found by. */
type Named = Pick<ToolSummary, 'id' | 'name'>

export type ToolResolution<Tool extends Named = ToolSummary> =
  | { kind: 'found'; tool: Tool }
  /** A bare name that several servers have. */
  | { kind: 'ambiguous'; candidates: readonly string[] }
  | { kind: 'unknown' }

/** What other clients put before a server's name. */
const clientPrefix = /^(?:mcp__|MetaMCP__?)+/i

/**
 * The tool that an id or a name means: `SERVER__TOOL` as the registry has it, behind the prefixes of
 * other clients (`MetaMCP_SERVER__TOOL`, `mcp__SERVER__TOOL`), as `SERVER:TOOL`, in another case or with the
 * characters that clients replace by `_`, and a bare name where one server alone has it.
 */
export function resolveTool<Tool extends Named>(
  id: string,
  index: { readonly tools: readonly Tool[] },
): ToolResolution<Tool> {
  const names = namesIn(index.tools)
  const short = id.replace(clientPrefix, '')
  const joined = short.replace(':', '__')
  const exact = names.exact.get(id) ?? names.exact.get(short) ?? names.exact.get(joined)
  const itself = exact === undefined ? undefined : index.tools[exact]
  if (itself !== undefined) return { kind: 'found', tool: itself }
  const found =
    names.folded.get(fold(id)) ?? names.folded.get(fold(short)) ?? names.folded.get(fold(joined))
  const bare = found === undefined ? (names.bare.get(fold(short)) ?? []) : [found]
  const fitting = bare.flatMap((position) => index.tools[position] ?? [])
  const named = fitting.filter(({ name }) => name === short)
  const likely = named.length > 0 ? named : fitting.filter((tool) => isWrittenSo(tool, short))
  const [tool, ...others] = likely.length > 0 ? likely : fitting
  if (tool === undefined) return { kind: 'unknown' }
  // Of several that differ in their spelling alone none is the one that was meant.
  const isGuess = named.length === 0 && others.length === 0
  const alike = isGuess ? speltLike(tool, index.tools) : []
  if (alike.some((other) => likely.length === 0 || isWrittenSo(other, short))) {
    return { kind: 'unknown' }
  }
  if (others.length === 0) return { kind: 'found', tool }
  return { kind: 'ambiguous', candidates: [tool, ...others].map((candidate) => candidate.id) }
}

/** Whether a name is not as its server writes it: then the answer says which tool was taken. */
export function isRespelt(written: string, tool: Named): boolean {
  return !isWrittenSo(tool, written.replace(clientPrefix, '')) && !isWrittenSo(tool, written)
}

/**
 * The tool that an id or a name means, if need be when `-`, `_`, `.`, `:`, `/` and case count as the same:
 * `get_sum` where the tool is `get-sum`, `github/get_issue` for `github__get_issue`. Whoever takes a
 * name from a user asks this one.
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
  index: { readonly tools: readonly Tool[] },
): Tool | undefined {
  const loose = looseIn(index.tools)
  const wanted = new Set([loosely(id), loosely(id.replace(clientPrefix, ''))])
  const fitting = new Set([...wanted].flatMap((name) => loose.get(name) ?? []))
  const [position, ...others] = fitting
  return position === undefined || others.length > 0 ? undefined : index.tools[position]
}

function looseIn(tools: readonly Named[]): ReadonlyMap<string, readonly number[]> {
  const names = namesIn(tools)
  return (names.loose ??= looseNames(tools))
}

function looseNames(tools: readonly Named[]): Map<string, number[]> {
  const loose = new Map<string, number[]>()
  tools.forEach(({ id, name }, position) => {
    for (const text of new Set([loosely(id), loosely(name)])) {
      const same = loose.get(text)
      if (same === undefined) loose.set(text, [position])
      else same.push(position)
    }
  })
  return loose
}

/** As its server writes it, but for the characters that clients replace. */
function isWrittenSo({ id, name }: Named, written: string): boolean {
  const plain = [written, written.replace(':', '__')].map(replaced)
  return plain.includes(replaced(id)) || plain.includes(replaced(name))
}

/** The others whose ids differ from that of a tool in their spelling alone. */
function speltLike(tool: Named, tools: readonly Named[]): Named[] {
  const spelling = loosely(tool.id)
  const fitting = looseIn(tools).get(spelling) ?? []
  return fitting
    .flatMap((position) => tools[position] ?? [])
    .filter((other) => other !== tool && loosely(other.id) === spelling)
}

function loosely(name: string): string {
  return name.toLowerCase().replaceAll(/[-_.:/]+/g, '-')
}

/** The server whose name begins the id, the longest where several do. */
function serverOf(id: string, servers: Iterable<string>): string | undefined {
  const short = id.replace(clientPrefix, '')
  let longest: string | undefined
  for (const server of servers) {
    const begins = [id, short].some((text) => fold(text).startsWith(`${fold(server)}__`))
    if (begins && server.length > (longest?.length ?? -1)) longest = server
  }
  return longest
}

/** Positions of tools. */
interface Names {
  exact: ReadonlyMap<string, number>
  folded: ReadonlyMap<string, number>
  bare: ReadonlyMap<string, readonly number[]>
  /** Made when the first name is not known otherwise. */
  loose?: ReadonlyMap<string, readonly number[]> | undefined
}

const known = new WeakMap<readonly Named[], Names>()

function namesIn(tools: readonly Named[]): Names {
  const before = known.get(tools)
  if (before !== undefined) return before
  const exact = new Map<string, number>()
  const folded = new Map<string, number>()
  const bare = new Map<string, number[]>()
  tools.forEach((tool, position) => {
    exact.set(tool.id, position)
    const id = fold(tool.id)
    if (!folded.has(id)) folded.set(id, position)
    const name = fold(tool.name)
    const same = bare.get(name)
    if (same === undefined) bare.set(name, [position])
    else same.push(position)
  })
  const names: Names = { exact, folded, bare }
  known.set(tools, names)
  return names
}

function fold(text: string): string {
  return replaced(text).toLowerCase()
}

function replaced(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9_-]/g, '_')
}

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
