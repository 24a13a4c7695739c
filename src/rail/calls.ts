import { relative, resolve, sep } from 'node:path'
import type { Platform } from '#hooks/adapters'
import type { ToolCall } from '#trigger/tool-call'
import { parseAllowedTools } from '#skill/allowed-tools'
import type { AllowedTool } from '#skill/model'
import { fitsText } from '#core/fits-text'
import { fitsMcpPattern, foldToolName, readMcpPattern } from '#core/mcp-names'
import { mayName } from './plain-lines.ts'

/** One call of a client's tool, in the form for guards and lists of tools. */
export interface ClientCall {
  client: Platform
  /** The client's own name for the tool. */
  tool: string
  /** The kind of the call, if every client has such a tool. */
  call: ToolCall | undefined
  /** Absolute, like `workspace`: relative paths of the call start here, those of patterns in `workspace`. */
  cwd: string
  workspace: string
}

/** Claude Code's names for the tools that every client has under a different name. */
const commonNames: Readonly<Record<ToolCall['kind'], readonly string[]>> = {
  edit: ['edit', 'write', 'notebookedit'],
  read: ['read'],
  shell: ['bash'],
  skill: ['skill'],
}

/** Whether a guard covers a call. A command that may be a guarded one counts. */
export async function isGuarded(call: ClientCall, guard: string): Promise<boolean> {
  const entries = parseAllowedTools(guard).filter((entry) => namesTool(entry, call))
  const patterns = patternsOf(entries)
  if (patterns === 'everything') return true
  if (patterns.length === 0) return false
  const line = call.call?.command ?? ''
  const named = line === '' ? [] : patterns.filter((pattern) => mayName(line, pattern))
  if (named.length > 0) {
    const { mayRun } = await import('./shell-calls.ts')
    if (named.some((pattern) => mayRun(line, pattern))) return true
  }
  if (call.call?.kind === 'shell') return false
  const paths = pathsOf(call)
  const isNamed = (pattern: string): boolean => paths.some((path) => fitsPath(path, pattern))
  return call.call === undefined || patterns.some(isNamed)
}

/** Whether a list of tools allows a call; a shell line needs an entry for each of its commands. */
export async function isAllowed(call: ClientCall, tools: string): Promise<boolean> {
  const entries = parseAllowedTools(tools).filter((entry) => namesTool(entry, call))
  const patterns = patternsOf(entries)
  if (patterns === 'everything') return true
  if (patterns.length === 0) return false
  const line = call.call?.command ?? ''
  if (call.call?.kind !== 'shell' && line === '') {
    const paths = pathsOf(call)
    return paths.length > 0 && paths.every((path) => patterns.some((one) => fitsPath(path, one)))
  }
  const { runsOnly } = await import('./shell-calls.ts')
  return runsOnly(line, patterns)
}

/** Returns the patterns of the entries; `everything` if an entry names its tool without limits. */
function patternsOf(entries: readonly AllowedTool[]): readonly string[] | 'everything' {
  const patterns = entries.map(({ pattern }) => pattern ?? '')
  const isEverything = patterns.some((pattern) => ['', '*', ':*'].includes(pattern))
  return isEverything ? 'everything' : patterns
}

function namesTool({ tool }: AllowedTool, { client, tool: name, call }: ClientCall): boolean {
  const mcp = readMcpPattern(tool)
  if (mcp) return fitsMcpPattern(name, mcp, client)
  const wanted = foldToolName(tool)
  // A shell line that edits with a patch is both.
  const shell = call && call.command !== '' ? commonNames.shell : []
  const common = call ? commonNames[call.kind] : []
  return [foldToolName(name), ...common, ...shell].some((one) => fitsText(one, wanted))
}

/** Returns the paths of a call, relative to the project if they are inside. */
function pathsOf({ call, cwd, workspace }: ClientCall): string[] {
  return (call?.paths ?? []).map((path) => {
    const below = relative(workspace, resolve(cwd, path)).split(sep).join('/')
    return below.startsWith('..') ? resolve(cwd, path) : below
  })
}

function fitsPath(path: string, pattern: string): boolean {
  return fitsText(path, pattern.replace(/^\.?\/(?!\/)/, '').replaceAll(/\*+/g, '*'))
}
