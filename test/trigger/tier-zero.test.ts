import { expect, it } from 'vitest'
import { parseSkill } from '../../src/skill/parse.ts'
import { tierZeroLine } from '../../src/trigger/tier-zero.ts'

it.each([
  ['Reads a file.', 'Reads a file.'],
  [`Reads ${'x'.repeat(300)} and more.`, 'Reads…'],
  [`Reads, ${'x'.repeat(300)}`, 'Reads…'],
  ['Writes a, b, c,…', 'Writes a, b, c,…'],
])('a line of the index ends at a whole word (%#)', (description, expected) => {
  const text = `---\nname: n\ndescription: ${JSON.stringify(description)}\n---\n\nDo it.\n`
  const { skill } = parseSkill(text, { path: 'SKILL.md' })
  if (!skill) throw new Error('the skill cannot be read')
  expect(tierZeroLine('n', skill.fields).text).toBe(`- \`/n\`: ${expected}`)
})
