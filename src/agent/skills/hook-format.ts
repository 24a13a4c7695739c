import { isObject } from '../../core/json.ts'
import { nearest } from '../../core/text.ts'
import type { ProcessEnd } from '../../exec/process.ts'
import type { JsonValue } from '../../skill/model.ts'
import type { JsonObject } from '../../tools/model.ts'
import { compilePattern } from '../../trigger/pattern.ts'
import { wireName } from '../tool.ts'
import type { AgentTool } from '../types.ts'

export type HookEvent = 'PreToolUse' | 'PostToolUse' | 'Stop'

const hookEvents: readonly HookEvent[] = ['PreToolUse', 'PostToolUse', 'Stop']

/** A command that runs at an event while its skill is active. */
export interface SkillHook {
  event: HookEvent
  /** Which tools it is about; a Stop hook is about none. */
  matches: ToolMatcher
  command: string
  timeoutMs: number
  /** Whether it runs only the first time. */
  once: boolean
}

interface HooksReading {
  hooks: SkillHook[]
  /** What is written and has no effect, as sentences. */
  problems: string[]
}

/** As Claude Code has it. */
const defaultTimeoutMs = 60_000

/**
 * Reads the `hooks` field of a skill, in the shape of Claude Code: events, each with groups of a
 * `matcher` and `hooks` of type `command` with a `timeout` in seconds. What cannot be used is reported
 * and left out.
 */
export function readHooks(field: JsonValue | undefined): HooksReading {
  const reading: HooksReading = { hooks: [], problems: [] }
  if (field === undefined) return reading
  if (!isObject<JsonValue>(field)) return { hooks: [], problems: ['hooks is not a map of events'] }
  for (const [name, groups] of Object.entries(field)) {
    const event = hookEvents.find((known) => known === name)
    if (event === undefined) reading.problems.push(unknownEvent(name))
    else for (const group of listOf(groups)) readGroup(event, group, reading)
  }
  return reading
}

function readGroup(event: HookEvent, group: JsonValue, { hooks, problems }: HooksReading): void {
  if (!isObject<JsonValue>(group)) {
    problems.push(`an entry of ${event} is not a map with hooks`)
    return
  }
  const written = event === 'Stop' ? undefined : group['matcher']
  const matcher = typeof written === 'string' ? written : ''
  const matches = readMatcher(matcher)
  if (!matches.ok) {
    problems.push(`the matcher ${matcher} of ${event} cannot be used: ${matches.problem}`)
    return
  }
  for (const hook of listOf(group['hooks'] ?? [])) {
    const read = readHook(hook)
    if (typeof read === 'string') problems.push(`a hook of ${event} ${read}`)
    else hooks.push({ event, matches: matches.matcher, ...read })
  }
}

/** A sentence about what is wrong where it cannot be used. */
function readHook(hook: JsonValue): Omit<SkillHook, 'event' | 'matches'> | string {
  if (!isObject<JsonValue>(hook)) return 'is not a map'
  const { type = 'command', command, timeout, once } = hook
  if (type !== 'command') return `is of type ${JSON.stringify(type)}; only command is known`
  if (typeof command !== 'string' || command.trim() === '') return 'has no command'
  // Seconds, as a number or as text.
  const seconds = typeof timeout === 'string' ? Number(timeout) : timeout
  const timeoutMs =
    typeof seconds === 'number' && seconds > 0
      ? Math.min(seconds * 1000, 600_000)
      : defaultTimeoutMs
  return { command, timeoutMs, once: once === true }
}

function unknownEvent(name: string): string {
  const meant = nearest(name, hookEvents)
  const guess = meant === undefined ? '' : ` Did you mean ${meant}?`
  return `${name} is not an event that is supported here: ${hookEvents.join(', ')}.${guess}`
}

function listOf(value: JsonValue): readonly JsonValue[] {
  return Array.isArray(value) ? value : [value]
}

/** Whether a hook is about a tool. */
type ToolMatcher = (tool: AgentTool) => boolean

type MatcherReading = { ok: true; matcher: ToolMatcher } | { ok: false; problem: string }

/**
 * A matcher as Claude Code has it: nothing or `*` for all tools, names such as `Edit|Write`, or a
 * regular expression such as `mcp__memory__.*`, which must fit the whole name.
 */
export function readMatcher(text: string): MatcherReading {
  const written = text.trim()
  if (written === '' || written === '*') return { ok: true, matcher: () => true }
  if (/^[\w|]+$/.test(written)) {
    const names = new Set(written.split('|'))
    return { ok: true, matcher: (tool) => hookNames(tool).some((name) => names.has(name)) }
  }
  const reading = compilePattern(`^(?:${written})$`)
  if (!reading.ok) return { ok: false, problem: reading.problem.message }
  return { ok: true, matcher: (tool) => hookNames(tool).some(reading.pattern.test) }
}

/** The name by which hooks know a tool: that of Claude Code where the tool has one. */
export function hookName(tool: AgentTool): string {
  const { name, aliases = [], origin } = tool
  if (origin.kind === 'mcp') return mcpName(name, origin.server)
  return aliases[0] ?? wireName(name)
}

function hookNames(tool: AgentTool): string[] {
  return [...new Set([hookName(tool), tool.name, wireName(tool.name), ...(tool.aliases ?? [])])]
}

function mcpName(name: string, server: string): string {
  const bare = name.startsWith(`${server}.`) ? name.slice(server.length + 1) : name
  return wireName(`mcp__${server}__${bare}`)
}

/** How a hook's program ended, and what it printed. */
interface HookEnd {
  end: ProcessEnd
  stdout: string
  stderr: string
}

/** What a hook wants. */
export interface HookAnswer {
  /** PreToolUse only. */
  decision: 'allow' | 'ask' | 'deny' | undefined
  /** Why; for `PostToolUse` and `Stop`, with `blocks`, what the model is told. */
  reason: string
  blocks: boolean
  /** `continue: false`: nothing more is to be done in this turn. */
  ends: boolean
  /** The input that the tool gets instead. */
  input: JsonObject | undefined
  /** Further text for the model. */
  context: string | undefined
  /** For the user: messages of the hook, and its failure. */
  notices: readonly string[]
}

const nothing: HookAnswer = {
  decision: undefined,
  reason: '',
  blocks: false,
  ends: false,
  input: undefined,
  context: undefined,
  notices: [],
}

/**
 * What a hook says by Claude Code's rules: exit code 2 blocks, with the error stream as reason; exit
 * code 0 may come with a JSON object that decides; anything else is an error of the hook, which the
 * user is told and which blocks nothing.
 */
export function readHookAnswer(event: HookEvent, { end, stdout, stderr }: HookEnd): HookAnswer {
  if (end.kind === 'exit' && end.code === 2) {
    const reason = stderr.trim() || 'a hook of an active skill forbids it, and does not say why'
    return { ...nothing, decision: preTool(event, 'deny'), reason, blocks: true }
  }
  if (end.kind !== 'exit' || end.code !== 0) {
    return { ...nothing, notices: [failure(end, stderr)] }
  }
  const text = stdout.trim()
  if (!text.startsWith('{')) return nothing
  const answer = parsed(text)
  if (answer === undefined) {
    return { ...nothing, notices: ['it printed something that begins with { and is not JSON'] }
  }
  return fromJson(event, answer)
}

function fromJson(event: HookEvent, answer: JsonObject): HookAnswer {
  const specific = answer['hookSpecificOutput']
  const own = isObject<JsonValue>(specific) && specific['hookEventName'] === event ? specific : {}
  const notices = [textAt(answer, 'systemMessage')].filter((text) => text !== undefined)
  if (answer['continue'] === false) {
    const reason = textAt(answer, 'stopReason') ?? 'a hook of an active skill ends the turn'
    return { ...nothing, decision: preTool(event, 'deny'), reason, ends: true, notices }
  }
  const blocks = answer['decision'] === 'block'
  const reason = textAt(own, 'permissionDecisionReason') ?? textAt(answer, 'reason')
  const { updatedInput } = own
  return {
    ...nothing,
    decision: event === 'PreToolUse' ? decisionOf(own, answer) : undefined,
    reason: reason ?? 'a hook of an active skill says so',
    blocks,
    input: event === 'PreToolUse' && isObject<JsonValue>(updatedInput) ? updatedInput : undefined,
    context: textAt(own, 'additionalContext'),
    notices,
  }
}

/** The older form has `decision: approve` or `block` at the top. */
function decisionOf(own: JsonObject, answer: JsonObject): HookAnswer['decision'] {
  const written = own['permissionDecision'] ?? answer['decision']
  return typeof written === 'string' ? decisions.get(written) : undefined
}

const decisions: ReadonlyMap<string, 'allow' | 'ask' | 'deny'> = new Map([
  ['allow', 'allow'],
  ['approve', 'allow'],
  ['ask', 'ask'],
  ['deny', 'deny'],
  ['block', 'deny'],
])

function preTool(event: HookEvent, decision: 'deny'): 'deny' | undefined {
  return event === 'PreToolUse' ? decision : undefined
}

function failure(end: HookEnd['end'], stderr: string): string {
  const said = stderr.trim() === '' ? '' : `: ${stderr.trim().slice(0, 500)}`
  if (end.kind === 'exit') return `it ended with exit code ${end.code}${said}`
  if (end.kind === 'signal') return `it was ended by ${end.signal}${said}`
  if (end.kind === 'timeout') return 'it did not end in time'
  if (end.kind === 'aborted') return 'it was stopped with the run'
  return `it could not be run: ${end.message}`
}

function textAt(object: JsonObject, key: string): string | undefined {
  const value = object[key]
  return typeof value === 'string' && value !== '' ? value : undefined
}

function parsed(text: string): JsonObject | undefined {
  try {
    const value: JsonValue = JSON.parse(text)
    return isObject<JsonValue>(value) ? value : undefined
  } catch {
    return undefined
  }
}
