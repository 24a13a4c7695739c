import { nearest, isObject } from '../../base/index.ts'
import type { JsonValue } from '../../skill/index.ts'
import { readMatcher, type ToolMatcher } from './tool-matcher.ts'

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

export interface HooksReading {
  hooks: readonly SkillHook[]
  /** What is written and has no effect, as sentences. */
  problems: readonly string[]
}

/** As Claude Code has it. */
const defaultTimeoutMs = 60_000

/**
 * Reads the `hooks` field of a skill, in the shape of Claude Code: events, each with groups of a
 * `matcher` and `hooks` of type `command` with a `timeout` in seconds. What cannot be used is told and
 * left out.
 */
export function readHooks(field: JsonValue | undefined): HooksReading {
  const hooks: SkillHook[] = []
  const problems: string[] = []
  if (field === undefined) return { hooks, problems }
  if (!isObject<JsonValue>(field)) return { hooks, problems: ['hooks is no map of events'] }
  for (const [name, groups] of Object.entries(field)) {
    const event = hookEvents.find((known) => known === name)
    if (event === undefined) problems.push(unknownEvent(name))
    else for (const group of listOf(groups)) readGroup(event, group, hooks, problems)
  }
  return { hooks, problems }
}

function readGroup(
  event: HookEvent,
  group: JsonValue,
  hooks: SkillHook[],
  problems: string[],
): void {
  if (!isObject<JsonValue>(group)) {
    problems.push(`an entry of ${event} is no map with hooks`)
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
    const problem = hookProblem(hook)
    if (problem !== undefined) problems.push(`a hook of ${event} ${problem}`)
    else if (isObject<JsonValue>(hook) && typeof hook['command'] === 'string') {
      hooks.push({
        event,
        matches: matches.matcher,
        command: hook['command'],
        timeoutMs: timeoutOf(hook['timeout']),
        once: hook['once'] === true,
      })
    }
  }
}

function hookProblem(hook: JsonValue): string | undefined {
  if (!isObject<JsonValue>(hook)) return 'is no map'
  if (hook['type'] !== undefined && hook['type'] !== 'command') {
    return `is of type ${JSON.stringify(hook['type'])}; only command is known`
  }
  return typeof hook['command'] === 'string' && hook['command'].trim() !== ''
    ? undefined
    : 'has no command'
}

/** Seconds, as a number or as text. */
function timeoutOf(value: JsonValue | undefined): number {
  const seconds = typeof value === 'string' ? Number(value) : value
  return typeof seconds === 'number' && seconds > 0
    ? Math.min(seconds * 1000, 600_000)
    : defaultTimeoutMs
}

function unknownEvent(name: string): string {
  const meant = nearest(name, hookEvents)
  const guess = meant === undefined ? '' : ` Did you mean ${meant}?`
  return `${name} is no event that is supported here: ${hookEvents.join(', ')}.${guess}`
}

function listOf(value: JsonValue): readonly JsonValue[] {
  return Array.isArray(value) ? value : [value]
}
