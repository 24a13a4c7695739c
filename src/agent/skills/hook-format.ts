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

/** Reads the `hooks` field of a skill. Invalid hooks are reported and left out. */
export function readHooks(field: JsonValue = {}): { hooks: SkillHook[]; problems: string[] } {
  const hooks: SkillHook[] = []
  const problems: string[] = []
  if (!isObject<JsonValue>(field)) return { hooks, problems: ['hooks is not a map of events'] }
  for (const [name, groups] of Object.entries(field)) {
    const event = hookEvents.find((candidate) => candidate === name)
    if (!event) {
      const problem = `${name} is not an event that is supported here: ${hookEvents.join(', ')}.`
      problems.push(`${problem} ${didYouMean(name, hookEvents)}`.trimEnd())
    } else for (const group of listOf(groups)) readGroup(event, group)
  }
  return { hooks, problems }

  function readGroup(event: HookEvent, group: unknown): void {
    const { matcher, hooks: forms } = hookGroup.safeParse(group).data ?? {}
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
  const pattern = text.trim()
  if (pattern === '' || pattern === '*') return { ok: true, matcher: () => true }
  const reading = compilePattern(`^(?:${pattern})$`)
  if (!reading.ok) return { ok: false, problem: reading.problem.message }
  const matcher: ToolMatcher = (tool) => {
    const names = [hookName(tool), tool.name, wireName(tool.name), ...(tool.aliases ?? [])]
    return names.some(reading.pattern.test)
  }
  return { ok: true, matcher }
}

/** Returns the name of a tool in hooks: the name in Claude Code, if the tool has one. */
export function hookName({ name, aliases = [], origin }: AgentTool): string {
  if (origin.kind !== 'mcp') return aliases[0] ?? wireName(name)
  const { server } = origin
  const bareName = name.startsWith(`${server}.`) ? name.slice(server.length + 1) : name
  return wireName(`mcp__${server}__${bareName}`)
}

export interface HookAnswer {
  /** PreToolUse only. */
  decision?: 'allow' | 'ask' | 'deny' | undefined
  /** The reason of the decision. With `blocks`, the model reads it after `PostToolUse` and `Stop`. */
  reason?: string | undefined
  blocks?: boolean | undefined
  /** `continue: false`: the turn ends. */
  ends?: boolean | undefined
  input?: JsonObject | undefined
  context?: string | undefined
  notices: readonly string[]
}

/**
 * Reads the answer of a hook. Exit code 2 blocks, and standard error is the reason. With exit code 0 a
 * JSON object on standard output decides. Any other end is an error of the hook: it is reported and
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
  const eventOutput = specific?.hookEventName === event ? specific : undefined
  const isBefore = event === 'PreToolUse'
  const reason = eventOutput?.permissionDecisionReason ?? data.reason
  const decision = eventOutput?.permissionDecision ?? data.decision ?? ''
  return {
    // The older form has `decision: approve` or `block` at the top.
    decision: isBefore ? decisions.get(decision) : undefined,
    reason: reason ?? 'a hook of an active skill says so',
    blocks: data.decision === 'block',
    input: isBefore ? eventOutput?.updatedInput : undefined,
    context: eventOutput?.additionalContext,
    notices,
  }
}

const optionalText = z.string().min(1).optional().catch(undefined)

const hookOutput = z.object({
  systemMessage: optionalText,
  continue: z.unknown().optional(),
  stopReason: optionalText,
  decision: optionalText,
  reason: optionalText,
  hookSpecificOutput: z
    .object({
      hookEventName: optionalText,
      permissionDecision: optionalText,
      permissionDecisionReason: optionalText,
      updatedInput: z.custom<JsonObject>(isObject).optional().catch(undefined),
      additionalContext: optionalText,
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
  const details = stderr.trim() === '' ? '' : `: ${stderr.trim().slice(0, 500)}`
  if (end.kind === 'exit') return `it ended with exit code ${end.code}${details}`
  if (end.kind === 'signal') return `it was killed by ${end.signal}${details}`
  if (end.kind === 'timeout') return 'it did not finish in time'
  return end.kind === 'aborted' ? 'it was stopped' : `it could not be run: ${end.message}`
}
