import type { Activation } from '../../library/index.ts'
import { formatAllowedTools, SkillInvocationError } from '../../skill/index.ts'
import type { SubagentConfig } from './config.ts'

/** What a skill with `context: fork` is carried out by, and what that is told. */
export interface Fork {
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
