import type { Diagnostic } from '../base/index.ts'
import {
  parseSkill,
  readFields,
  readYaml,
  splitFrontmatter,
  type TriggerDeclaration,
} from '../skill/index.ts'

export interface TriggerReading {
  triggers: readonly TriggerDeclaration[]
  diagnostics: readonly Diagnostic[]
}

/**
 * The triggers of a `SKILL.md`, in any YAML spelling. A skill that cannot be installed, for want of a
 * description say, still has them.
 */
export function readTriggers(text: string, path: string): TriggerReading {
  const split = splitFrontmatter(text)
  if (!split.found) return { triggers: [], diagnostics: parseSkill(text, { path }).diagnostics }
  const { root, diagnostics } = readYaml(split.source, { firstLine: split.firstLine, path })
  if (root?.kind !== 'map') return { triggers: [], diagnostics }
  const { fields, diagnostics: found } = readFields(root, { path })
  return { triggers: fields.triggers, diagnostics: [...diagnostics, ...found] }
}
