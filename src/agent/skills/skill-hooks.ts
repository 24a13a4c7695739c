import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { type InsideResolution, messageOf, resolveInside, type Runtime } from '../../base/index.ts'
import { capturedText, childEnvironment, runProcess } from '../../exec/index.ts'
import type { Activation, SkillManager } from '../../library/index.ts'
import type { JsonObject } from '../../tools/index.ts'
import { hookProgram } from '../../trust/index.ts'
import type { CallRules, HookVerdict } from '../approval/permit.ts'
import { shellOf } from '../built-in-tools/shell.ts'
import type { SessionPart } from '../session.ts'
import {
  type HookAnswer,
  type HookEvent,
  hookName,
  readHookAnswer,
  readHooks,
  type SkillHook,
} from './hook-format.ts'
import type { PermissionMode } from '../subagents/config.ts'
import type { AgentTool, LoopRequest } from '../types.ts'

/** The hooks of one active skill. */
interface HookedSkill {
  name: string
  directory: string
  hooks: readonly SkillHook[]
}

interface SkillHooksOptions {
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
interface SkillHooks {
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

interface HeldHooksOptions {
  manager: SkillManager | undefined
  runtime: Runtime
  /** The working directory. */
  project: string
  environment?: readonly string[] | undefined
  mode: PermissionMode
  notice: (message: string) => void
}

/** The hooks of skills that a subagent has from the start, for as long as it lives; often none. */
export function heldHooks(
  activations: readonly Activation[],
  options: HeldHooksOptions,
): Pick<CallRules, 'beforeTool'> & Pick<SessionPart, 'afterTool' | 'beforeStop'> {
  const hooked = activations.filter(({ effects }) => effects.hooks !== undefined)
  if (hooked.length === 0) return {}
  let opening: Promise<SkillHooks | undefined> | undefined
  const hooks = (): Promise<SkillHooks | undefined> => (opening ??= open(hooked, options))
  return {
    async beforeTool(tool, input, { toolCallId, signal }) {
      const verdict = await (await hooks())?.before(tool, input, { id: toolCallId, signal })
      return verdict ?? { decision: undefined, reason: '', input: undefined }
    },
    afterTool: async (...call) => (await hooks())?.after(...call),
    beforeStop: async (text) => (await hooks())?.stop(text, undefined),
  }
}

async function open(
  activations: readonly Activation[],
  { manager, runtime, project, environment = [], mode, notice }: HeldHooksOptions,
): Promise<SkillHooks | undefined> {
  if (manager === undefined) return undefined
  const skills = await Promise.all(
    activations.map(async ({ name, effects }) => {
      const skill = await manager.get(name)
      return {
        name,
        directory: skill?.info.directory ?? '',
        hooks: readHooks(effects.hooks).hooks,
      }
    }),
  )
  return createSkillHooks({
    skills: () => skills,
    confirm: (name) => manager.requireTrusted(name, 'run its hooks'),
    project,
    session: runtime.id(),
    mode,
    runtime,
    environment,
    notice,
  })
}

/** Bytes kept of what a hook prints. */
const outputLimit = 131_072

/** Where hooks run. */
interface HookPlace {
  project: string
  skillDirectory: string
  runtime: Pick<Runtime, 'env' | 'platform'>
  environment: readonly string[]
  signal?: AbortSignal | undefined
}

/**
 * Runs a hook in the project with its payload on standard input. A command that begins with the path
 * of a file of the skill runs that file. It is not run where that leads out of the skill, or to what
 * no digest of a skill has.
 */
async function runHook(
  hook: SkillHook,
  payload: JsonObject,
  place: HookPlace,
): Promise<HookAnswer> {
  const { project, skillDirectory, runtime } = place
  const env = childEnvironment(runtime, place.environment, {
    SKILLRAIL_SKILL_DIR: skillDirectory,
    CLAUDE_SKILL_DIR: skillDirectory,
    CLAUDE_PROJECT_DIR: project,
  })
  const command = inSkill(hook.command, skillDirectory)
  if (!command.ok) {
    const end = { kind: 'not-started', message: command.message } as const
    return readHookAnswer(hook.event, { end, stdout: '', stderr: '' })
  }
  const { end, stdout, stderr } = await runProcess({
    ...shellOf(command.line, env, runtime.platform),
    cwd: project,
    env,
    stdin: `${JSON.stringify(payload)}\n`,
    timeoutMs: hook.timeoutMs,
    outputLimit,
    signal: place.signal,
  })
  return readHookAnswer(hook.event, {
    end,
    stdout: capturedText(stdout),
    stderr: capturedText(stderr),
  })
}

type CommandInSkill = { ok: true; line: string } | Extract<InsideResolution, { ok: false }>

/** A path that is not there at all may be one of the project, where hooks run. */
function inSkill(command: string, directory: string): CommandInSkill {
  const program = directory === '' ? undefined : hookProgram(command)
  if (program === undefined) return { ok: true, line: command }
  const { path, rest } = program
  const inside = resolveInside(directory, path)
  if (inside.ok) return { ok: true, line: `'${inside.path.replaceAll("'", `'\\''`)}'${rest}` }
  const isElsewhere = inside.code === 'path-missing' && isNowhere(join(directory, path))
  return isElsewhere ? { ok: true, line: command } : inside
}

/** A link that leads nowhere is there. */
function isNowhere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) === undefined
  } catch {
    return false
  }
}
