import { editDistance } from '#core/text'
import { addTo } from '#core/lists'
import type { ToolDefinition, ToolSummary } from '#tools/model'
import { clientPrefix, lastSegment } from '#tools/workflow/match'
import type { CallContext } from './context.ts'
import { ToolNotFoundError, ToolRefusedError, ToolRequestError } from '#tools/errors'

interface FoundTool {
  tool: ToolSummary
  /** Says that it is spelt otherwise. */
  note?: string | undefined
}

export async function findDefinition(id: string, context: CallContext): Promise<ToolDefinition> {
  return await definitionOf((await findTool(id, context)).tool, context)
}

/** The tool that an id or a name means, after asking the servers once where needed. */
export async function findTool(id: string, context: CallContext): Promise<FoundTool> {
  if (!isKnown(id, servedTools(context))) await discoverOnce(context)
  return namedTool(id, context.index.tools)
}

/**
 * The tools that a server can be asked for. A cache that another client wrote names some as that
 * client does, such as `MetaMCP_misc__get_title` of the server `misc`.
 */
function servedTools({ index, servers }: CallContext): readonly ToolSummary[] {
  const { definitions } = servers
  if (!definitions) return index.tools
  const names = new Set(definitions.map(({ name }) => name))
  return index.tools.filter(({ server }) => names.has(server))
}

/** False also where a tool is only spelt like it: a server may have the one that is written. */
export function isKnown(name: string, tools: readonly ToolSummary[]): boolean {
  const { found, isLoose } = resolveTool(name, { tools })
  return found.length > 1 || (found.length === 1 && !isLoose)
}

export function namedTool(name: string, tools: readonly ToolSummary[]): FoundTool {
  const { found, isLoose } = resolveTool(name, { tools })
  const [tool, ...others] = found
  if (!tool) throw toolNotFound(name, tools)
  if (others.length === 0) return { tool, note: isLoose ? looseNote(name, tool) : undefined }
  const ids = found.slice(0, 10).map(({ id }) => id)
  throw new ToolRequestError({
    code: 'tool-ambiguous',
    message: `several servers have a tool ${name}: ${ids.join(', ')}`,
    hint: 'Write one of these ids.',
  })
}

export function looseNote(written: string, tool: ToolSummary): string {
  return `There is no tool ${written}; ${tool.id} was taken, which differs only in its spelling.`
}

/**
 * The whole definition: from the index, else from the server itself.
 *
 * @throws {ToolRefusedError} if the server's is not the one that was accepted
 */
export async function definitionOf(
  summary: ToolSummary,
  context: CallContext,
): Promise<ToolDefinition> {
  const known = context.index.definition(summary.id)
  if (known) return known
  const server = await context.servers.get(summary.server, { signal: context.signal })
  const { tools } = await server.list({ signal: context.signal, reuse: true })
  const found = tools.find((tool) => tool.name === summary.name)
  if (!found) throw toolNotFound(summary.id, context.index.tools)
  const held = context.hold?.(summary, found)
  if (held) throw new ToolRefusedError({ code: 'tool-held-back', ...held })
  return { ...found, id: summary.id }
}

/** Asks the servers what they have, unless this context already did. True when there is news. */
export async function discoverOnce(context: CallContext): Promise<boolean> {
  const { discover } = context
  if (!discover) return false
  context.discover = undefined
  context.index = await discover(context.signal)
  return true
}

type Named = Pick<ToolSummary, 'id' | 'name'>

/** Ways to compare spellings: exactly, as clients write them, by letters and digits alone. */
const spellings = [exactly, replaced, letters]

/**
 * The tool that an id or a name means, or several of different servers: `SERVER__TOOL`, also behind the prefixes of other clients
 * (`MetaMCP_SERVER__TOOL`, `mcp__SERVER__TOOL`), as `SERVER:TOOL`, and a bare name that one server
 * alone has. Another spelling, such as `get_sum` for `get-sum`, means the one tool that it fits.
 */
export function resolveTool<Tool extends Named>(
  written: string,
  { tools }: { readonly tools: readonly Tool[] },
): { found: readonly Tool[]; isLoose: boolean } {
  const short = written.replace(clientPrefix, '')
  for (const spell of spellings) {
    const texts = [written, short, short.replace(':', '__')].map(spell)
    const table = spelt(tools, spell)
    const isJoined = spell === letters && !short.includes('__')
    const joined = isJoined ? (spelt(tools, words).ids.get(words(short)) ?? []) : []
    const whole = [...texts.flatMap((text) => table.ids.get(text) ?? []), ...joined]
    const named = whole.length > 0 ? whole : texts.flatMap((text) => table.names.get(text) ?? [])
    const places = [...new Set(named)].toSorted((a, b) => a - b)
    const found = places.flatMap((place) => tools[place] ?? [])
    if (found.length === 0) continue
    // A name that servers have in another case is theirs; nothing else tells tools spelt alike apart.
    const servers = new Set(found.map(({ id, name }) => id.slice(0, id.length - name.length)))
    const isName = found.every(({ name }) => folded(name) === folded(short))
    if (found.length > 1 && spell !== exactly && (servers.size === 1 || !isName)) break
    return { found, isLoose: spell === letters }
  }
  return { found: [], isLoose: false }
}

type Spell = (text: string) => string

/** The places of tools by a spelling of their ids and names. */
interface SpeltTools {
  ids: ReadonlyMap<string, readonly number[]>
  names: ReadonlyMap<string, readonly number[]>
}

const speltTools = new WeakMap<readonly Named[], Map<Spell, SpeltTools>>()

/** Spells tools once: a request has many words that could be the name of one of thousands. */
function spelt(tools: readonly Named[], spell: Spell): SpeltTools {
  const tables = speltTools.get(tools) ?? new Map<Spell, SpeltTools>()
  speltTools.set(tools, tables)
  const known = tables.get(spell)
  if (known) return known
  const ids = new Map<string, number[]>()
  const names = new Map<string, number[]>()
  for (const [place, { id, name }] of tools.entries()) {
    addTo(ids, spell(id), place)
    addTo(names, spell(name), place)
  }
  // A text without letters means no tool.
  ids.delete('')
  names.delete('')
  const table = { ids, names }
  tables.set(spell, table)
  return table
}

function exactly(text: string): string {
  return text
}

function replaced(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9_-]/g, '_')
}

function folded(text: string): string {
  return replaced(text).toLowerCase()
}

/** Keeps the border between server and tool: `git__hub_delete` is not a tool of `github`. */
function letters(text: string): string {
  const parts = text.toLowerCase().split('__')
  return parts.map((part) => part.replaceAll(/[^\p{L}\p{N}]+/gu, '')).join('__')
}

/** `github/list_issues` and `github-list_issues` have the words of `github__list_issues`. */
function words(text: string): string {
  return text.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
}

/** The ids of tools that may have been meant: the nearest names, then others of its server. */
export function suggestTools(id: string, tools: readonly ToolSummary[]): readonly string[] {
  const server = serverOf(id, tools)
  const own = tools.filter((tool) => tool.server === server)
  const near = nearestTools(id, [...own, ...tools])
  return [...new Set([...near, ...own.map((tool) => tool.id)])].slice(0, near.length > 2 ? 5 : 3)
}

/** At most a third of the id or of the name may differ. */
function nearestTools(id: string, tools: readonly ToolSummary[]): string[] {
  const name = lastSegment(id)
  const distances = tools.map((tool) => {
    const ofName = editDistance(name.toLowerCase(), tool.name.toLowerCase()) / name.length
    const ofId = editDistance(id.toLowerCase(), tool.id.toLowerCase()) / id.length
    return { id: tool.id, distance: Math.min(ofName, ofId) }
  })
  const near = distances.filter(({ distance }) => distance <= 1 / 3)
  const sorted = near.toSorted((a, b) => a.distance - b.distance)
  return [...new Set(sorted.map((one) => one.id))].slice(0, 3)
}

export function toolNotFound(
  id: string,
  tools: readonly ToolSummary[],
  { head, advice } = {
    head: `Error: Tool not found: ${id}`,
    advice: 'confirm the intended tool',
  },
): ToolNotFoundError {
  const suggestions = suggestTools(id, tools)
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
  return new ToolNotFoundError({ code: 'tool-not-found', message: lines.join('\n') })
}

export function serverOf(id: string, tools: readonly ToolSummary[]): string | undefined {
  const texts = [id, id.replace(clientPrefix, '')].map(folded)
  const servers = tools.map(({ server }) => server).toSorted((a, b) => b.length - a.length)
  return servers.find((server) => texts.some((text) => text.startsWith(`${folded(server)}__`)))
}
