import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { generateText } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createSkills } from '../../../src/agent/ai/skills.ts'
import { fixture, type Fixture } from '../../library/_fixture.ts'
import { says } from '../mock-replies.ts'

const broken = { 'project/live/good/SKILL.md': '---\nname: good\ndescription: [\n---\nText.\n' }
let warnings: (Error & { code?: string })[] = []
const listener = (warning: Error) => void warnings.push(warning)
beforeEach(() => {
  warnings = []
  process.on('warning', listener)
})
afterEach(() => void process.off('warning', listener))

async function service() {
  const place: Fixture = fixture()
  place.skill('project/live/good', {
    more: 'triggers:\n  - match: deploy\n    inject: references/a.md',
  })
  place.write({ 'project/live/good/references/a.md': 'Facts.' })
  const notices: string[] = []
  const live = join(place.project, 'live')
  const skills = await createSkills({
    runtime: place.runtime,
    skillDirs: [live],
    trustedPaths: [live],
    onNotice: (message) => void notices.push(message),
  })
  const ask = async (prompt: string) => {
    const model = new MockLanguageModelV4({ doGenerate: async () => says('ok') })
    await generateText({ model, prompt, ...skills.settings() })
    return JSON.stringify(model.doGenerateCalls.at(-1)?.prompt)
  }
  return { place, live, skills, notices, ask }
}

it('names the fault of a trusted skill that breaks while the service runs', async () => {
  const { place, notices, ask } = await service()
  place.write(broken)
  await ask('Please deploy.')
  expect(notices.join('\n')).toContain('good')
  expect(notices.join('\n')).not.toMatch(/untrusted|trustedPaths/)
})

it('does not call a trusted folder untrusted when it was deleted', async () => {
  const { live, notices, ask } = await service()
  rmSync(live, { recursive: true })
  await ask('Please deploy.')
  expect(notices.join('\n')).toContain('good')
  expect(notices.join('\n')).not.toMatch(/untrusted|trustedPaths/)
})

it('tells the model about a typed skill that was deleted, and does not fail the request', async () => {
  const { live, ask } = await service()
  rmSync(live, { recursive: true })
  expect(await ask('/good now')).toContain('The user typed /good, and the skill cannot be used: ')
})

it('refuses to search again without a folder of the options, as at the start', async () => {
  const { live, skills } = await service()
  rmSync(live, { recursive: true })
  await expect(skills.refresh()).rejects.toMatchObject({ code: 'folder-missing' })
})

it('reports each broken skill once, at the start and when it searches again', async () => {
  const { place, skills, notices } = await service()
  expect(notices).toEqual([])
  place.write(broken)
  await skills.refresh()
  await skills.refresh()
  expect(notices).toEqual([expect.stringMatching(/good\/SKILL\.md:\d+: /)])
})

it.each([true, false])(
  'finds a skill that was added later, with discover: %s',
  async (discover) => {
    const place = fixture()
    place.skill('project/live/one')
    const skills = await createSkills({ runtime: place.runtime, skillDirs: ['./live'], discover })
    const names = async (): Promise<string[]> =>
      (await skills.manager.list()).map(({ name }) => name)
    expect(await names()).toEqual(['one'])
    place.skill('project/live/two')
    await skills.refresh()
    await skills.refresh()
    expect((await names()).toSorted()).toEqual(['one', 'two'])
  },
)

it('warns a program without a listener about a broken skill', async () => {
  const place = fixture()
  place.write(broken)
  await createSkills({ runtime: place.runtime, skillDirs: ['./live'] })
  await new Promise((done) => setImmediate(done))
  expect(warnings.filter(({ code }) => code === 'SKILLRAIL_BROKEN_SKILL')).toHaveLength(1)
})
