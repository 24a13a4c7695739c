import { isAbsolute, relative, resolve, sep } from 'node:path'
import type { ClientName } from '#core/client-folders'
import { fitsMcpPattern, mayBeMcpName, readMcpPattern } from '#core/mcp-names'
import type { ShellReading } from '#core/shell-commands'
import type { TriggerDeclaration, TriggerOccasion } from '#skill/model'
import { firstMatch, type TriggerMatch, type TriggerSkill } from './match.ts'
import { compilePattern, type Pattern } from './pattern.ts'

export interface ToolCall {
  kind: 'edit' | 'read' | 'shell' | 'skill'
  paths: readonly string[]
  command: string
}

/** A call of a tool of an MCP server. */
export interface McpCall {
  kind: 'mcp'
  /** As the client names it. */
  tool: string
  /** Default: a client that names such tools `mcp__SERVER__TOOL`. */
  client?: ClientName | undefined
}

/** Returns the triggers that a tool call fires, at most one match each. */
export async function matchToolCall<Skill extends TriggerSkill>(
  call: ToolCall | McpCall,
  skills: Iterable<Skill>,
  place: { cwd: string; root: string },
): Promise<TriggerMatch<Skill>[]> {
  const matchOf = call.kind === 'mcp' ? mcpMatcher(call) : commonMatcher(call, place)
  const matches: TriggerMatch<Skill>[] = []
  for (const skill of skills) {
    for (const trigger of skill.triggers) {
      const match = trigger.when && (await matchOf(trigger.when))
      if (match) matches.push({ skill, trigger, ...match })
    }
  }
  return matches
}

type Matcher = (when: TriggerOccasion) => Promise<FoundText | undefined> | FoundText | undefined

/** The triggers on the tools that every client has. */
function commonMatcher(call: ToolCall, place: { cwd: string; root: string }): Matcher {
  const paths = call.paths.map((path) => pathInProject(path, place))
  const shell = call.command === '' ? undefined : lazyShell(call.command)
  return (when) => {
    if (when.kind === 'command') return shell?.(when.pattern, when.require)
    if (when.kind !== 'paths' || (call.kind !== 'edit' && call.kind !== when.on)) return undefined
    return matchPaths(paths, when.paths)
  }
}

function mcpMatcher({ tool, client }: McpCall): Matcher {
  const isOne = mayBeMcpName(tool, client)
  return (when) => {
    const pattern = when.kind === 'tool' && isOne ? readMcpPattern(when.pattern) : undefined
    return pattern && fitsMcpPattern(tool, pattern, client)
      ? { text: tool, promptLine: 1 }
      : undefined
  }
}

/** Whether the first call is denied until the model has the reference. */
export function isRequired({ when }: TriggerDeclaration): boolean {
  return when !== undefined && 'require' in when && when.require
}

type FoundText = { text: string; promptLine: number }

/** Loads the shell parser only for a line that contains the words of a pattern. */
function lazyShell(line: string) {
  let reading: ShellReading | undefined
  return async (source: string, isGuard: boolean): Promise<FoundText | undefined> => {
    const compiled = compilePattern(source)
    if (!compiled.ok || !mayMatchCommand(line, compiled.pattern)) return undefined
    const { readShellCommands } = await import('#core/shell-commands')
    const { matchCommand } = await import('./command-match.ts')
    reading ??= readShellCommands(line)
    return matchCommand(line, reading, compiled.pattern, isGuard)
  }
}

function pathInProject(path: string, { cwd, root }: { cwd: string; root: string }): string {
  const inside = relative(root, resolve(cwd, path))
  return isAbsolute(inside) ? inside : inside.split(sep).join('/')
}

function matchPaths(paths: readonly string[], globs: readonly string[]): FoundText | undefined {
  for (const glob of globs.slice(0, maxGlobs)) {
    const reading = compilePattern(globPattern(glob))
    const match = reading.ok ? firstMatch(reading.pattern, paths) : undefined
    if (match) return match
  }
  return undefined
}

/** Whether a line can match at all: a cheap test before the shell parser is loaded. */
function mayMatchCommand(line: string, { required }: Pattern): boolean {
  // Quotes and backslashes can occur inside any word; `$'\x67'` and braces can be any text.
  if (/\$'|\{/.test(line)) return true
  const text = line.replaceAll(/['"\\\r\n]/g, '')
  // A command of Skillrail also has its former name.
  if (text.includes('skillrail')) return true
  const isThere = (part: string) => part.split(' ').every((word) => text.includes(word))
  return required.every((clause) => clause.some(isThere))
}

const maxGlobs = 100

/**
 * Returns the regular expression of a glob. A glob without a slash means a file of that name in any
 * folder; a glob that ends with a slash means every file below that folder.
 */
export function globPattern(glob: string): string {
  const inside = glob.replace(/^\.?(?:\/|$)/, '')
  const whole = inside === '' || inside.endsWith('/') ? `${inside}**` : inside
  const anywhere = whole.includes('/') || whole === '**' ? whole : `**/${whole}`
  let depth = 0
  const pattern = anywhere.replace(/\*\*\/|\*\*|[*?{},]|\[[^[\]]+\]|[\\^$.|+()[\]]/g, (sign) => {
    if (sign === '**/') return '(.*/)?'
    if (sign === '**') return '.*'
    if (sign === '*') return '[^/]*'
    if (sign === '?') return '[^/]'
    if (sign === '{') return (depth++, '(')
    if (sign === '}') return depth-- > 0 ? ')' : '[}]'
    if (sign === ',') return depth > 0 ? '|' : ','
    return sign.length > 1 ? sign.replace('[!', '[^') : `\\${sign}`
  })
  return `^${pattern}$`
}
