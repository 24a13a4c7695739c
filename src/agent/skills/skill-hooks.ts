import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf } from '#core/errors'
import type { JsonObject } from '#core/json'
import { resolveInside } from '#core/read-files'
import type { Runtime } from '#core/runtime'
import { capturedText, childEnvironment, runProcess } from '#exec/process'
import type { SkillManager } from '#library/manager'
import { SkillInvocationError } from '#skill/errors'
import { hookProgram } from '#trust/hook-program'
import type { CallRules, HookVerdict } from '#agent/approval/permit'
import { shellOf } from '#agent/built-in-tools/built-in-tools'
import { usageError } from '#agent/errors'
import type { PermissionMode } from '#agent/approval/permission-mode'
import type { AfterTool, AgentTool, ToolContext } from '#agent/types'
import type { ActiveSkill } from './active-skills.ts'
import {
  type HookAnswer,
  type HookEvent,
  hookName,
  readHookAnswer,
  type SkillHook,
} from './hook-format.ts'

interface SkillHooksOptions {
  skills: () => readonly ActiveSkill[]
  /** Checks before each hook that the skill is still trusted: its files may have changed. */
  manager: Pick<SkillManager, 'requireTrusted'>
  project: string
  mode?: PermissionMode | undefined
  /** Returns the conversation's ID; default: an ID for these hooks. */
  sessionId?: (() => string | undefined) | undefined
  runtime: Runtime
  environment?: readonly string[] | undefined
  notice: (message: string) => void
}

/** How often Stop hooks can prevent the end of one turn. */
const stopLimit = 8

const outputLimit = 131_072

/** Decisions of hooks, the strictest last. */
const strictness: readonly HookAnswer['decision'][] = [undefined, 'allow', 'ask', 'deny']

/** Applies the active skills of a conversation to its calls, its model and the end of its turns. */
export class SkillHooks {
  readonly #options: SkillHooksOptions
  /** The session ID of a conversation without one. */
  readonly #defaultSessionId: string
  /** Text of PreToolUse hooks for the model, by the input of the call. */
  readonly #contexts = new WeakMap<JsonObject, string>()
  /** Hooks with `once` that have run. */
  readonly #done = new WeakSet<SkillHook>()
  /** How often Stop hooks have prevented the end of this turn. */
  #stops = 0

  constructor(options: SkillHooksOptions) {
    this.#options = options
    this.#defaultSessionId = options.runtime.id()
  }

  /** Begins a turn. */
  reset() {
    this.#stops = 0
  }

  has(event: HookEvent) {
    return this.#hooksFor(event).length > 0
  }

  /** The approvals of active skills, the limits of untrusted ones, and the hooks. */
  get rules(): CallRules {
    const skills = this.#options.skills()
    return {
      preApproved: skills.flatMap(({ activation }) => activation.effects.preApproved),
      narrowed: skills.flatMap(({ activation: { name, effects } }) =>
        effects.narrowedTo ? [{ skill: name, tools: effects.narrowedTo }] : [],
      ),
      beforeTool: this.#before,
    }
  }

  get model() {
    return this.#options.skills().findLast(({ model }) => model !== undefined)?.model
  }

  /** @throws {SkillInvocationError} if an untrusted skill limits the tools, because a subagent has other limits. */
  refuseFork(name: string): void {
    const [narrowing] = this.rules.narrowed
    if (!narrowing) return
    const message = `Skill ${name} is not run in a subagent while the untrusted skill ${narrowing.skill} limits the tools.`
    throw new SkillInvocationError({ code: 'fork-while-narrowed', message })
  }

  /** @throws {AgentUsageError} for a skill that a model cannot end. */
  requireEndable(name: string): void {
    if (this.rules.narrowed.some(({ skill }) => skill === name)) {
      const message = `The untrusted skill ${name} limits the tools until the turn of the user ends.`
      throw usageError('skill-narrows', message)
    }
    if (this.#options.skills().some(({ activation }) => activation.name === name)) return
    throw usageError('skill-not-active', `The skill ${name} is not active.`)
  }

  /** Runs the PreToolUse hooks in order. Each gets the input that the previous one returned. */
  readonly #before = async (
    tool: AgentTool,
    input: JsonObject,
    { toolCallId, signal }: ToolContext,
  ): Promise<HookVerdict> => {
    const verdict: HookVerdict = {}
    const contexts: string[] = []
    for (const [skill, hook] of this.#hooksFor('PreToolUse', tool)) {
      const answer = await this.#run(skill, hook, signal, {
        tool_name: hookName(tool),
        tool_input: verdict.input ?? input,
        tool_use_id: toolCallId,
      })
      if (!answer) {
        const reason = `the hooks of the skill ${skill.activation.name} may not run any more`
        return { decision: 'deny', reason }
      }
      const { decision, reason, context } = answer
      if (context !== undefined) contexts.push(context)
      verdict.input = answer.input ?? verdict.input
      const isStricter = strictness.indexOf(decision) > strictness.indexOf(verdict.decision)
      if (isStricter) Object.assign(verdict, { decision, reason })
      if (decision === 'deny') break
    }
    if (contexts.length > 0) this.#contexts.set(verdict.input ?? input, contexts.join('\n'))
    return verdict
  }

  readonly after: AfterTool = async ({ tool, input, output, failure }) => {
    const texts = [this.#contexts.get(input) ?? []].flat()
    // PostToolUse is about calls that have a result.
    const hooks = failure === 'thrown' ? [] : this.#hooksFor('PostToolUse', tool)
    for (const [skill, hook] of hooks) {
      const facts = { tool_name: hookName(tool), tool_input: input, tool_response: output }
      const answer = await this.#run(skill, hook, undefined, facts)
      if (answer?.blocks || answer?.ends) texts.push(answer.reason ?? '')
      if (answer?.context !== undefined) texts.push(answer.context)
    }
    return texts.length === 0 ? undefined : texts.join('\n')
  }

  /** Asks the Stop hooks about a final answer. Returns their objection, for the model. */
  async stop(text: string, signal: AbortSignal | undefined): Promise<string | undefined> {
    const reasons: string[] = []
    for (const [skill, hook] of this.#hooksFor('Stop')) {
      const facts = { stop_hook_active: this.#stops > 0, last_assistant_message: text }
      const answer = await this.#run(skill, hook, signal, facts)
      if (answer?.ends) return undefined
      if (answer?.blocks) reasons.push(answer.reason ?? '')
    }
    if (reasons.length === 0) return undefined
    this.#stops += 1
    if (this.#stops <= stopLimit) return reasons.join('\n')
    this.#options.notice(`Stop hooks kept the model from ending ${stopLimit} times; now it may.`)
    return undefined
  }

  #hooksFor(event: HookEvent, tool?: AgentTool): (readonly [ActiveSkill, SkillHook])[] {
    return this.#options.skills().flatMap((skill) =>
      skill.hooks
        .filter((hook) => hook.event === event && !this.#done.has(hook))
        .filter((hook) => !tool || hook.matches(tool))
        .map((hook) => [skill, hook] as const),
    )
  }

  /** Runs a hook in the project with its payload on standard input. Undefined if it may not run. */
  async #run(
    { activation: { name }, skill }: ActiveSkill,
    hook: SkillHook,
    signal: AbortSignal | undefined,
    facts: JsonObject,
  ): Promise<HookAnswer | undefined> {
    const { project, mode = 'default', manager, notice } = this.#options
    const { runtime, environment = [] } = this.#options
    const { directory } = skill.info
    const report = (message: string) =>
      notice(`A ${hook.event} hook of the skill ${name}: ${message}.`)
    try {
      await manager.requireTrusted(name, 'run its hooks')
    } catch (error) {
      report(messageOf(error))
      return undefined
    }
    if (hook.once) this.#done.add(hook)
    const payload = {
      session_id: this.#options.sessionId?.() ?? this.#defaultSessionId,
      cwd: project,
      permission_mode: mode === 'dont-ask' ? 'dontAsk' : mode,
      hook_event_name: hook.event,
      ...facts,
    }
    const env = childEnvironment(runtime, environment, {
      SKILLRAIL_SKILL_DIR: directory,
      CLAUDE_SKILL_DIR: directory,
      CLAUDE_PROJECT_DIR: project,
    })
    const command = inSkill(hook.command, directory)
    if (!command.ok) {
      report(`it could not be run: ${command.message}`)
      return { notices: [] }
    }
    const { end, stdout, stderr } = await runProcess({
      ...shellOf(command.line, { env, platform: runtime.platform, cwd: project }),
      cwd: project,
      env,
      stdin: `${JSON.stringify(payload)}\n`,
      timeoutMs: hook.timeoutMs,
      outputLimit,
      signal,
    })
    const output = { stdout: capturedText(stdout), stderr: capturedText(stderr) }
    const answer = readHookAnswer(hook.event, { end, ...output })
    answer.notices.forEach(report)
    return answer
  }
}

/**
 * Replaces a path of the skill at the beginning of a command by the absolute path. A path that leads
 * out of the skill, or to a file that the digest of a skill does not cover, is refused. A path that does
 * not exist in the skill may exist in the project, where hooks run.
 */
function inSkill(
  command: string,
  directory: string,
): { ok: true; line: string } | { ok: false; message: string } {
  const program = directory === '' ? undefined : hookProgram(command)
  if (!program) return { ok: true, line: command }
  const { path, rest } = program
  const resolution = resolveInside(directory, path)
  if (resolution.ok)
    return { ok: true, line: `'${resolution.path.replaceAll("'", `'\\''`)}'${rest}` }
  const isMissing = resolution.code === 'path-missing' && hasNoEntry(join(directory, path))
  return isMissing ? { ok: true, line: command } : resolution
}

/** Whether there is neither a file nor a broken link. */
function hasNoEntry(path: string) {
  try {
    return !lstatSync(path, { throwIfNoEntry: false })
  } catch {
    return false
  }
}
