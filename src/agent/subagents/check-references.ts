import { type Diagnostic, nearest } from '../../base/index.ts'
import type { SkillInfo } from '../../library/index.ts'
import type { FieldPlace } from './agent-file.ts'
import type { SubagentConfig } from './config.ts'
import { findCycle } from './cycles.ts'
import { splitSkill } from './load-skills.ts'
import { referenceGraph } from './reference-graph.ts'

/** A definition, with the file that it comes from. */
export interface DefinedAgent {
  config: SubagentConfig
  path: string
  /** Where its fields are, for diagnostics with a line. */
  places?: ReadonlyMap<string, FieldPlace> | undefined
}

/** What is wrong with the skills that subagents have from the start: not there, or in a circle. */
export function checkReferences(
  agents: readonly DefinedAgent[],
  skills: readonly SkillInfo[],
): Diagnostic[] {
  const names = skills.map(({ name }) => name)
  const configs = new Map(agents.map(({ config }) => [config.name, config]))
  return agents.flatMap(({ config, path, places }) => {
    const place = places?.get('skills')
    const missing = (config.skills ?? [])
      .map((entry) => splitSkill(entry).name)
      .filter((name) => !names.includes(name))
      .map((name): Diagnostic => {
        const meant = nearest(name, names)
        return {
          code: 'agent-skill-missing',
          severity: 'error',
          message: `there is no skill called ${name}, which the subagent is to have`,
          path,
          ...place,
          hint: meant === undefined ? undefined : `Did you mean ${meant}?`,
        }
      })
    const graph = referenceGraph(skills, (name) => configs.get(name), config)
    const cycle = findCycle(graph, { kind: 'agent', name: config.name })
    if (cycle === undefined) return missing
    const circle: Diagnostic = {
      code: 'agent-cycle',
      severity: 'error',
      message: `skills and subagents refer to one another in a circle: ${cycle.join(' -> ')}`,
      path,
      ...place,
      hint: 'Take the skill out of `skills`, or let the skill fork to another subagent.',
    }
    return [...missing, circle]
  })
}
