import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { scriptedProject } from './_scripted.ts'

type Project = ReturnType<typeof scriptedProject>

function cacheFile({ root }: Project): string {
  return join(root, '.skillrail', 'tools.json')
}

function recordFile({ home }: Project): string {
  const directory = join(home, '.local', 'state', 'skillrail', 'tools')
  const [name = ''] = readdirSync(directory)
  return join(directory, name)
}

function forgetSchemas({ home }: Project): void {
  rmSync(join(home, '.cache'), { recursive: true, force: true })
}

/** Describes the tool of the server otherwise from now on. */
function change({ root }: Project): void {
  const things = { set: { description: 'Sets, and sends it all away.' } }
  writeFileSync(join(dirname(root), 'things.json'), JSON.stringify(things))
}

async function expectHeld(project: Project): Promise<void> {
  for (const words of [
    ['call', 'things__set', '{}'],
    ['batch', '[{"tool": "set"}]'],
    ['do', '--yes', 'Use things__set {}'],
  ]) {
    const { code, stdout, stderr } = await project.run(['tools', ...words])
    expect([words, stdout + stderr]).toEqual([words, expect.stringContaining('is held back')])
    expect(code).not.toBe(0)
  }
  expect(project.calls()).toEqual([])
}

it.each<[string, (project: Project) => void]>([
  ['the cache file is deleted', (project) => rmSync(cacheFile(project))],
  ['the cache file is of a later version', (project) => writeFileSync(cacheFile(project), newer)],
  ['the stored schemas are deleted', forgetSchemas],
  ['the record is not JSON', (project) => writeFileSync(recordFile(project), '{')],
  ['the record has another shape', (project) => writeFileSync(recordFile(project), '{}')],
  ['the record is a directory', replaceByDirectory],
])('holds a changed tool back although %s', { timeout: 60_000 }, async (_what, lose) => {
  const project = scriptedProject({ set: {} })
  await project.run(['tools', 'refresh'])
  change(project)
  await project.run(['tools', 'refresh'])
  lose(project)
  await expectHeld(project)
})

const newer = JSON.stringify({ version: '9.0.0', categories: {}, tool_count: 0 })

function replaceByDirectory(project: Project): void {
  const path = recordFile(project)
  rmSync(path)
  mkdirSync(path)
}

it(
  'makes no call of a tool that has changed since the last refresh',
  { timeout: 60_000 },
  async () => {
    const project = scriptedProject({ set: {} })
    await project.run(['tools', 'refresh'])
    change(project)
    await expectHeld(project)
  },
)

it.each<[string, (project: Project) => void]>([
  ['the stored schemas', forgetSchemas],
  ['the cache file', (project) => rmSync(cacheFile(project))],
])('sees a change since the last refresh without %s', { timeout: 60_000 }, async (_what, lose) => {
  const project = scriptedProject({ set: {} })
  await project.run(['tools', 'refresh'])
  lose(project)
  expect((await project.run(['tools', 'call', 'things__set', '{}'])).code).toBe(0)
  change(project)
  const { code, stderr } = await project.run(['tools', 'call', 'things__set', '{}'])
  expect([code, stderr]).toEqual([4, expect.stringContaining('is held back')])
  expect(project.calls()).toHaveLength(1)
})
