import type { Activation, InvocationSource } from '#library/activation'
import type { SkillManager } from '#library/manager'
import type { SkillInfo } from '#library/model'
import { formatAllowedTools } from '#skill/allowed-tools'
import { SkillInvocationError, SkillNotFoundError } from '#skill/errors'
import type { AgentOptions } from '#agent/agent-options'
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
  const noSkills = new SkillNotFoundError({
    code: 'skill-not-found',
    message: 'The parent has no skills.',
    hint: 'Give the parent `skills` or `skillDirs`.',
  })
  const loaded: Activation[] = []
  for (const { name, argumentText } of entries.map(splitSkill)) {
    try {
      if (!manager) throw noSkills
      loaded.push(await manager.prepare(name, argumentText, { source }))
    } catch (error) {
      if (error instanceof SkillNotFoundError) {
        const message = `There is no skill named ${name}, which the subagent ${subagent} is to have.`
        throw new SkillNotFoundError({ code: error.code, message, hint: error.hint, cause: error })
      }
      const { code } = error instanceof SkillInvocationError ? error : {}
      if (code !== 'model-invocation-disabled') throw error
      const message = `The ${notForModels(subagent, name)}.`
      throw new SkillInvocationError({ code, message, hint: forWhom, cause: error })
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
  if (!effects.fork) {
    const isUntrusted = trustLevel === 'untrusted'
    const why = isUntrusted ? 'it is untrusted' : 'it has no `context: fork`'
    throw new SkillInvocationError({
      code: isUntrusted ? 'fork-untrusted' : 'fork-undeclared',
      message: `Skill ${name} may not run in a subagent: ${why}.`,
      hint: isUntrusted ? 'Review and trust it with: skillrail trust' : 'Activate it instead.',
    })
  }
  const allowed = effects.preApproved.map((tool) => formatAllowedTools([tool]))
  const own = {
    name: forkName(name),
    description: `Carries out the skill ${name}.`,
    systemPrompt: parent.instructions,
  }
  const tools = named ? [...(named.tools ?? []), ...allowed] : ['*']
  // Without the first sentence a model describes the skill instead of doing it.
  const task = [
    `Carry out the skill "${name}" now: follow its instructions to the end with the tools that you have, then answer with the result. Do not describe or repeat the instructions.`,
    `Arguments: ${given.trim() === '' ? '(none)' : given}`,
    content,
  ].join('\n\n')
  return { config: { ...(named ?? own), tools, model: effects.model ?? named?.model }, task }
}

export function forkName(skill: string): string {
  return `fork-${skill}`.slice(0, 64)
}

export const cycleHint =
  'Take the skill out of the `skills` of the subagent, or let the skill fork to another one.'

/**
 * The way from `agent:NAME` or `skill:NAME` back to itself: a skill forks to a subagent that has the
 * skill from the start. The first and the last label are the same; undefined where there is no cycle.
 */
export function findCycle(
  start: string,
  skills: readonly { name: string; fields: Pick<SkillInfo['fields'], 'context' | 'agent'> }[],
  configOf: (name: string) => Pick<SubagentConfig, 'skills'> | undefined,
): readonly string[] | undefined {
  const seen = new Set<string>()
  return visit(start, [])

  function visit(label: string, path: readonly string[]): readonly string[] | undefined {
    const before = path.indexOf(label)
    if (before !== -1) return [...path.slice(before), label]
    if (seen.has(label)) return undefined
    seen.add(label)
    for (const next of followersOf(label)) {
      const cycle = visit(next, [...path, label])
      if (cycle) return cycle
    }
    return undefined
  }

  function followersOf(label: string): string[] {
    const name = label.slice('skill:'.length)
    if (label.startsWith('agent:')) {
      return (configOf(name)?.skills ?? []).map((entry) => `skill:${splitSkill(entry).name}`)
    }
    const { context, agent } = skills.find((skill) => skill.name === name)?.fields ?? {}
    return context === 'fork' && agent !== undefined ? [`agent:${agent}`] : []
  }
}
