import { fixSkill } from '../../../src/skill/fix.ts'
import { parseSkill } from '../../../src/skill/parse.ts'
import { validateReference } from '../../../src/skill/reference/validate-reference.ts'
import { validateSkill } from '../../../src/skill/validate.ts'
import { readTriggers } from '../../../src/trigger/read-triggers.ts'
import { demand, same, textOf } from '../target.ts'

export const name = 'skill'
export const seeds: readonly string[] = [
  '---\nname: a-b\ndescription: Does a. Use when b.\nallowed-tools: Read, Bash(git:*)\n---\nDo $0.\n',
  '---\nname: a\ndescription: it is: not quoted\ntriggers:\n  - match: ^/a\n    inject: b.md\n---\n',
  '---\nname: a\ndescription: b\nchain: [x, y]\nchain-policy:\n  on-failure: stop\n---\nSee [x](y.md).\n',
  '\ufeff---\r\nname: A_\r\ndescription: >\r\n  b\r\narguments: [x, y]\r\n---\r\nbody  \r\n',
  '---\nname: a\ndescription: b\nallowed-tools:\n  - Read\n  - "Bash(git:*)"\nmetadata: {x: 1}\n---\n',
]
export const words: readonly string[] = [
  '---\n',
  '\nname: ',
  '\ndescription: ',
  '\nallowed-tools: ',
  '\ntriggers:\n  - match: ',
  '\n    inject: ',
  '\nmetadata:\n  ',
  '](',
]

/** Two validations and two fixes of several readings each. */
export const readings = 4

const path = 'a/SKILL.md'

/**
 * Nothing throws; errors and a skill exclude one another; a fix is done at once and changes no
 * meaning but that of a text which YAML cuts.
 */
export function fuzz(data: Uint8Array): void {
  const text = textOf(data)
  const { skill, diagnostics } = parseSkill(text, { path })
  const errors = diagnostics.filter(({ severity }) => severity === 'error')
  demand(skill !== undefined || errors.length > 0, 'no skill and no error')
  const lines = text.split(/\r\n|\r|\n/).length
  for (const validate of [validateSkill, validateReference]) {
    const validation = validate(text, { path, directoryName: 'a-b' })
    const wrong = validation.diagnostics.some(({ severity }) => severity === 'error')
    demand(validation.valid === !wrong, 'valid with an error', validation)
    for (const { line = 1 } of validation.diagnostics) {
      demand(line >= 1 && line <= lines + 2, 'a line outside of the text', line, lines)
    }
  }
  readTriggers(text, path)
  const fixed = fixSkill(text).text
  demand(fixSkill(fixed).text === fixed, 'a fix that is not done at once', text, fixed)
  const after = parseSkill(fixed, { path }).skill
  if (skill !== undefined) {
    demand(after !== undefined, 'a fix that breaks the skill', text, fixed)
    // A text that YAML cuts at ` #` is whole after the fix; only its end may differ.
    const isCut = diagnostics.some(({ code }) => code === 'text-cut')
    const isSame = same(meaning(skill.fields), meaning(after.fields))
    demand(isCut || isSame, 'a fix that changes', text, fixed)
  }
}

/** Without the lines, which a fix may move. */
function meaning(fields: object): object {
  const text = JSON.stringify(fields, (key, value: unknown) => (key === 'line' ? undefined : value))
  const value: object = JSON.parse(text)
  return value
}
