import type { ToolSummary } from '../model.ts'

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
 * name from a person asks this one.
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
export function serverOf(id: string, servers: Iterable<string>): string | undefined {
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
