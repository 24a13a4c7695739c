import { readRegularFile } from '../base/index.ts'
import { maxSkillBytes } from './load-skill.ts'
import type { SkillSummary } from './model.ts'

/** Whether two skills are copies of each other: the same bytes in their `SKILL.md`. */
export function sameContent(a: SkillSummary, b: SkillSummary): boolean {
  if (a.size !== b.size) return false
  const first = readRegularFile(a.path, { maxBytes: maxSkillBytes })
  const second = readRegularFile(b.path, { maxBytes: maxSkillBytes })
  return first.ok && second.ok && first.bytes.equals(second.bytes)
}
