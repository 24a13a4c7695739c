import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { servedProject } from './_served-project.ts'

const project = servedProject('test')
const create = { tool: 'things__create_thing', params: { name: 'saw' } }

function userSettings(tools: object): void {
  const directory = join(project.home, '.config/skillrail')
  mkdirSync(directory, { recursive: true })
  writeFileSync(join(directory, 'config.json'), JSON.stringify({ tools }))
}

function projectSettings(tools: object): void {
  project.write('.skillrail/config.json', JSON.stringify({ tools }))
}

it.each([{ allow: ['things__create_*'] }, { readOnly: ['things__create_thing'] }])(
  'calls a tool that the user allows without a question: %j',
  async (tools) => {
    userSettings(tools)
    const { text } = await project.start()
    await text('call_tool', create)
    expect(project.calls().join()).toContain('create')
  },
)

it.each([
  ['allow', { allow: ['*'] }],
  ['readOnly', { readOnly: ['*'] }],
])('ignores %s of a project', async (_name, tools) => {
  projectSettings(tools)
  const { text } = await project.start()
  expect(await text('call_tool', create)).toContain('[tool-needs-yes]')
  expect(project.calls()).toEqual([])
})

it.each([
  ['the user', userSettings],
  ['the project', projectSettings],
])('asks about a tool that only reads if %s says so', async (_who, write) => {
  write({ ask: ['things__get_*'] })
  const { text } = await project.start()
  const call = { tool: 'things__get_echo', params: { message: 'hi' } }
  expect(await text('call_tool', call)).toContain('[tool-needs-yes]')
})

it("applies the user's denial, which a project cannot lift", async () => {
  userSettings({ deny: ['things__create_*'] })
  projectSettings({ deny: ['things__get_*'] })
  const { text } = await project.start({ args: ['--trust-workspace', '--yes'] })
  expect(await text('call_tool', create)).toContain('[tool-denied]')
  expect(await text('call_tool', { tool: 'things__get_echo' })).toContain('[tool-denied]')
  expect(project.calls()).toEqual([])
})
