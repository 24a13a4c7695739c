import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { scriptedProject } from './_scripted.ts'

const guard = {
  description: 'Reads first.',
  triggers: { tools: ['write'] },
  prerequisites: [{ step: 1, tool: 'read', description: 'First this.' }],
  mode: 'enforce',
}

it('a workflow whose tool the cache leaves out is not passed by', { timeout: 60_000 }, async () => {
  const project = scriptedProject({ read: {}, write: {} })
  await project.run(['tools', 'refresh'])
  const directory = join(project.root, '.skillrail')
  writeFileSync(join(directory, 'workflows.json'), JSON.stringify({ guard }))
  const cache = join(directory, 'tools.json')
  const text = readFileSync(cache, 'utf8')
  const without = text.replace(/\{\s*"id": "things__read"[^}]*\},/, '')
  expect(without).not.toBe(text)
  writeFileSync(cache, without)
  const called = await project.run(['tools', 'call', 'things__write', '{}'])
  expect([called.code, called.stderr]).toEqual([0, expect.not.stringContaining('not enforced')])
  expect(project.calls()).toEqual([
    expect.stringContaining('read'),
    expect.stringContaining('write'),
  ])
})
