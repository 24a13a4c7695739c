import type { Activation, InvocationSource, SkillInfo, SkillManager } from '../../library/index.ts'
import { formatAllowedTools, SkillInvocationError, SkillNotFoundError } from '../../skill/index.ts'
import { SubagentConfigError } from '../errors.ts'
import type { SubagentConfig } from './config.ts'

/** A name of `skills`, with the arguments behind it. */
export function splitSkill(entry: string): { name: string; argumentText: string } {
  const text = entry.trim()
  const blank = text.search(/\s/)
  if (blank === -1) return { name: text, argumentText: '' }
  return { name: text.slice(0, blank), argumentText: text.slice(blank).trim() }
}

/**
 * The whole content of skills that a subagent has from the start, arguments in place. Nothing becomes
 * active in the conversation of the parent. The definition names them, not whoever delegates; only a
 * model must not come by it to what is withheld from it.
 *
 * @throws {SkillNotFoundError} for one that is not there, {SkillInvocationError} for one that no model
 *   may start, and what else a skill that cannot be used throws.
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
    if (manager === undefined) throw withoutSkills(name, subagent)
    try {
      loaded.push(await manager.prepare(name, argumentText, { source }))
    } catch (error) {
      if (error instanceof SkillNotFoundError) throw wantedBy(subagent, name, error)
      throw isWithheld(error) ? withheldBy(subagent, name, error) : error
    }
  }
  return loaded
}

function wantedBy(subagent: string, name: string, error: SkillNotFoundError): SkillNotFoundError {
  return new SkillNotFoundError({
    code: error.code,
    message: `There is no skill called ${name}, which the subagent ${subagent} is to have.`,
    hint: error.hint,
    cause: error,
  })
}

function isWithheld(error: unknown): boolean {
  return error instanceof SkillInvocationError && error.code === 'model-invocation-disabled'
}

function withheldBy(subagent: string, name: string, cause: unknown): SkillInvocationError {
  return new SkillInvocationError({
    code: 'model-invocation-disabled',
    message: `The ${notForModels(subagent, name)}.`,
    hint: forWhom,
    cause,
  })
}

/** Why a model never comes to a subagent, to go behind `the`. */
export function notForModels(subagent: string, skill: string): string {
  return `subagent ${subagent} may not be started by a model: its skill ${skill} sets disable-model-invocation`
}

export const forWhom: string =
  'A person can delegate to it, a program too, and so can a skill with `context: fork` that a person activates.'

function withoutSkills(name: string, subagent: string): SkillNotFoundError {
  return new SkillNotFoundError({
    code: 'skill-not-found',
    message: `There is no skill called ${name}, which the subagent ${subagent} wants: its parent has no skills.`,
    hint: 'Give the parent `skills` or `skillDirs`.',
  })
}

/** What a skill with `context: fork` is carried out by, and what that is told. */
interface Fork {
  config: SubagentConfig
  task: string
}

/**
 * Turns a skill into a task for a subagent: the one that it names, or a copy of its parent without
 * delegation. Either way with the tools that the skill allows, as far as the parent has them.
 *
 * @param named the definition that `agent` of the skill names; undefined where it names none.
 * @throws {SkillInvocationError} for a skill that may not fork.
 */
export function forkOf(activation: Activation, named: SubagentConfig | undefined): Fork {
  const { name, effects } = activation
  if (effects.fork === undefined) throw mayNotFork(activation)
  const allowed = effects.preApproved.map((tool) => formatAllowedTools([tool]))
  const model = effects.model ?? named?.model
  const config: SubagentConfig =
    named === undefined
      ? {
          name: forkName(name),
          description: `Carries out the skill ${name}.`,
          tools: ['*'],
          model,
        }
      : { ...named, tools: withAllowed(named.tools, allowed), model }
  return { config, task: forkTask(activation) }
}

/** What a fork without `agent` is called in events and usage. */
export function forkName(skill: string): string {
  return `fork-${skill}`.slice(0, 64)
}

function withAllowed(
  tools: SubagentConfig['tools'],
  allowed: readonly string[],
): SubagentConfig['tools'] {
  return [...(tools ?? []), ...allowed]
}

/** Without this a model describes the skill in place of doing it. */
function forkTask({ name, content, arguments: given }: Activation): string {
  return [
    `Carry out the skill "${name}" now: follow its instructions to the end with the tools that you have, then answer with the result. Do not describe or repeat the instructions.`,
    `Arguments: ${given.trim() === '' ? '(none)' : given}`,
    content,
  ].join('\n\n')
}

function mayNotFork({ name, trustLevel }: Activation): SkillInvocationError {
  const untrusted = trustLevel === 'untrusted'
  return new SkillInvocationError({
    code: untrusted ? 'fork-untrusted' : 'fork-undeclared',
    message: untrusted
      ? `Skill ${name} may not run in a subagent: it is untrusted.`
      : `Skill ${name} does not say that it runs in a subagent.`,
    hint: untrusted
      ? 'skillrail trust shows what it could do, and allows it.'
      : 'Add `context: fork` to its frontmatter, or activate it.',
  })
}

/**
 * Who refers to whom among skills and subagents.
 *
 * @param given the definition or the skill at the beginning, which may be in no registry.
 */
export function referenceGraph(
  skills: readonly SkillInfo[],
  configOf: (name: string) => SubagentConfig | undefined,
  given?: SubagentConfig | Activation,
): ReferenceGraph {
  return {
    agentOf: (name) => {
      if (given !== undefined && 'effects' in given && given.name === name) {
        return given.effects.fork?.agent
      }
      const fields = skills.find((skill) => skill.name === name)?.fields
      return fields?.context === 'fork' ? fields.agent : undefined
    },
    skillsOf: (name) => {
      const own =
        given === undefined || 'effects' in given || given.name !== name ? undefined : given
      return ((own ?? configOf(name))?.skills ?? []).map((entry) => splitSkill(entry).name)
    },
  }
}

/** What the search for circles needs to know of skills and subagents. */
interface ReferenceGraph {
  /** The subagent that a skill forks to; undefined for one that does not, or is unknown. */
  agentOf: (skill: string) => string | undefined
  /** The skills that a subagent has from the start. */
  skillsOf: (agent: string) => readonly string[]
}

/** Where a search begins or has come to. */
export interface ReferenceNode {
  kind: 'skill' | 'agent'
  name: string
}

/**
 * A way from a skill or a subagent back to itself: a skill that forks to a subagent which has that
 * skill from the start. The first and the last name are the same; undefined where there is none.
 */
export function findCycle(
  graph: ReferenceGraph,
  start: ReferenceNode,
): readonly string[] | undefined {
  const path: string[] = []
  const seen = new Set<string>()
  return visit(start)

  function visit(node: ReferenceNode): readonly string[] | undefined {
    const label = `${node.kind}:${node.name}`
    const before = path.indexOf(label)
    if (before !== -1) return [...path.slice(before), label]
    if (seen.has(label)) return undefined
    seen.add(label)
    path.push(label)
    for (const next of nextOf(graph, node)) {
      const cycle = visit(next)
      if (cycle !== undefined) return cycle
    }
    path.pop()
    return undefined
  }
}

/** @throws {SubagentConfigError} that names the way. */
export function refuseCycle(graph: ReferenceGraph, start: ReferenceNode): void {
  const cycle = findCycle(graph, start)
  if (cycle === undefined) return
  throw new SubagentConfigError({
    code: 'subagent-cycle',
    message: `Skills and subagents refer to one another in a circle: ${cycle.join(' -> ')}.`,
    hint: 'Take the skill out of the `skills` of the subagent, or let the skill fork to another one.',
  })
}

function nextOf(graph: ReferenceGraph, { kind, name }: ReferenceNode): ReferenceNode[] {
  if (kind === 'agent') return graph.skillsOf(name).map((skill) => ({ kind: 'skill', name: skill }))
  const agent = graph.agentOf(name)
  return agent === undefined ? [] : [{ kind: 'agent', name: agent }]
}
