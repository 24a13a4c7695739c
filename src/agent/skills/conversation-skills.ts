import { alreadyActiveNote, SkillInvocationError } from '../../skill/index.ts'
import type { Activation, InvocationSource } from '../../library/index.ts'
import type { AgentTool } from '../model.ts'
import { toWireNames } from '../tool-names.ts'
import { type ActiveSkill, activeSkill } from './active-skill.ts'
import type { SkillPartOptions } from './skill-world.ts'

/** What an activation comes to: content for the conversation, or the answer of a subagent. */
export type SkillUse =
  | { kind: 'content'; activation: Activation; content: string }
  | { kind: 'forked'; activation: Activation; answer: string }

export interface UseContext {
  /** Other tools that would be offered beside those of the skill. */
  otherTools: readonly AgentTool[]
  /** Whether the conversation holds a text now. */
  contains: (text: string) => boolean
  fork: (activation: Activation) => Promise<string>
  notice: (message: string) => void
  /** Ends the wait for servers; what is there by then is offered. */
  signal: AbortSignal | undefined
}

/**
 * The skills that are active in one conversation. Everything that they allow, offer and run is read
 * off this list, so that ending an activation leaves exactly what was there before.
 */
export interface ConversationSkills {
  readonly active: readonly ActiveSkill[]
  use(
    name: string,
    argumentText: string,
    source: InvocationSource,
    context: UseContext,
  ): Promise<SkillUse>
  /** False when it is not active. */
  end(name: string): Promise<boolean>
  /** The user's turn is over: ends all but those of `kept`. */
  endTurn(kept: ReadonlySet<string>): Promise<readonly string[]>
}

export function createConversationSkills(options: SkillPartOptions): ConversationSkills {
  const { manager, tracked = true } = options
  const active = new Map<string, ActiveSkill>()
  /** Content that went into the conversation in this turn, which its history may not show yet. */
  let given = new Set<string>()

  const skills: ConversationSkills = {
    get active() {
      return [...active.values()]
    },

    async use(name, argumentText, source, context) {
      const prepared = await manager.prepare(name, argumentText, { source })
      for (const { message } of prepared.diagnostics) context.notice(`Skill ${name}: ${message}.`)
      if (prepared.effects.fork !== undefined) {
        refuseWhileNarrowed(prepared.name, skills.active)
        return { kind: 'forked', activation: prepared, answer: await context.fork(prepared) }
      }
      const skill = await manager.get(prepared.name)
      if (skill === undefined) throw gone(name)
      const ready = await activeSkill(prepared, skill, options, context)
      refuseCollisions(ready, context.otherTools, skills.active)
      active.set(prepared.name, ready)
      if (tracked) await manager.activate(prepared.name, argumentText, { source })
      const repeated = given.has(prepared.content) || context.contains(prepared.content)
      given.add(prepared.content)
      const content = repeated ? alreadyActiveNote(prepared.name) : prepared.content
      return { kind: 'content', activation: { ...prepared, repeated, content }, content }
    },

    async end(name) {
      if (tracked) await manager.deactivate(name)
      return active.delete(name)
    },

    async endTurn(kept) {
      given = new Set()
      const ended = [...active.keys()].filter((name) => !kept.has(name))
      for (const name of ended) await skills.end(name)
      return ended
    },
  }
  return skills
}

/** What an untrusted skill is limited to would not hold in a subagent. */
function refuseWhileNarrowed(name: string, active: readonly ActiveSkill[]): void {
  const narrowing = active.find(({ activation }) => activation.effects.narrowedTo !== undefined)
  if (narrowing === undefined) return
  throw new SkillInvocationError({
    code: 'fork-while-narrowed',
    message: `Skill ${name} runs in a subagent, and that is not started while the untrusted skill ${narrowing.activation.name} limits the tools.`,
    hint: 'It can run in the next turn.',
  })
}

/** @throws {ToolNameError} before anything becomes active. */
function refuseCollisions(
  { activation, tools }: ActiveSkill,
  others: readonly AgentTool[],
  active: readonly ActiveSkill[],
): void {
  const kept = active.filter((skill) => skill.activation.name !== activation.name)
  const known = new Set(others)
  const added = new Set([...kept.flatMap((skill) => skill.tools()), ...tools()])
  toWireNames([...others, ...[...added].filter((tool) => !known.has(tool))])
}

function gone(name: string): SkillInvocationError {
  return new SkillInvocationError({
    code: 'skill-gone',
    message: `Skill ${name} was taken away while it was activated.`,
  })
}
