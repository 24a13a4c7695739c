import { mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test as base } from 'vitest'
import { skillFixtures, type SkillFixtures } from '../../src/testing/fixtures.ts'
import { skillMatchers, type SkillMatchers } from '../../src/testing/matchers.ts'
import { SkillTestHarness } from '../../src/testing/harness.ts'
import { writeSkill } from '../../src/testing/write-skill.ts'

declare module 'vitest' {
  interface Matchers<R extends void | Promise<void>> extends SkillMatchers<R> {}
}

expect.extend(skillMatchers)
const test = base.extend<SkillFixtures>(skillFixtures)

const greet = {
  name: 'greet',
  description: 'Greets people by name. Use when someone arrives.',
  body: 'Say hello to $0, in $tone words.\n\nAll: $ARGUMENTS',
  arguments: ['who', 'tone'],
  allowedTools: [{ tool: 'Read' }, { tool: 'Bash', pattern: 'date:*' }],
}

test('loads a directory, validates it and shows the content after substitution', async ({
  loadSkill,
}) => {
  const harness = await loadSkill({ ...greet, files: { 'references/tone.md': 'Be kind.' } })
  expect(harness).toBeValidSkill()
  const { info } = await harness.skill()
  expect(info).toMatchObject({ name: 'greet', trustLevel: 'trusted' })
  const invocation = await harness.invoke('"Ada Lovelace" warm')
  expect(invocation).toMatchObject({ skill: 'greet', source: 'user', refusal: undefined })
  expect(invocation).toInjectContent('Say hello to Ada Lovelace, in warm words.')
  expect(invocation).toInjectContent(/<skill_content name="greet">/g)
  expect(invocation).toInjectContent('references/tone.md')
  expect(invocation).not.toInjectContent('$0')
  expect(invocation).toPreApproveTool('Bash(date:*)')
  expect(invocation).not.toPreApproveTool('Bash')
})

test('loads a skill from a definition in code', async () => {
  const harness = await SkillTestHarness.load(greet)
  expect(harness).toBeValidSkill()
  expect(await harness.invoke('Ada dry')).toInjectContent('Say hello to Ada, in dry words.')
})

test('gives an untrusted skill no approvals, no hooks and no fork', async ({ loadSkill }) => {
  const acting = { ...greet, context: 'fork' as const, hooks: { Stop: [] } }
  const trusted = await (await loadSkill(acting)).invoke('Ada')
  expect(trusted.effects).toMatchObject({ fork: {}, hooks: { Stop: [] } })
  const untrusted = await (await loadSkill(acting, { trust: 'untrusted' })).invoke('Ada')
  expect(untrusted).not.toPreApproveTool('Read')
  expect(untrusted.effects).toMatchObject({ fork: undefined, hooks: undefined })
})

test('returns a result when an invocation is not allowed', async ({ loadSkill }) => {
  const harness = await loadSkill({ ...greet, disableModelInvocation: true })
  const refused = await harness.invoke('Ada', { source: 'model' })
  expect(refused).toBeRefused()
  expect(refused).toBeRefused('model-invocation-disabled')
  expect(refused).toMatchObject({ content: '', tools: [] })
  expect(await harness.invoke('Ada', { source: 'user' })).not.toBeRefused()
  expect(await harness.invoke('Ada', { source: 'code' })).not.toBeRefused()
})

test('offers the tools of a skill only while it is active', async ({ loadSkill }) => {
  const harness = await loadSkill(greet)
  harness.manager.registerTool('greet', { name: 'wave', execute: () => 'waved' })
  const invocation = await harness.invoke('Ada')
  expect(invocation).toOfferTool('greet.wave')
  expect(await invocation.tools[0]?.execute({})).toBe('waved')
  expect(await harness.deactivate()).toBe(true)
  expect(harness.manager.getAllTools()).toEqual([])
  expect(await harness.deactivate()).toBe(false)
})

test('says what is wrong with a broken file instead of throwing', async ({ skillDirectory }) => {
  mkdirSync(join(skillDirectory, 'broken'))
  writeFileSync(join(skillDirectory, 'broken/SKILL.md'), 'no frontmatter\n')
  const harness = await SkillTestHarness.load(join(skillDirectory, 'broken'))
  expect(harness).not.toBeValidSkill()
  await expect(harness.invoke()).rejects.toThrow('cannot be used')
  const missing = await SkillTestHarness.load(join(skillDirectory, 'missing'))
  expect(missing).not.toBeValidSkill()
})

test('writes a skill as files for a test runner, and nothing outside its folder', async ({
  skillDirectory,
}) => {
  const files = { 'scripts/run.sh': '#!/bin/sh\n', 'references/a.md': 'text' }
  const directory = await writeSkill(skillDirectory, { ...greet, files })
  expect(directory).toBe(join(skillDirectory, 'greet'))
  expect(statSync(join(directory, 'scripts/run.sh')).mode & 0o111).toBe(0o111)
  expect(statSync(join(directory, 'references/a.md')).mode & 0o111).toBe(0)
  for (const name of ['../greet', '..', '.']) {
    await expect(writeSkill(skillDirectory, { ...greet, name })).rejects.toThrow('outside')
  }
  const escaping = { ...greet, files: { '../../evil': 'x' } }
  await expect(writeSkill(skillDirectory, escaping)).rejects.toThrow('outside')
})
