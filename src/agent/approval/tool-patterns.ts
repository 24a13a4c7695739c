import { type AllowedTool, formatAllowedTools } from '../../skill/index.ts'
import type { JsonObject } from '../../tools/index.ts'
import type { AgentTool } from '../model.ts'
import { toolSelectors } from '../subagents/tool-selector.ts'
import { commandMayFit } from './command-denial.ts'
import { commandFits, wordFits } from './command-pattern.ts'
import { pathFits, pathMayHold } from './path-pattern.ts'

/**
 * Whether a list such as `Read Bash(git:*) mcp__github__*` allows a call. A pattern that cannot be
 * held against the call allows nothing.
 */
export function listAllows(
  list: readonly AllowedTool[],
  tool: AgentTool,
  input: JsonObject,
  platform: NodeJS.Platform,
): boolean {
  const entries = entriesFor(list, tool)
  if (entries.some((entry) => entry === undefined)) return true
  const patterns = entries.filter((entry) => entry !== undefined)
  return patterns.length > 0 && callFits(tool, input, patterns, platform)
}

/** Whether a list has a tool at all, with whatever pattern. */
export function listNames(list: readonly AllowedTool[], tool: AgentTool): boolean {
  return entriesFor(list, tool).length > 0
}

/** Whether a list, which denies what it names, denies a call. */
export function listDenies(
  list: readonly AllowedTool[],
  tool: AgentTool,
  input: JsonObject,
  platform: NodeJS.Platform,
): 'yes' | 'no' | 'unclear' {
  const entries = entriesFor(list, tool)
  if (entries.length === 0) return 'no'
  if (tool.patternText === undefined || entries.some((entry) => entry === undefined)) return 'yes'
  const patterns = entries.filter((entry) => entry !== undefined)
  if (tool.patternKind === 'command') {
    return commandMayFit(tool.patternText(input), patterns, platform)
  }
  if (callFits(tool, input, patterns, platform)) return 'yes'
  // A search of a directory reads the denied files below it too.
  const holds = tool.patternKind === 'tree' && pathMayHold(tool.patternText(input), patterns)
  return holds ? 'unclear' : 'no'
}

/** Whether a call fits one of the patterns of its tool; for a command line, all of it does. */
export function callFits(
  tool: AgentTool,
  input: JsonObject,
  patterns: readonly string[],
  platform: NodeJS.Platform,
): boolean {
  if (tool.patternText === undefined) return false
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

/** The pattern of every entry that names the tool; undefined for one that names all its calls. */
function entriesFor(list: readonly AllowedTool[], tool: AgentTool): (string | undefined)[] {
  return list.flatMap((entry) =>
    toolSelectors([formatAllowedTools([entry])]).flatMap(({ selects, pattern }) =>
      selects(tool) ? [pattern] : [],
    ),
  )
}
