import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf } from '#core/errors'
import type { JsonObject } from '#core/json'
import { resolveInside } from '#core/read-files'
import type { Runtime } from '#core/runtime'
import { capturedText, childEnvironment, runProcess } from '#exec/process'
import type { SkillManager } from '#library/manager'
import { SkillInvocationError } from '#skill/errors'
import { hookProgram } from '#trust/acting-parts'
import type { CallRules, HookVerdict } from '#agent/approval/permit'
import { shellOf } from '#agent/built-in-tools/built-in-tools'
import { usageError } from '#agent/errors'
import type { PermissionMode } from '#agent/subagents/config'
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
  /** Refuses when the skill is no longer trusted: something in it was changed since. */
  manager: Pick<SkillManager, 'requireTrusted'>
  project: string
  mode?: PermissionMode | undefined
  runtime: Runtime
  environment?: readonly string[] | undefined
  notice: (message: string) => void
}

/** How often in one turn hooks may keep a model from ending it. */
const stopLimit = 8

const outputLimit = 131_072

const strictness = [undefined, 'allow', 'ask', 'deny']

/** What the active skills of a conversation say about its calls, its model and its end. */
export class SkillHooks {
  readonly #options: SkillHooksOptions
  readonly #session: string
  /** Text for the model that PreToolUse hooks gave, by the input of the call. */
  readonly #contexts = new WeakMap<JsonObject, string>()
  readonly #done = new WeakSet<SkillHook>()
  #stops = 0

  constructor(options: SkillHooksOptions) {
    this.#options = options
    this.#session = options.runtime.id()
  }

  reset() {
    this.#stops = 0
  }

  has(event: HookEvent) {
    return this.#hooksFor(event).length > 0
  }

  /** What the active skills approve, what untrusted ones limit calls to, and the hooks. */
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

  /** The limits of an untrusted skill would not hold there. @throws {SkillInvocationError} */
  refuseFork(name: string): void {
    const [narrowing] = this.rules.narrowed
    if (!narrowing) return
    const message = `Skill ${name} is not run in a subagent while the untrusted skill ${narrowing.skill} limits the tools.`
    throw new SkillInvocationError({ code: 'fork-while-narrowed', message })
  }

  /** @throws {AgentUsageError} for a skill that the model cannot end. */
  requireEndable(name: string): void {
    if (this.rules.narrowed.some(({ skill }) => skill === name)) {
      const message = `The untrusted skill ${name} limits the tools until the turn of the user ends.`
      throw usageError('skill-narrows', message)
    }
    if (this.#options.skills().some(({ activation }) => activation.name === name)) return
    throw usageError('skill-not-active', `The skill ${name} is not active.`)
  }

  /** Runs the hooks one after the other: each sees the input that the one before it wants. */
  readonly #before = async (
    tool: AgentTool,
    input: JsonObject,
    { toolCallId, signal }: ToolContext,
  ): Promise<HookVerdict> => {
    const verdict: HookVerdict = {}
    const added: string[] = []
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
      if (context !== undefined) added.push(context)
      verdict.input = answer.input ?? verdict.input
      const [now, before] = [decision, verdict.decision].map((one) => strictness.indexOf(one))
      if (Number(now) > Number(before)) Object.assign(verdict, { decision, reason })
      if (decision === 'deny') break
    }
    if (added.length > 0) this.#contexts.set(verdict.input ?? input, added.join('\n'))
    return verdict
  }

  readonly after: AfterTool = async (tool, input, output, isError) => {
    const texts = [this.#contexts.get(input) ?? []].flat()
    // PostToolUse is about calls that succeeded.
    const hooks = isError ? [] : this.#hooksFor('PostToolUse', tool)
    for (const [skill, hook] of hooks) {
      const facts = { tool_name: hookName(tool), tool_input: input, tool_response: output }
      const answer = await this.#run(skill, hook, undefined, facts)
      if (answer?.blocks || answer?.ends) texts.push(answer.reason ?? '')
      if (answer?.context !== undefined) texts.push(answer.context)
    }
    return texts.length === 0 ? undefined : texts.join('\n')
  }

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

  /** Runs a hook in the project with its payload on standard input; undefined: it may not run. */
  async #run(
    { activation: { name }, skill }: ActiveSkill,
    hook: SkillHook,
    signal: AbortSignal | undefined,
    facts: JsonObject,
  ): Promise<HookAnswer | undefined> {
    const { project, mode = 'default', manager, notice } = this.#options
    const { runtime, environment = [] } = this.#options
    const { directory } = skill.info
    const tell = (message: string) =>
      notice(`A ${hook.event} hook of the skill ${name}: ${message}.`)
    try {
      await manager.requireTrusted(name, 'run its hooks')
    } catch (error) {
      tell(messageOf(error))
      return undefined
    }
    if (hook.once) this.#done.add(hook)
    const payload = {
      session_id: this.#session,
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
      tell(`it could not be run: ${command.message}`)
      return { notices: [] }
    }
    const { end, stdout, stderr } = await runProcess({
      ...shellOf(command.line, env, runtime.platform),
      cwd: project,
      env,
      stdin: `${JSON.stringify(payload)}\n`,
      timeoutMs: hook.timeoutMs,
      outputLimit,
      signal,
    })
    const printed = { stdout: capturedText(stdout), stderr: capturedText(stderr) }
    const answer = readHookAnswer(hook.event, { end, ...printed })
    answer.notices.forEach(tell)
    return answer
  }
}

/**
 * The command with the path of a file of the skill where it begins with one. That is refused where it
 * leads out of the skill, or to a file that no digest of a skill covers. A path that does not exist in
 * the skill may be one of the project, where hooks run.
 */
function inSkill(
  command: string,
  directory: string,
): { ok: true; line: string } | { ok: false; message: string } {
  const program = directory === '' ? undefined : hookProgram(command)
  if (!program) return { ok: true, line: command }
  const { path, rest } = program
  const inside = resolveInside(directory, path)
  if (inside.ok) return { ok: true, line: `'${inside.path.replaceAll("'", `'\\''`)}'${rest}` }
  const isElsewhere = inside.code === 'path-missing' && isNowhere(join(directory, path))
  return isElsewhere ? { ok: true, line: command } : inside
}

function isNowhere(path: string) {
  try {
    return !lstatSync(path, { throwIfNoEntry: false })
  } catch {
    return false
  }
}
