import type { Activation, InvocationSource } from '#library/activation'
import type { SkillManager } from '#library/manager'
import type { SkillInfo } from '#library/model'
import { formatAllowedTools } from '#skill/allowed-tools'
import { SkillInvocationError, SkillNotFoundError } from '#skill/errors'
import type { AgentOptions } from '#agent/agent-options'
import { splitSkill } from '#agent/skills/skill-set'
import type { SubagentConfig } from './config.ts'

/** The skills of a delegating agent. */
interface ParentSkills {
  manager: SkillManager
  sessionId: () => string | undefined
}

/**
 * Prepares the skills that a subagent's definition names, with their arguments. They do not become
 * active in the conversation of the parent. A model that delegates gets no skill that disables its
 * invocation by models.
 */
export async function loadSkills(
  entries: readonly string[],
  parent: ParentSkills | undefined,
  subagent: string,
  delegator: InvocationSource = 'code',
): Promise<readonly Activation[]> {
  const source = delegator === 'model' ? 'model' : 'code'
  const activations: Activation[] = []
  for (const { name, argumentText } of entries.map(splitSkill)) {
    try {
      if (!parent) throw parentWithoutSkills()
      const sessionId = parent.sessionId()
      activations.push(await parent.manager.prepare(name, argumentText, { source, sessionId }))
    } catch (error) {
      throw skillError(error, name, subagent)
    }
  }
  return activations
}

function parentWithoutSkills(): SkillNotFoundError {
  const hint = 'Give the parent `skills` or `skillDirs`.'
  const message = 'The parent has no skills.'
  return new SkillNotFoundError({ code: 'skill-not-found', message, hint })
}

/** Returns the error about a skill of a definition, with the name of the subagent. */
function skillError(error: unknown, skill: string, subagent: string): unknown {
  if (error instanceof SkillNotFoundError) {
    const message = `There is no skill named ${skill}, which the subagent ${subagent} needs.`
    return new SkillNotFoundError({ code: error.code, message, hint: error.hint, cause: error })
  }
  const code = error instanceof SkillInvocationError ? error.code : undefined
  if (code !== 'model-invocation-disabled') return error
  const message = `The ${notForModels(subagent, skill)}.`
  return new SkillInvocationError({ code, message, hint: notForModelsHint, cause: error })
}

/** Returns why no model can delegate to a subagent; the text continues a sentence after `The`. */
export function notForModels(subagent: string, skill: string): string {
  return `subagent ${subagent} may not be started by a model: its skill ${skill} sets disable-model-invocation`
}

export const notForModelsHint: string =
  'A user or a program can delegate to it, and so can a skill with `context: fork` that a user activates.'

/**
 * Turns a skill with `context: fork` into a task for the subagent that the skill names, or for one
 * with the instructions and tools of its parent.
 *
 * @throws {SkillInvocationError} for a skill that may not run in a subagent.
 */
export function forkedTask(
  activation: Activation,
  subagent: SubagentConfig | undefined,
  parent: Pick<AgentOptions, 'instructions'>,
): { config: SubagentConfig; task: string } {
  requireFork(activation)
  const { name, effects, content } = activation
  const base = subagent ?? {
    name: forkName(name),
    description: `Carries out the skill ${name}.`,
    systemPrompt: parent.instructions,
  }
  const preApproved = effects.preApproved.map((tool) => formatAllowedTools([tool]))
  const tools = subagent ? [...(subagent.tools ?? []), ...preApproved] : ['*']
  const argumentText = activation.arguments.trim() === '' ? '(none)' : activation.arguments
  // Without the first sentence a model describes the skill instead of carrying it out.
  const task = [
    `Carry out the skill "${name}" now: follow its instructions to the end with the tools that you have, then answer with the result. Do not describe or repeat the instructions.`,
    `Arguments: ${argumentText}`,
    content,
  ].join('\n\n')
  return { config: { ...base, tools, model: effects.model ?? subagent?.model }, task }
}

function requireFork({ name, effects, trustLevel }: Activation): void {
  if (effects.fork) return
  const isUntrusted = trustLevel === 'untrusted'
  const reason = isUntrusted ? 'it is untrusted' : 'it has no `context: fork`'
  throw new SkillInvocationError({
    code: isUntrusted ? 'fork-untrusted' : 'fork-undeclared',
    message: `Skill ${name} may not run in a subagent: ${reason}.`,
    hint: isUntrusted ? 'Review and trust it with: skillrail trust' : 'Activate it instead.',
  })
}

export function forkName(skill: string): string {
  return `fork-${skill}`.slice(0, 64)
}

export const cycleHint =
  'Take the skill out of the `skills` of the subagent, or let the skill fork to another one.'

/**
 * Finds a cycle that can be reached from `agent:NAME` or `skill:NAME`: a skill forks to a subagent
 * whose definition names the skill. The first and the last label of the cycle are the same.
 */
export function findCycle(
  start: string,
  skills: readonly { name: string; fields: Pick<SkillInfo['fields'], 'context' | 'agent'> }[],
  configOf: (name: string) => Pick<SubagentConfig, 'skills'> | undefined,
): readonly string[] | undefined {
  const visited = new Set<string>()
  return visit(start, [])

  function visit(label: string, path: readonly string[]): readonly string[] | undefined {
    const firstIndex = path.indexOf(label)
    if (firstIndex !== -1) return [...path.slice(firstIndex), label]
    if (visited.has(label)) return undefined
    visited.add(label)
    for (const next of successors(label)) {
      const cycle = visit(next, [...path, label])
      if (cycle) return cycle
    }
    return undefined
  }

  function successors(label: string): string[] {
    const name = label.slice('skill:'.length)
    if (label.startsWith('agent:')) {
      return (configOf(name)?.skills ?? []).map((entry) => `skill:${splitSkill(entry).name}`)
    }
    const { context, agent } = skills.find((skill) => skill.name === name)?.fields ?? {}
    return context === 'fork' && agent !== undefined ? [`agent:${agent}`] : []
  }
}
