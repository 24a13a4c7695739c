import { describe, expect, it } from 'vitest'
import { type SkillInvocation, SkillTestHarness } from '../../src/testing/harness.ts'
import { skillMatchers } from '../../src/testing/matchers.ts'

async function invocation(source: 'user' | 'model' = 'user'): Promise<SkillInvocation> {
  const harness = await SkillTestHarness.load({
    name: 'greet',
    description: 'Greets people. Use when someone arrives.',
    body: 'Say hello.',
    allowedTools: [{ tool: 'Read' }],
    disableModelInvocation: true,
  })
  return await harness.invoke('', { source })
}

describe('the failure message', () => {
  it('of toBeValidSkill lists what was found', () => {
    const diagnostics = [
      { code: 'c', severity: 'error' as const, message: 'wrong', path: 'p', line: 3 },
    ]
    const { pass, message } = skillMatchers.toBeValidSkill({ valid: false, diagnostics })
    expect(pass).toBe(false)
    expect(message()).toBe('expected the skill to be valid\n\nerror: line 3: wrong [c]')
  })

  it('of toInjectContent shows the content, or why there is none', async () => {
    const activated = skillMatchers.toInjectContent(await invocation(), 'bye')
    expect(activated.message()).toMatch(/^expected the content to contain "bye"\n\n<skill_content/)
    const refused = skillMatchers.toInjectContent(await invocation('model'), /bye/)
    expect(refused.message()).toContain(
      'the content to contain /bye/\n\nIt was refused: Skill greet',
    )
  })

  it('of the others names what there is', async () => {
    const active = await invocation()
    const { toPreApproveTool, toOfferTool, toBeRefused } = skillMatchers
    expect(toPreApproveTool(active, 'Bash').message()).toContain('There are: Read')
    expect(toOfferTool(active, 'x').message()).toContain('There are none.')
    expect(toBeRefused(active, 'c').message()).toContain(
      'refused with c\n\nIt was activated by user',
    )
    expect(toBeRefused(await invocation('model')).message()).toContain('it was not to be so')
  })
})

it.each([
  'toBeValidSkill',
  'toInjectContent',
  'toPreApproveTool',
  'toOfferTool',
  'toBeRefused',
] as const)('%s refuses what it is not made for', (name) => {
  for (const value of [undefined, 'text', {}, Promise.resolve()]) {
    expect(() => skillMatchers[name](value, 'x')).toThrow(TypeError)
  }
})
