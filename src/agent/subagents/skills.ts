import type { Activation, InvocationSource } from '../../library/activation.ts'
import type { SkillManager } from '../../library/manager.ts'
import type { SkillInfo } from '../../library/model.ts'
import { formatAllowedTools } from '../../skill/allowed-tools.ts'
import { SkillInvocationError, SkillNotFoundError } from '../../skill/errors.ts'
import type { AgentOptions } from '../agent-options.ts'
import type { SubagentConfig } from './config.ts'

export function splitSkill(entry: string): { name: string; argumentText: string } {
  const [, name = '', argumentText = ''] = /^\s*(\S+)\s*([\s\S]*)$/.exec(entry) ?? []
  return { name, argumentText: argumentText.trimEnd() }
}

/**
 * The whole content of skills that a subagent has from the start, arguments in place. Nothing becomes
 * active in the conversation of the parent. The definition names them, not whoever delegates; only a
 * model must not come by it to what is withheld from it.
 */
export async function loadSkills(
  entries: readonly string[],
  manager: SkillManager | undefined,
  subagent: string,
  delegator: InvocationSource = 'code',
): Promise<readonly Activation[]> {
  const source = delegator === 'model' ? 'model' : 'code'
  const loaded: Activation[] = []
  for (const { name, argumentText } of entries.map(splitSkill)) {
    const message = `There is no skill named ${name}, which the subagent ${subagent} is to have.`
    const code = 'skill-not-found'
    if (manager === undefined) {
      const hint = 'Its parent has no skills: give the parent `skills` or `skillDirs`.'
      throw new SkillNotFoundError({ code, message, hint })
    }
    try {
      loaded.push(await manager.prepare(name, argumentText, { source }))
    } catch (error) {
      if (error instanceof SkillNotFoundError) {
        throw new SkillNotFoundError({ code, message, hint: error.hint, cause: error })
      }
      if (!(error instanceof SkillInvocationError)) throw error
      if (error.code !== 'model-invocation-disabled') throw error
      const reason = `The ${notForModels(subagent, name)}.`
      const facts = { code: error.code, message: reason, hint: forWhom, cause: error }
      throw new SkillInvocationError(facts)
    }
  }
  return loaded
}

/** Why a model never comes to a subagent, to go behind `the`. */
export function notForModels(subagent: string, skill: string): string {
  return `subagent ${subagent} may not be started by a model: its skill ${skill} sets disable-model-invocation`
}

export const forWhom: string =
  'A user or a program can delegate to it, and so can a skill with `context: fork` that a user activates.'

/** Turns a skill into a task for the subagent that it names, or for a copy of its parent. */
export function forkOf(
  { name, effects, content, arguments: given, trustLevel }: Activation,
  named: SubagentConfig | undefined,
  parent: Pick<AgentOptions, 'instructions'>,
): { config: SubagentConfig; task: string } {
  if (effects.fork === undefined) {
    throw trustLevel === 'untrusted'
      ? new SkillInvocationError({
          code: 'fork-untrusted',
          message: `Skill ${name} may not run in a subagent: it is untrusted.`,
          hint: 'Review and trust it with: skillrail trust',
        })
      : new SkillInvocationError({
          code: 'fork-undeclared',
          message: `Skill ${name} does not say that it runs in a subagent.`,
          hint: 'Add `context: fork` to its frontmatter, or activate it.',
        })
  }
  const allowed = effects.preApproved.map((tool) => formatAllowedTools([tool]))
  const own = {
    name: forkName(name),
    description: `Carries out the skill ${name}.`,
    systemPrompt: parent.instructions,
  }
  const tools = named === undefined ? ['*'] : [...(named.tools ?? []), ...allowed]
  // Without the first sentence a model describes the skill instead of doing it.
  const task = [
    `Carry out the skill "${name}" now: follow its instructions to the end with the tools that you have, then answer with the result. Do not describe or repeat the instructions.`,
    `Arguments: ${given.trim() === '' ? '(none)' : given}`,
    content,
  ].join('\n\n')
  return { config: { ...(named ?? own), tools, model: effects.model ?? named?.model }, task }
}

/** What a fork without `agent` is called in events and usage. */
export function forkName(skill: string): string {
  return `fork-${skill}`.slice(0, 64)
}

type SubagentSkills = Pick<SubagentConfig, 'name' | 'skills'>

/**
 * The way from a subagent or a skill back to itself, as `agent:NAME` and `skill:NAME`: a skill forks to
 * a subagent that has the skill from the start. The first and the last label are the same; undefined
 * where there is no cycle.
 */
export function findCycle(
  start: SubagentSkills | { name: string; effects: Pick<Activation['effects'], 'fork'> },
  skills: readonly { name: string; fields: Pick<SkillInfo['fields'], 'context' | 'agent'> }[],
  configOf: (name: string) => SubagentSkills | undefined,
): readonly string[] | undefined {
  const seen = new Set<string>()
  const skillsOf = (config: SubagentSkills | undefined): string[] =>
    (config?.skills ?? []).map((entry) => `skill:${splitSkill(entry).name}`)
  const agentOf = (agent: string | undefined): string[] =>
    agent === undefined ? [] : [`agent:${agent}`]
  return 'effects' in start
    ? visit(`skill:${start.name}`, [], agentOf(start.effects.fork?.agent))
    : visit(`agent:${start.name}`, [], skillsOf(start))

  function visit(
    label: string,
    path: readonly string[],
    followers: readonly string[] = followersOf(label),
  ): readonly string[] | undefined {
    const before = path.indexOf(label)
    if (before !== -1) return [...path.slice(before), label]
    if (seen.has(label)) return undefined
    seen.add(label)
    for (const next of followers) {
      const cycle = visit(next, [...path, label])
      if (cycle !== undefined) return cycle
    }
    return undefined
  }

  function followersOf(label: string): string[] {
    const name = label.slice('skill:'.length)
    if (label.startsWith('agent:')) return skillsOf(configOf(name))
    const fields = skills.find((skill) => skill.name === name)?.fields
    return agentOf(fields?.context === 'fork' ? fields.agent : undefined)
  }
}
