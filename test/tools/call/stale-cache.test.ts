import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { scriptedProject } from './_scripted.ts'

const guard = {
  description: 'Reads first.',
  triggers: { tools: ['write'] },
  prerequisites: [{ step: 1, tool: 'read', description: 'First this.' }],
  mode: 'enforce',
}

it('enforces a workflow whose tool is missing in the cache', { timeout: 60_000 }, async () => {
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

describe('a cache in the form of another client', () => {
  const cacheOf = (id: string, more: object) => ({
    version: '3.0.0',
    refreshed_at: '2026-02-04T10:00:00Z',
    mcp_servers: ['MetaMCP'],
    tool_count: 1,
    categories: {},
    uncategorized: [{ id, description: 'Gives the title', ...more }],
  })
  const batch = (tool: string) => `BATCH: [{"tool": "${tool}"}, {"tool": "get_title"}]`

  it.each([
    ['MetaMCP_things__get_title', {}],
    ['MetaMCP_things__get_title', { prefix: 'MetaMCP_' }],
    ['mcp__things__get_title', { prefix: 'mcp__things__' }],
  ])('allows a call of %s on the server that has it', { timeout: 60_000 }, async (id, more) => {
    const project = scriptedProject({ get_title: {} })
    writeFileSync(join(project.root, '.skillrail', 'tools.json'), JSON.stringify(cacheOf(id, more)))
    for (const words of [
      ['call', id],
      ['call', 'get_title'],
      ['batch', batch(id)],
      ['do', '--yes', `Use ${id}`],
    ]) {
      const { code, stderr } = await project.run(['tools', ...words])
      expect([words, code, stderr]).toEqual([words, 0, expect.not.stringContaining('no server')])
    }
    expect(project.calls()).toHaveLength(5)
  })
})

describe('a corrupt cache', () => {
  const write = (root: string, text: string): void => {
    writeFileSync(join(root, '.skillrail', 'tools.json'), text)
  }

  it.each([
    ['no version', '{"tool_count": 0, "categories": {}}'],
    ['other keys', '{"a": 1, "b": {"c": []}}'],
    ['a newer version', '{"version": "9.0.0", "tool_count": 0, "categories": {}}'],
  ])('of %s makes Skillrail ask the servers', { timeout: 60_000 }, async (_, text) => {
    const project = scriptedProject({ read: {} })
    write(project.root, text)
    const called = await project.run(['tools', 'call', 'things__read', '{}'])
    expect([called.code, called.stderr]).toEqual([
      0,
      expect.stringContaining('Cache appears stale or missing'),
    ])
    expect(project.calls()).toHaveLength(1)
  })

  it.each([
    ['text', 'not json'],
    ['nothing', ''],
    ['a list', '[]'],
    [
      'cut before its workflows',
      '{"version": "4.0.0", "tool_count": 1, "categories": {"x": {"tools": [{"id": "a',
    ],
    [
      'cut behind a workflow',
      `{"version": "4.0.0", "workflows": {"guard": ${JSON.stringify(guard)}`,
    ],
    ['workflows of another type', '{"version": "4.0.0", "categories": {}, "workflows": 3}'],
    ['escapes that may hide them', String.raw`{"\u0077orkflows": {`],
  ])('stops calls if it may contain a workflow: %s', { timeout: 60_000 }, async (_, text) => {
    const project = scriptedProject({ read: {} })
    write(project.root, text)
    const called = await project.run(['tools', 'call', 'things__read', '{}'])
    expect(called.code).toBe(4)
    expect(project.calls()).toEqual([])
  })

  it(
    'stops calls in a trusted workspace until it is written again',
    { timeout: 60_000 },
    async () => {
      const project = scriptedProject({ read: {} })
      const call = ['tools', 'call', 'things__read', '{}', '--trust-workspace']
      write(project.root, '{"version": "4.0.0", "categories": {')
      const refused = await project.run(call)
      expect([refused.code, project.calls()]).toEqual([4, []])
      expect((await project.run(['tools', 'refresh', '--trust-workspace'])).code).toBe(0)
      expect((await project.run(call)).code).toBe(0)
      expect(project.calls()).toHaveLength(1)
    },
  )
})

describe('a project without a cache', () => {
  it.each(['things__gone please', 'use things__gone', 'list what other__gone has'])(
    'answers %j as it does after a refresh',
    { timeout: 60_000 },
    async (request) => {
      const project = scriptedProject({ list_things: {}, create_thing: {} })
      const ask = () => project.run(['tools', 'do', '--yes', request, '--json'])
      const before = await ask()
      await project.run(['tools', 'refresh'])
      const after = await ask()
      expect([before.code, before.stdout]).toEqual([after.code, after.stdout])
      expect(before.code).toBe(3)
      expect(project.calls()).toEqual([])
    },
  )
})
