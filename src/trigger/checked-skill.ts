import type { TriggerSkill } from './match.ts'

/** A skill whose triggers are checked: the whole text of its `SKILL.md`, and its body. */
export interface CheckedSkill extends TriggerSkill {
  text: string
  /** What stands behind the closing `---`, as it is. */
  body: string
}
