import { isObject } from '../../base/index.ts'
import type { ProcessEnd } from '../../exec/index.ts'
import type { JsonValue } from '../../skill/index.ts'
import type { JsonObject } from '../../tools/index.ts'
import type { HookEvent } from './read-hooks.ts'

/** How a hook's program ended, and what it printed. */
export interface HookEnd {
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
  /** For the person: messages of the hook, and what went wrong with it. */
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
 * person is told of and which blocks nothing.
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
    return { ...nothing, notices: ['it printed something that begins with { and is no JSON'] }
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
