import { messageOf, type Runtime } from '../../base/index.ts'
import type { JsonObject } from '../../tools/index.ts'
import type { HookVerdict } from '../approval/permit.ts'
import type { AgentTool, LoopRequest } from '../model.ts'
import type { PermissionMode } from '../subagents/config.ts'
import type { HookAnswer } from './read-answer.ts'
import type { HookEvent, SkillHook } from './read-hooks.ts'
import { runHook } from './run-hook.ts'
import { hookName } from './tool-matcher.ts'

/** The hooks of one active skill. */
export interface HookedSkill {
  name: string
  directory: string
  hooks: readonly SkillHook[]
}

export interface SkillHooksOptions {
  /** The active skills that have hooks, in the order of their activation. */
  skills: () => readonly HookedSkill[]
  /** Throws when the skill may not act any more: something of it was changed since. */
  confirm: (skill: string) => Promise<void>
  project: string
  session: string
  mode: PermissionMode
  runtime: Pick<Runtime, 'env' | 'platform'>
  environment: readonly string[]
  notice: (message: string) => void
}

/** The hooks of all active skills. */
export interface SkillHooks {
  before(
    tool: AgentTool,
    input: JsonObject,
    call: { id: string; signal: AbortSignal },
  ): Promise<HookVerdict>
  after: NonNullable<LoopRequest['afterTool']>
  stop(text: string, signal: AbortSignal | undefined): Promise<string | undefined>
  /** A turn of the user begins. */
  reset(): void
}

/** How often in one turn hooks may keep a model from ending it. */
const stopLimit = 8

export function createSkillHooks(options: SkillHooksOptions): SkillHooks {
  const contexts = new WeakMap<JsonObject, string>()
  const done = new WeakSet<SkillHook>()
  let stops = 0

  return {
    reset() {
      stops = 0
    },

    /** One after the other: each sees the input that the one before it wants. */
    async before(tool, input, { id, signal }) {
      const verdict: HookVerdict = { decision: undefined, reason: '', input: undefined }
      const added: string[] = []
      let current = input
      for (const [skill, hook] of hooksFor('PreToolUse', tool)) {
        const answer = await attempt(skill, hook, signal, {
          tool_name: hookName(tool),
          tool_input: current,
          tool_use_id: id,
        })
        if (answer === undefined) {
          return {
            decision: 'deny',
            reason: `the hooks of the skill ${skill.name} may not run any more`,
            input: undefined,
          }
        }
        if (answer.context !== undefined) added.push(answer.context)
        if (answer.input !== undefined) {
          current = answer.input
          verdict.input = current
        }
        const stricter = strictness(answer.decision) > strictness(verdict.decision)
        if (stricter) Object.assign(verdict, { decision: answer.decision, reason: answer.reason })
        if (answer.decision === 'deny') break
      }
      if (added.length > 0) contexts.set(current, added.join('\n'))
      return verdict
    },

    async after(tool, input, output, isError) {
      const remarks: string[] = []
      const stashed = contexts.get(input)
      if (stashed !== undefined) remarks.push(stashed)
      // The event is about calls that succeeded.
      if (isError) return remarks[0]
      for (const [skill, hook] of hooksFor('PostToolUse', tool)) {
        const answer = await attempt(skill, hook, undefined, {
          tool_name: hookName(tool),
          tool_input: input,
          tool_response: output,
        })
        if (answer === undefined) continue
        if (answer.blocks || answer.ends) remarks.push(answer.reason)
        if (answer.context !== undefined) remarks.push(answer.context)
      }
      return remarks.length === 0 ? undefined : remarks.join('\n')
    },

    async stop(text, signal) {
      const reasons: string[] = []
      for (const [skill, hook] of hooksFor('Stop', undefined)) {
        const answer = await attempt(skill, hook, signal, {
          stop_hook_active: stops > 0,
          last_assistant_message: text,
        })
        if (answer?.ends === true) return undefined
        if (answer?.blocks === true) reasons.push(answer.reason)
      }
      if (reasons.length === 0) return undefined
      if (++stops <= stopLimit) return reasons.join('\n')
      options.notice(`Stop hooks kept the model from ending ${stopLimit} times; now it may.`)
      return undefined
    },
  }

  function hooksFor(
    event: HookEvent,
    tool: AgentTool | undefined,
  ): (readonly [HookedSkill, SkillHook])[] {
    return options
      .skills()
      .flatMap((skill) => skill.hooks.map((hook) => [skill, hook] as const))
      .filter(
        ([, hook]) =>
          hook.event === event && !done.has(hook) && (tool === undefined || hook.matches(tool)),
      )
  }

  /** Undefined when the skill may not act any more. */
  async function attempt(
    skill: HookedSkill,
    hook: SkillHook,
    signal: AbortSignal | undefined,
    facts: JsonObject,
  ): Promise<HookAnswer | undefined> {
    const tell = (message: string): void =>
      options.notice(`A ${hook.event} hook of the skill ${skill.name}: ${message}.`)
    try {
      await options.confirm(skill.name)
    } catch (error) {
      tell(messageOf(error))
      return undefined
    }
    if (hook.once) done.add(hook)
    const { project, runtime, environment } = options
    const payload = {
      session_id: options.session,
      cwd: project,
      permission_mode: options.mode === 'dont-ask' ? 'dontAsk' : options.mode,
      hook_event_name: hook.event,
      ...facts,
    }
    const place = { project, skillDirectory: skill.directory, runtime, environment, signal }
    const answer = await runHook(hook, payload, place)
    answer.notices.forEach(tell)
    return answer
  }
}

function strictness(decision: HookVerdict['decision']): number {
  return decision === undefined ? 0 : ['allow', 'ask', 'deny'].indexOf(decision) + 1
}
