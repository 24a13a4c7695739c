import type { Diagnostic } from '#core/errors'
import { addTo } from '#core/lists'
import type { SkillInfo } from './model.ts'

type ComparedSkill = Pick<SkillInfo, 'name' | 'path' | 'description' | 'fields'>

/**
 * Warns of skills with different names that have the same description or the same example of a prompt: then neither a
 * model nor the examples can tell which of them a prompt means. Case and blanks do not count.
 */
export function indistinctSkills(skills: readonly ComparedSkill[]): Diagnostic[] {
  const byDescription = new Map<string, ComparedSkill[]>()
  const byExample = new Map<string, ComparedSkill[]>()
  for (const skill of skills) {
    if (skill.description !== '') addTo(byDescription, folded(skill.description), skill)
    for (const text of new Set(examplesOf(skill).map(folded))) addTo(byExample, text, skill)
  }
  return [
    ...pairsIn(byDescription).map(({ skill, other }) =>
      warning('description-shared', skill, `The skill ${other.name} has the same description.`),
    ),
    ...pairsIn(byExample).map(({ skill, other, text }) =>
      warning('example-shared', skill, `The skill ${other.name} has the same example: ${text}`),
    ),
  ]
}

function pairsIn(groups: ReadonlyMap<string, readonly ComparedSkill[]>) {
  return [...groups].flatMap(([text, group]) =>
    group.flatMap((skill) => {
      const other = group.find(({ name }) => name !== skill.name)
      return other ? [{ skill, other, text }] : []
    }),
  )
}

function warning(code: string, { path }: ComparedSkill, message: string): Diagnostic {
  const hint = 'Say in each description or example what only that skill does.'
  return { code, severity: 'warning', message, path, hint }
}

function examplesOf({ fields }: ComparedSkill): string[] {
  return fields.triggers.flatMap(({ when }) => (when?.kind === 'examples' ? when.examples : []))
}

function folded(text: string): string {
  return text.trim().replaceAll(/\s+/g, ' ').toLowerCase()
}
