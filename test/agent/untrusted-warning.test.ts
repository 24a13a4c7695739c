import { MockLanguageModelV4 } from 'ai/test'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { Agent } from '../../src/entries/agent.ts'
import { createSkills } from '../../src/entries/ai.ts'
import { fixture, type Fixture } from '../library/_fixture.ts'

let warnings: Error[] = []
const listener = (warning: Error) => void warnings.push(warning)
beforeEach(() => {
  warnings = []
  process.on('warning', listener)
})
afterEach(() => void process.off('warning', listener))

/** Warnings are emitted in the next tick. */
async function emitted(): Promise<Error[]> {
  await new Promise((done) => setImmediate(done))
  return warnings.filter((one) => 'code' in one && one.code === 'SKILLRAIL_UNTRUSTED')
}

function place(more: string | undefined = 'allowed-tools: Read'): Fixture {
  const made = fixture()
  made.skill('project/skills/one', { more })
  made.skill('project/skills/two', { more: 'context: fork' })
  return made
}

it('warns once without a listener when trustedPaths was forgotten, and names the option', async () => {
  const { runtime } = place()
  const skills = await createSkills({ runtime, skillDirs: ['./skills'] })
  await skills.refresh()
  const [warning, ...others] = await emitted()
  expect(warning?.message).toMatch(/one, two\. .*add \.\/skills to the option trustedPaths/)
  expect(others).toEqual([])
})

it('calls the listener if there is one', async () => {
  const { runtime } = place()
  const notices: string[] = []
  const onNotice = (message: string) => void notices.push(message)
  await createSkills({ runtime, skillDirs: ['./skills'], onNotice })
  expect(notices).toEqual([expect.stringContaining('trustedPaths')])
  expect(await emitted()).toEqual([])
})

it('does not warn about trusted folders', async () => {
  const { runtime } = place()
  await createSkills({ runtime, skillDirs: ['./skills'], trustedPaths: ['./skills'] })
  expect(await emitted()).toEqual([])
})

it('does not warn about skills that declare nothing that needs trust', async () => {
  const made = fixture()
  made.skill('project/skills/one')
  await createSkills({ runtime: made.runtime, skillDirs: ['./skills'] })
  expect(await emitted()).toEqual([])
})

it('reports the warning as an event of an agent', async () => {
  const { runtime } = place()
  const events: string[] = []
  const agent = new Agent({
    runtime,
    model: new MockLanguageModelV4(),
    skillDirs: ['./skills'],
    onEvent: (event) => void (event.type === 'notice' && events.push(event.message)),
  })
  await agent.ready()
  await agent.ready()
  expect(events).toEqual([expect.stringContaining('trustedPaths')])
  await agent.close()
})
