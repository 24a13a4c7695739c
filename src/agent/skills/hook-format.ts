import { z } from 'zod'
import { isObject, type JsonObject, type JsonValue, parseJson } from '#core/json'
import { didYouMean } from '#core/text'
import type { ProcessEnd } from '#exec/process'
import { compilePattern } from '#trigger/pattern'
import { wireName } from '#agent/tool'
import type { AgentTool } from '#agent/types'

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

const hookGroup = z.object({ matcher: z.string().catch(''), hooks: z.unknown().optional() })

const hookForm = z
  .object({
    type: z.literal('command').default('command'),
    command: z.string().regex(/\S/),
    timeout: z.coerce.number().positive().catch(60),
    once: z.boolean().catch(false),
  })
  .transform(({ command, timeout, once }) => {
    return { command, timeoutMs: Math.min(timeout * 1000, longestTimeoutMs), once }
  })

const longestTimeoutMs = 600_000

/** Reads the `hooks` field of a skill. What cannot be used is reported and left out. */
export function readHooks(field: JsonValue = {}): { hooks: SkillHook[]; problems: string[] } {
  const hooks: SkillHook[] = []
  const problems: string[] = []
  if (!isObject<JsonValue>(field)) return { hooks, problems: ['hooks is not a map of events'] }
  for (const [name, groups] of Object.entries(field)) {
    const event = hookEvents.find((known) => known === name)
    if (!event) {
      const problem = `${name} is not an event that is supported here: ${hookEvents.join(', ')}.`
      problems.push(`${problem} ${didYouMean(name, hookEvents)}`.trimEnd())
    } else for (const group of listOf(groups)) readGroup(event, group)
  }
  return { hooks, problems }

  function readGroup(event: HookEvent, written: unknown): void {
    const { matcher, hooks: forms } = hookGroup.safeParse(written).data ?? {}
    const reading = readMatcher(event === 'Stop' ? '' : matcher)
    if (!reading.ok) return void problems.push(`the matcher of ${event}: ${reading.problem}`)
    for (const one of listOf(forms)) {
      const { data, error } = hookForm.safeParse(one)
      if (data) hooks.push({ event, matches: reading.matcher, ...data })
      else problems.push(`a hook of ${event} is invalid: ${z.prettifyError(error)}`)
    }
  }
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value]
}

/** `*`, names such as `Edit|Write`, or a regular expression that must match the whole name. */
export function readMatcher(
  text = '',
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
  const { data } = hookOutput.safeParse(parseJson(stdout))
  if (!data) {
    return { notices: ['it printed something that begins with { and is not JSON'] }
  }
  const notices = [data.systemMessage ?? []].flat()
  if (data.continue === false) {
    const reason = data.stopReason ?? 'a hook of an active skill ends the turn'
    return { decision: denial, reason, ends: true, notices }
  }
  const specific = data.hookSpecificOutput
  const own = specific?.hookEventName === event ? specific : undefined
  const isBefore = event === 'PreToolUse'
  const reason = own?.permissionDecisionReason ?? data.reason
  return {
    // The older form has `decision: approve` or `block` at the top.
    decision: isBefore ? decisions.get(own?.permissionDecision ?? data.decision ?? '') : undefined,
    reason: reason ?? 'a hook of an active skill says so',
    blocks: data.decision === 'block',
    input: isBefore ? own?.updatedInput : undefined,
    context: own?.additionalContext,
    notices,
  }
}

const words = z.string().min(1).optional().catch(undefined)

const hookOutput = z.object({
  systemMessage: words,
  continue: z.unknown().optional(),
  stopReason: words,
  decision: words,
  reason: words,
  hookSpecificOutput: z
    .object({
      hookEventName: words,
      permissionDecision: words,
      permissionDecisionReason: words,
      updatedInput: z.custom<JsonObject>(isObject).optional().catch(undefined),
      additionalContext: words,
    })
    .optional()
    .catch(undefined),
})

const decisions: ReadonlyMap<string, HookAnswer['decision']> = new Map([
  ['allow', 'allow'],
  ['approve', 'allow'],
  ['ask', 'ask'],
  ['deny', 'deny'],
  ['block', 'deny'],
])

function failure(end: ProcessEnd, stderr: string) {
  const said = stderr.trim() === '' ? '' : `: ${stderr.trim().slice(0, 500)}`
  if (end.kind === 'exit') return `it ended with exit code ${end.code}${said}`
  if (end.kind === 'signal') return `it was killed by ${end.signal}${said}`
  if (end.kind === 'timeout') return 'it did not finish in time'
  return end.kind === 'aborted' ? 'it was stopped' : `it could not be run: ${end.message}`
}
