import { describe, expect, it } from 'vitest'
import { SkillManager, SkillValidationError } from '../../src/entries/index.ts'
import { fixture } from './_fixture.ts'

describe('a skill file that is registered', () => {
  it.each([
    ['description: Does a.', ['name-missing']],
    ['name: a', ['description-missing']],
    ['license: MIT', ['description-missing', 'name-missing']],
    ["name: ''\ndescription: ''", ['description-missing', 'name-missing']],
  ])('is refused with %j, and the error lists every missing field', async (fields, codes) => {
    const { runtime, write } = fixture()
    write({ 'project/a/SKILL.md': `---\n${fields}\n---\nBody.\n` })
    const error: unknown = await new SkillManager({ runtime })
      .register('./a')
      .catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(SkillValidationError)
    if (!(error instanceof SkillValidationError)) return
    expect(error.diagnostics.map(({ code }) => code).toSorted()).toEqual(codes)
    for (const code of codes) expect(error.message).toContain(code.replace('-missing', ''))
  })
})
