import { type Diagnostic, nearest } from '../../base/index.ts'
import type { SkillInfo } from '../../library/index.ts'
import type { FieldPlace } from './agent-file.ts'
import type { SubagentConfig } from './config.ts'
import { findCycle } from './cycles.ts'
import { forWhom, notForModels, splitSkill } from './load-skills.ts'
import { referenceGraph } from './reference-graph.ts'

/** A definition, with the file that it comes from. */
export interface DefinedAgent {
  config: SubagentConfig
  path: string
  /** Where its fields are, for diagnostics with a line. */
  places?: ReadonlyMap<string, FieldPlace> | undefined
}

/**
 * What is wrong with the skills that subagents have from the start: not there, for persons alone, or in
 * a circle.
 */
export function checkReferences(
  agents: readonly DefinedAgent[],
  skills: readonly SkillInfo[],
): Diagnostic[] {
  const names = skills.map(({ name }) => name)
  const withheld = skills
    .filter(({ fields }) => fields.disableModelInvocation)
    .map(({ name }) => name)
  const configs = new Map(agents.map(({ config }) => [config.name, config]))
  return agents.flatMap(({ config, path, places }) => {
    const place = places?.get('skills')
    const wanted = (config.skills ?? []).map((entry) => splitSkill(entry).name)
    const missing = wanted
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
    const personal = wanted
      .filter((name) => withheld.includes(name))
      .map((name): Diagnostic => ({
        code: 'agent-not-for-models',
        severity: 'warning',
        message: `the ${notForModels(config.name, name)}`,
        path,
        ...place,
        hint: forWhom,
      }))
    const found = [...missing, ...personal]
    const graph = referenceGraph(skills, (name) => configs.get(name), config)
    const cycle = findCycle(graph, { kind: 'agent', name: config.name })
    if (cycle === undefined) return found
    const circle: Diagnostic = {
      code: 'agent-cycle',
      severity: 'error',
      message: `skills and subagents refer to one another in a circle: ${cycle.join(' -> ')}`,
      path,
      ...place,
      hint: 'Take the skill out of `skills`, or let the skill fork to another subagent.',
    }
    return [...found, circle]
  })
}
