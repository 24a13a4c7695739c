import { z } from 'zod'
import { isObject } from '../../core/json.ts'
import { didYouMean } from '../../core/text.ts'
import type { ProcessEnd } from '../../exec/process.ts'
import type { JsonValue } from '../../skill/model.ts'
import type { JsonObject } from '../../tools/model.ts'
import { compilePattern } from '../../trigger/pattern.ts'
import { wireName } from '../tool.ts'
import type { AgentTool } from '../types.ts'

// The format of Claude Code (code.claude.com/docs/en/hooks).

const hookEvents = ['PreToolUse', 'PostToolUse', 'Stop'] as const

export type HookEvent = (typeof hookEvents)[number]

export interface SkillHook {
  event: HookEvent
  matches: ToolMatcher
  command: string
  timeoutMs: number
  once: boolean
}

type ToolMatcher = (tool: AgentTool) => boolean

const hookGroup = z.object({ matcher: z.string().catch(''), hooks: z.unknown() })

/** `timeout` is in seconds. */
const hookForm = z
  .object({
    type: z.literal('command').default('command'),
    command: z.string().regex(/\S/, 'it is empty'),
    timeout: z.coerce.number().positive().catch(60),
    once: z.boolean().catch(false),
  })
  .transform(({ command, timeout, once }) => {
    return { command, timeoutMs: Math.min(timeout * 1000, longestTimeoutMs), once }
  })

const longestTimeoutMs = 600_000

/** Reads the `hooks` field of a skill. What cannot be used is reported and left out. */
export function readHooks(field: JsonValue | undefined): {
  hooks: SkillHook[]
  problems: string[]
} {
  const hooks: SkillHook[] = []
  const problems: string[] = []
  const isMap = isObject<JsonValue>(field)
  if (field !== undefined && !isMap) problems.push('hooks is not a map of events')
  for (const [name, groups] of Object.entries(isMap ? field : {})) {
    const event = hookEvents.find((known) => known === name)
    if (event === undefined) {
      const problem = `${name} is not an event that is supported here: ${hookEvents.join(', ')}.`
      problems.push(`${problem} ${didYouMean(name, hookEvents)}`.trimEnd())
    } else for (const group of listOf(groups)) readGroup(event, group)
  }
  return { hooks, problems }

  function readGroup(event: HookEvent, written: unknown): void {
    const group = hookGroup.safeParse(written).data
    if (group === undefined) {
      problems.push(`an entry of ${event} is not a map with hooks`)
      return
    }
    const matcher = readMatcher(event === 'Stop' ? '' : group.matcher)
    if (!matcher.ok) {
      problems.push(`the matcher ${group.matcher} of ${event} is invalid: ${matcher.problem}`)
      return
    }
    for (const one of listOf(group.hooks ?? [])) {
      const { data, error } = hookForm.safeParse(one)
      if (data !== undefined) hooks.push({ event, matches: matcher.matcher, ...data })
      else {
        const found = error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`)
        problems.push(`a hook of ${event} is invalid: ${found.join('; ')}`)
      }
    }
  }
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value]
}

/** `*`, names such as `Edit|Write`, or a regular expression that must match the whole name. */
export function readMatcher(
  text: string,
): { ok: true; matcher: ToolMatcher } | { ok: false; problem: string } {
  const written = text.trim()
  if (written === '' || written === '*') return { ok: true, matcher: () => true }
  const reading = compilePattern(`^(?:${written})$`)
  if (!reading.ok) return { ok: false, problem: reading.problem.message }
  const matcher: ToolMatcher = (tool) => {
    const names = [hookName(tool), tool.name, wireName(tool.name), ...(tool.aliases ?? [])]
    return names.some(reading.pattern.test)
  }
  return { ok: true, matcher }
}

/** The name by which hooks know a tool: that of Claude Code where the tool has one. */
export function hookName({ name, aliases = [], origin }: AgentTool): string {
  if (origin.kind !== 'mcp') return aliases[0] ?? wireName(name)
  const { server } = origin
  const bare = name.startsWith(`${server}.`) ? name.slice(server.length + 1) : name
  return wireName(`mcp__${server}__${bare}`)
}

export interface HookAnswer {
  /** PreToolUse only. */
  decision?: 'allow' | 'ask' | 'deny' | undefined
  /** Why; for `PostToolUse` and `Stop`, with `blocks`, what the model is told. */
  reason?: string | undefined
  blocks?: boolean | undefined
  /** `continue: false`: nothing more is to be done in this turn. */
  ends?: boolean | undefined
  input?: JsonObject | undefined
  context?: string | undefined
  notices: readonly string[]
}

/**
 * What a hook says: exit code 2 blocks, with the error stream as reason; exit code 0 may come with a
 * JSON object that decides; anything else is an error of the hook, which the user is told and which
 * blocks nothing. @internal
 */
export function readHookAnswer(
  event: HookEvent,
  { end, stdout, stderr }: { end: ProcessEnd; stdout: string; stderr: string },
): HookAnswer {
  const denial = event === 'PreToolUse' ? 'deny' : undefined
  if (end.kind === 'exit' && end.code === 2) {
    const reason = stderr.trim() || 'a hook of an active skill forbids it, and does not say why'
    return { decision: denial, reason, blocks: true, notices: [] }
  }
  if (end.kind !== 'exit' || end.code !== 0) return { notices: [failure(end, stderr)] }
  if (!stdout.trim().startsWith('{')) return { notices: [] }
  let answer: JsonObject
  try {
    answer = JSON.parse(stdout)
  } catch {
    return { notices: ['it printed something that begins with { and is not JSON'] }
  }
  const notices = [textAt(answer, 'systemMessage') ?? []].flat()
  if (answer['continue'] === false) {
    const reason = textAt(answer, 'stopReason') ?? 'a hook of an active skill ends the turn'
    return { decision: denial, reason, ends: true, notices }
  }
  const specific = answer['hookSpecificOutput']
  const own = isObject<JsonValue>(specific) && specific['hookEventName'] === event ? specific : {}
  // The older form has `decision: approve` or `block` at the top.
  const written = textAt(own, 'permissionDecision') ?? textAt(answer, 'decision') ?? ''
  const { updatedInput } = own
  const isBefore = event === 'PreToolUse'
  return {
    decision: isBefore ? decisions.get(written) : undefined,
    reason:
      textAt(own, 'permissionDecisionReason') ??
      textAt(answer, 'reason') ??
      'a hook of an active skill says so',
    blocks: answer['decision'] === 'block',
    input: isBefore && isObject<JsonValue>(updatedInput) ? updatedInput : undefined,
    context: textAt(own, 'additionalContext'),
    notices,
  }
}

const decisions: ReadonlyMap<string, HookAnswer['decision']> = new Map([
  ['allow', 'allow'],
  ['approve', 'allow'],
  ['ask', 'ask'],
  ['deny', 'deny'],
  ['block', 'deny'],
])

function failure(end: ProcessEnd, stderr: string): string {
  const said = stderr.trim() === '' ? '' : `: ${stderr.trim().slice(0, 500)}`
  if (end.kind === 'exit') return `it ended with exit code ${end.code}${said}`
  if (end.kind === 'signal') return `it was killed by ${end.signal}${said}`
  if (end.kind === 'timeout') return 'it did not finish in time'
  if (end.kind === 'aborted') return 'it was stopped with the run'
  return `it could not be run: ${end.message}`
}

function textAt(object: JsonObject, key: string): string | undefined {
  const value = object[key]
  return typeof value === 'string' && value !== '' ? value : undefined
}
