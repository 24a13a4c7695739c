import type { Activation, InvocationSource } from '../../library/activation.ts'
import type { SkillManager } from '../../library/manager.ts'
import type { SkillInfo } from '../../library/model.ts'
import { formatAllowedTools } from '../../skill/allowed-tools.ts'
import { SkillInvocationError, SkillNotFoundError } from '../../skill/errors.ts'
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
  for (const entry of entries) {
    const { name, argumentText } = splitSkill(entry)
    try {
      if (manager !== undefined) loaded.push(await manager.prepare(name, argumentText, { source }))
    } catch (error) {
      throw explained(error, name, subagent)
    }
    if (manager !== undefined) continue
    throw new SkillNotFoundError({
      code: 'skill-not-found',
      message: `There is no skill named ${name}, which the subagent ${subagent} wants: its parent has no skills.`,
      hint: 'Give the parent `skills` or `skillDirs`.',
    })
  }
  return loaded
}

function explained(error: unknown, name: string, subagent: string): unknown {
  if (error instanceof SkillNotFoundError) {
    return new SkillNotFoundError({
      code: error.code,
      message: `There is no skill named ${name}, which the subagent ${subagent} is to have.`,
      hint: error.hint,
      cause: error,
    })
  }
  const code = 'model-invocation-disabled'
  if (!(error instanceof SkillInvocationError) || error.code !== code) return error
  const message = `The ${notForModels(subagent, name)}.`
  return new SkillInvocationError({ code, message, hint: forWhom, cause: error })
}

/** Why a model never comes to a subagent, to go behind `the`. */
export function notForModels(subagent: string, skill: string): string {
  return `subagent ${subagent} may not be started by a model: its skill ${skill} sets disable-model-invocation`
}

export const forWhom: string =
  'A user or a program can delegate to it, and so can a skill with `context: fork` that a user activates.'

/**
 * Turns a skill into a task for a subagent: the one that it names, or a copy of its parent without
 * delegation. Either way with the tools that the skill allows, as far as the parent has them.
 */
export function forkOf(
  { name, effects, content, arguments: given, trustLevel }: Activation,
  named: SubagentConfig | undefined,
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
  const own = { name: forkName(name), description: `Carries out the skill ${name}.` }
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
  const isSkill = 'effects' in start
  const first = `${isSkill ? 'skill' : 'agent'}:${start.name}`
  const seen = new Set<string>()
  return visit(first, [])

  function visit(label: string, path: readonly string[]): readonly string[] | undefined {
    const before = path.indexOf(label)
    if (before !== -1) return [...path.slice(before), label]
    if (seen.has(label)) return undefined
    seen.add(label)
    for (const next of followers(label)) {
      const cycle = visit(next, [...path, label])
      if (cycle !== undefined) return cycle
    }
    return undefined
  }

  function followers(label: string): string[] {
    const name = label.slice('skill:'.length)
    if (label.startsWith('agent:')) {
      const config = label === first && !isSkill ? start : configOf(name)
      return (config?.skills ?? []).map((entry) => `skill:${splitSkill(entry).name}`)
    }
    const fields = skills.find((skill) => skill.name === name)?.fields
    const declared = fields?.context === 'fork' ? fields.agent : undefined
    const agent = label === first && isSkill ? start.effects.fork?.agent : declared
    return agent === undefined ? [] : [`agent:${agent}`]
  }
}
