import { type Diagnostic, SkillrailError } from '../../base/index.ts'
import { readModelName } from '../models/resolve-model.ts'
import type { DefinedAgent } from './check-references.ts'

/**
 * Models of subagents that cannot be had. Only warnings, because a program may bring a provider of any
 * name, and other clients have names of their own for models.
 */
export function checkModels(agents: readonly DefinedAgent[]): Diagnostic[] {
  return agents.flatMap(({ config: { model }, path, places }): Diagnostic[] => {
    if (typeof model !== 'string') return []
    try {
      readModelName(model)
      return []
    } catch (error) {
      if (!(error instanceof SkillrailError)) throw error
      const { message, hint } = error
      const place = places?.get('model')
      return [{ code: 'agent-model-unknown', severity: 'warning', message, path, ...place, hint }]
    }
  })
}
