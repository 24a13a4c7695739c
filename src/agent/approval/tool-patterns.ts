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

/** Whether a call matches one of the patterns of its tool. Every command of a command line must match. */
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

/** An entry of `tools` or `disallowed-tools`. */
export interface ToolSelector {
  /** The text of the entry. */
  text: string
  name: string
  /** Pattern for texts of calls, as in `Bash(git:*)`; undefined for all calls, also as `Tool(*)`. */
  pattern: string | undefined
  selects: (tool: AgentTool) => boolean
}

/** Reads names of tools: `read`, `server.tool`, `Read`, `mcp__server__tool`, `mcp__server`, `*`. */
export function toolSelectors(texts: readonly string[]): ToolSelector[] {
  return texts.flatMap((text) => parseAllowedTools(text).map(selector))
}

function selector({ tool: name, pattern }: AllowedTool): ToolSelector {
  const canonicalName = canonical(name)
  return {
    text: pattern === undefined ? name : `${name}(${pattern})`,
    name,
    pattern: pattern === '*' || pattern === '' ? undefined : pattern,
    selects: (tool: AgentTool) =>
      spellings(tool).some((spelling) => wordFits(spelling, canonicalName)) ||
      (tool.origin.kind === 'mcp' && canonicalName === `mcp__${canonical(tool.origin.server)}`),
  }
}

function spellings({ name, aliases = [], origin }: AgentTool): string[] {
  const names = [name, ...aliases].map(canonical)
  if (origin.kind !== 'mcp') return names
  const [bareName = ''] = names
  const server = canonical(origin.server)
  const tool = bareName.startsWith(`${server}__`) ? bareName : `${server}__${bareName}`
  return [...names, tool, `mcp__${tool}`]
}

/** `server.tool`, `server/tool`, `server:tool` and `server__tool` are one name; case does not count. */
function canonical(name: string) {
  return name.toLowerCase().replaceAll(/[.:/]/g, '__')
}

/**
 * Whether a path matches patterns such as `src/**`, `docs/*.md` or `//etc/hosts`. Paths and patterns are
 * relative to the project and use `/`. An absolute path is outside of the project and matches only a
 * pattern that begins with `//`. `**` matches any directories, `*` characters of one name.
 */
export function pathFits(path: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => {
    if (pattern === '*' || pattern === '**') return !path.startsWith('/')
    return globFits(path, normal(pattern))
  })
}

/** Whether something below a path could match. A path outside of the project may contain the project. */
export function pathMayHold(path: string, patterns: readonly string[]): boolean {
  const names = path === '.' ? [] : path === '/' ? [''] : path.split('/')
  return patterns.some((pattern) => {
    const normalPattern = normal(pattern)
    const isAbsolute = normalPattern.startsWith('/')
    if (path.startsWith('/') !== isAbsolute) return !isAbsolute
    const parts = normalPattern.split('/')
    return [...placesAfter(names, parts, '**', wordFits)].some((place) => place < parts.length)
  })
}

export function globFits(path: string, pattern: string): boolean {
  const parts = pattern.split('/')
  return placesAfter(path.split('/'), parts, '**', wordFits).has(parts.length)
}

/** `./src` and `/src` are in the project, `//etc` is on the disk. */
function normal(pattern: string) {
  return pattern.startsWith('//') ? pattern.slice(1) : pattern.replace(/^\.?\//, '')
}
