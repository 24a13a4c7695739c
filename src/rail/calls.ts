import type { Platform } from '#hooks/adapters'
import type { ToolCall } from '#trigger/tool-call'
import { parseAllowedTools } from '#skill/allowed-tools'
import type { AllowedTool } from '#skill/model'
import { fitsText } from '#core/fits-text'
import { patternSpellings } from '#core/former-names'
import { fitsMcpPattern, foldToolName, readMcpPattern } from '#core/mcp-names'
import { isFileOf, mayBeFile } from './call-paths.ts'
import { mayName } from './plain-lines.ts'

/** One call of a client's tool, in the form for guards and lists of tools. */
export interface ClientCall {
  client: Platform
  /** The client's own name for the tool. */
  tool: string
  /** The kind of the call, if every client has such a tool. */
  call: ToolCall | undefined
  /** What a tool of another kind may execute, as its fields say: a client can have further shells. */
  otherLine?: string | undefined
  /** Absolute, like `workspace`: relative paths of the call start here, those of patterns in `workspace`. */
  cwd: string
  workspace: string
  /** The directory that a client may use for `~`. */
  home: string
}

/** Claude Code's names for the tools that every client has under a different name. */
const commonNames: Readonly<Record<ToolCall['kind'], readonly string[]>> = {
  edit: ['edit', 'write', 'multiedit', 'notebookedit'],
  read: ['read'],
  shell: ['bash'],
  skill: ['skill'],
}

/** A guard that covers a call. */
export interface CoveringGuard<G> {
  guard: G
  /** Whether it covers the call only because its line is too long to be read. */
  isTooLong: boolean
}

/** Returns the first guard that covers a call. A command that may be a guarded one counts. */
export async function guardAgainst<G extends { calls: string }>(
  call: ClientCall,
  guards: readonly G[],
): Promise<CoveringGuard<G> | undefined> {
  const line = call.call?.command ?? ''
  const readings = guards.map((guard) => readGuard(guard, call, line))
  const patterns = [...new Set(readings.flatMap(({ named }) => named))]
  const read =
    patterns.length > 0
      ? (await import('./shell-calls.ts')).readForGuards(line, patterns)
      : undefined
  for (const { guard, isOfCall, named } of readings) {
    if (isOfCall) return { guard, isTooLong: false }
    if (read && named.some(read.mayRun)) return { guard, isTooLong: read.isTooLong }
  }
  return undefined
}

/** Returns whether a guard covers a call whatever its shell line is, and the patterns that the line may match. */
function readGuard<G extends { calls: string }>(guard: G, call: ClientCall, line: string) {
  const entries = parseAllowedTools(guard.calls)
  const commands = patternsOf(entries.filter((entry) => namesShell(entry, call)))
  if (commands === 'everything') return { guard, isOfCall: true, named: [] }
  const spellings = commands.flatMap((pattern) => patternSpellings(pattern, true))
  const named = line === '' ? [] : spellings.filter((pattern) => mayName(line, pattern))
  const files = patternsOf(entries.filter((entry) => namesOther(entry, call)))
  return { guard, isOfCall: coversFiles(files, call, line), named }
}

function coversFiles(files: Patterns, call: ClientCall, line: string): boolean {
  if (files === 'everything') return true
  const { kind, paths = [] } = call.call ?? {}
  // A call whose file is not known may be about any file.
  if (files.length > 0 && (kind === undefined || (paths.length === 0 && line === ''))) return true
  return files.some((pattern) => paths.some((path) => mayBeAbout(path, pattern, call)))
}

/**
 * Whether a list of tools allows a call. A shell line needs an entry for each of its commands, and a patch in
 * it an entry for each of its files.
 */
export async function isAllowed(call: ClientCall, tools: string): Promise<boolean> {
  // Without a name, nothing says which tool the client calls.
  if (call.tool === '') return false
  const entries = parseAllowedTools(tools)
  const files = patternsOf(entries.filter((entry) => namesOther(entry, call)))
  const { kind, paths = [], command: line = '' } = call.call ?? {}
  const isOfFiles = paths.length > 0 && paths.every((path) => isAbout(path, files, call))
  if (kind !== 'shell' && line === '') return files === 'everything' || isOfFiles
  if (paths.length > 0 && !isOfFiles) return false
  const commands = patternsOf(entries.filter((entry) => namesShell(entry, call)))
  if (commands === 'everything') return true
  // Who may edit every file may do so with a patch in a shell line.
  const spellings = commands.flatMap((pattern) => patternSpellings(pattern))
  const listed = files === 'everything' ? [...spellings, 'apply_patch:*'] : spellings
  if (listed.length === 0) return false
  const { runsOnly } = await import('./shell-calls.ts')
  return runsOnly(line, listed)
}

type Patterns = readonly string[] | 'everything'

/** Returns the patterns of the entries; `everything` if an entry names its tool without limits. */
function patternsOf(entries: readonly AllowedTool[]): Patterns {
  const patterns = entries.map(({ pattern }) => pattern ?? '')
  const isEverything = patterns.some((pattern) => ['', '*', ':*'].includes(pattern))
  return isEverything ? 'everything' : patterns
}

/** A shell line with a patch is both: a command, and an edit of the patch's files. */
function isOfShell({ call }: ClientCall): boolean {
  return call !== undefined && (call.kind === 'shell' || call.command !== '')
}

function namesShell(entry: AllowedTool, call: ClientCall): boolean {
  return isOfShell(call) && namesTool(entry, call, [call.tool, ...commonNames.shell])
}

function namesOther(entry: AllowedTool, call: ClientCall): boolean {
  const { tool, call: { kind } = {} } = call
  if (kind === 'shell') return false
  const common = kind === undefined ? [] : commonNames[kind]
  return namesTool(entry, call, isOfShell(call) ? common : [tool, ...common])
}

function namesTool(
  { tool }: AllowedTool,
  { client, tool: name }: ClientCall,
  names: readonly string[],
): boolean {
  // A client that names no tool may call any.
  if (name === '') return true
  const mcp = readMcpPattern(tool)
  if (mcp) return fitsMcpPattern(name, mcp, client)
  return names.some((one) => fitsText(foldToolName(one), foldToolName(tool)))
}

function mayBeAbout(path: string, pattern: string, call: ClientCall): boolean {
  return call.call?.kind === 'skill'
    ? fitsText(path.toLowerCase(), pattern.toLowerCase())
    : mayBeFile(path, pattern, call)
}

function isAbout(path: string, patterns: Patterns, call: ClientCall): boolean {
  if (patterns === 'everything') return true
  return call.call?.kind === 'skill'
    ? patterns.some((pattern) => fitsText(path, pattern))
    : isFileOf(path, patterns, call)
}
