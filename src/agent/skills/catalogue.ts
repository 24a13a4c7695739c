import type { SkillInfo } from '../../library/index.ts'
import { renderCatalog } from '../../skill/index.ts'

/** What the model is told of the skills that it may activate. */
export interface SkillCatalogue {
  /** For the instructions; empty where there is no skill. */
  text: string
  /** What the model may activate, in order of precedence. */
  skills: readonly SkillInfo[]
  /** Whether some are not in the text, so that they must be searched for. */
  incomplete: boolean
}

/**
 * The skills that the model may activate, within a budget: descriptions are cut first, then skills
 * left out. One that runs in a subagent says so.
 */
export function skillCatalogue(all: readonly SkillInfo[], tokenBudget: number): SkillCatalogue {
  const skills = all.filter(({ fields }) => !fields.disableModelInvocation)
  if (skills.length === 0) return { text: '', skills, incomplete: false }
  const entries = skills.map(({ name, description, path, fields, trustLevel }) => ({
    name,
    description:
      fields.context === 'fork' && trustLevel === 'trusted'
        ? `(runs in a subagent) ${description}`
        : description,
    location: path,
  }))
  const { text, omitted, shortened } = renderCatalog(entries, { format: 'xml', tokenBudget })
  const lines = [
    'Skills are instructions for particular tasks. When a task fits the description of one, activate it with the tool `skill` before you begin, and follow what it says.',
    text,
  ]
  if (shortened.length > 0) lines.push('Some descriptions are shortened.')
  if (omitted.length > 0) {
    lines.push(
      `${omitted.length} skills are not listed: find them with the tool \`search_skills\`.`,
    )
  }
  return { text: lines.join('\n'), skills, incomplete: omitted.length > 0 }
}
