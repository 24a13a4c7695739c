import type { JsonObject } from '#core/json'
import { parseAllowedTools } from '#skill/allowed-tools'
import type { AllowedTool } from '#skill/model'
import type { AgentTool } from '#agent/types'
import { commandFits, commandMayFit, placesAfter, wordFits } from './command-patterns.ts'

export function listAllows(
  list: readonly AllowedTool[],
  tool: AgentTool,
  input: JsonObject,
  platform: NodeJS.Platform,
): boolean {
  const { all, patterns } = entriesFor(list, tool)
  return all || (patterns.length > 0 && callFits(tool, input, patterns, platform))
}

export function listNames(list: readonly AllowedTool[], tool: AgentTool): boolean {
  const { all, patterns } = entriesFor(list, tool)
  return all || patterns.length > 0
}

export function listDenies(
  list: readonly AllowedTool[],
  tool: AgentTool,
  input: JsonObject,
  platform: NodeJS.Platform,
): 'yes' | 'no' | 'unclear' {
  const { all, patterns } = entriesFor(list, tool)
  if (all) return 'yes'
  if (patterns.length === 0) return 'no'
  if (!tool.patternText) return 'yes'
  const text = tool.patternText(input)
  if (tool.patternKind === 'command') return commandMayFit(text, patterns, platform)
  if (callFits(tool, input, patterns, platform)) return 'yes'
  // A search of a directory reads the denied files below it too.
  return tool.patternKind === 'tree' && pathMayHold(text, patterns) ? 'unclear' : 'no'
}

/** Whether a call fits one of the patterns of its tool; for a command line, all of it does. */
export function callFits(
  tool: AgentTool,
  input: JsonObject,
  patterns: readonly string[],
  platform: NodeJS.Platform,
): boolean {
  if (!tool.patternText) return false
  const text = tool.patternText(input)
  switch (tool.patternKind ?? 'text') {
    case 'command':
      return commandFits(text, patterns, platform)
    case 'path':
    case 'tree':
      return pathFits(text, patterns)
    case 'text':
      return patterns.some((pattern) => wordFits(text, pattern))
  }
}

function entriesFor(list: readonly AllowedTool[], tool: AgentTool) {
  const entries = list.map(selector).filter(({ selects }) => selects(tool))
  return {
    all: entries.some(({ pattern }) => pattern === undefined),
    patterns: entries.flatMap(({ pattern }) => pattern ?? []),
  }
}

/** An entry of `tools` or `disallowed-tools` as it was written, and what it selects. */
export type ToolSelector = ReturnType<typeof selector>

/** Reads names of tools: `read`, `server.tool`, `Read`, `mcp__server__tool`, `mcp__server`, `*`. */
export function toolSelectors(texts: readonly string[]): ToolSelector[] {
  return texts.flatMap((text) => parseAllowedTools(text).map(selector))
}

function selector({ tool: name, pattern }: AllowedTool) {
  const wanted = canonical(name)
  return {
    text: pattern === undefined ? name : `${name}(${pattern})`,
    name,
    /** Texts of calls, as in `Bash(git:*)`; undefined for all calls, which some write as `Tool(*)`. */
    pattern: pattern === '*' || pattern === '' ? undefined : pattern,
    selects: (tool: AgentTool) =>
      spellings(tool).some((spelling) => wordFits(spelling, wanted)) ||
      (tool.origin.kind === 'mcp' && wanted === `mcp__${canonical(tool.origin.server)}`),
  }
}

function spellings({ name, aliases = [], origin }: AgentTool): string[] {
  const own = [name, ...aliases].map(canonical)
  if (origin.kind !== 'mcp') return own
  const [bare = ''] = own
  const server = canonical(origin.server)
  const tool = bare.startsWith(`${server}__`) ? bare : `${server}__${bare}`
  return [...own, tool, `mcp__${tool}`]
}

/** `server.tool`, `server/tool`, `server:tool` and `server__tool` are one name; case does not count. */
function canonical(name: string) {
  return name.toLowerCase().replaceAll(/[.:/]/g, '__')
}

/**
 * Whether a path fits patterns such as `src/**`, `docs/*.md` or `//etc/hosts`. Paths and patterns
 * count from the project's directory and use `/`; an absolute path is outside of it and fits only a
 * pattern that begins with `//`. `**` stands for any directories, `*` for characters of one name.
 */
export function pathFits(path: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => {
    if (pattern === '*' || pattern === '**') return !path.startsWith('/')
    return globFits(path, normal(pattern))
  })
}

/** Whether something below a path could fit. A path outside may hold the project itself. */
export function pathMayHold(path: string, patterns: readonly string[]): boolean {
  const names = path === '.' ? [] : path === '/' ? [''] : path.split('/')
  return patterns.some((pattern) => {
    const wanted = normal(pattern)
    const onDisk = wanted.startsWith('/')
    if (path.startsWith('/') !== onDisk) return !onDisk
    const parts = wanted.split('/')
    return [...placesAfter(names, parts, '**', wordFits)].some((place) => place < parts.length)
  })
}

export function globFits(path: string, pattern: string): boolean {
  const wanted = pattern.split('/')
  return placesAfter(path.split('/'), wanted, '**', wordFits).has(wanted.length)
}

/** `./src` and `/src` are the project's, `//etc` is the disk's. */
function normal(pattern: string) {
  return pattern.startsWith('//') ? pattern.slice(1) : pattern.replace(/^\.?\//, '')
}
