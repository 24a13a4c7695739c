import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { SettingsError } from '../../src/core/settings-error.ts'
import { servedProject } from './_served-project.ts'
import { projectAt } from './_in-process.ts'

it('reads the settings for each request, and refuses requests while they have errors', () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'skillrail-serving-')))
  const directory = join(root, '.config/skillrail')
  mkdirSync(directory, { recursive: true })
  const project = projectAt(root, root)
  const { signal } = new AbortController()
  expect(project.during(signal).settings.tools.deny).toEqual([])
  writeFileSync(join(directory, 'config.json'), '{"tools":{"deny":["p__*"]}}')
  expect(project.during(signal).settings.tools.deny).toEqual(['p__*'])
  writeFileSync(join(directory, 'config.json'), '{"tools":{"deny":["p__*"]}')
  expect(() => project.during(signal)).toThrow(SettingsError)
  expect(() => project.discovery).toThrow(SettingsError)
  writeFileSync(join(directory, 'config.json'), '{}')
  expect(project.during(signal).settings.tools.deny).toEqual([])
  rmSync(root, { recursive: true })
})

const served = servedProject('test')

it('answers a client that calls a tool with the error of the settings', async () => {
  const { text } = await served.start({ args: ['--trust-workspace', '--yes'] })
  expect(
    await text('call_tool', { tool: 'things__get_echo', params: { message: 'hi' } }),
  ).toContain('hi')
  served.write('.skillrail/config.json', '{"tools":{"deny":"things__*"}}')
  const before = served.calls().length
  for (const [name, input] of [
    ['call_tool', { tool: 'things__get_echo', params: { message: 'hi' } }],
    ['find_skills', { query: 'anything' }],
  ] as const) {
    expect(await text(name, input)).toContain('config.json')
  }
  expect(served.calls()).toHaveLength(before)
})
