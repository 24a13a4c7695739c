import type { Activation, SkillInfo } from '../../library/index.ts'
import type { SubagentConfig } from './config.ts'
import type { ReferenceGraph } from './cycles.ts'
import { splitSkill } from './load-skills.ts'

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
