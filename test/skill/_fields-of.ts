import type { Diagnostic } from '../../src/core/errors.ts'
import type { SkillFields } from '../../src/skill/model.ts'
import { parseSkill } from '../../src/skill/parse.ts'

interface Read {
  fields: Partial<SkillFields>
  diagnostics: readonly Diagnostic[]
}

/** The fields of a frontmatter, in which a description is not asked for. */
export function fieldsOf(source: string): Read {
  const more = /^description:/m.test(source) ? '' : 'description: D.\n'
  const { skill, diagnostics } = parseSkill(`---\n${source}\n${more}---\n`, { path: 'a/SKILL.md' })
  return {
    fields: skill?.fields ?? {},
    diagnostics: diagnostics.filter(({ code }) => code !== 'description-missing'),
  }
}

/** What was reported, as `code:line`. */
export function codesOf(source: string): string[] {
  return fieldsOf(source).diagnostics.map(({ code, line }) => `${code}:${line}`)
}
