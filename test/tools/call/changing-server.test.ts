import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { scriptedProject } from './_scripted.ts'

const before = { set: { inputSchema: { type: 'object', properties: { n: { type: 'integer' } } } } }

/** Writes the tools and answers of the server from now on. */
function change(project: ReturnType<typeof scriptedProject>, tools: object): void {
  writeFileSync(join(dirname(project.root), 'things.json'), JSON.stringify(tools))
}

it.each([
  ['another type', { type: 'object', properties: { n: { type: 'string' } } }],
  ['a reference that leads nowhere', { $ref: '#/$defs/gone' }],
  ['a pattern that never ends', { properties: { n: { pattern: '^(a+)+$' } } }],
  ['no schema', 'none'],
])(
  'makes no call of a tool whose schema has become %s since the last refresh',
  { timeout: 60_000 },
  async (_, inputSchema) => {
    const project = scriptedProject(before)
    await project.run(['tools', 'refresh'])
    change(project, { set: { inputSchema } })
    const { code, stderr } = await project.run(['tools', 'call', 'things__set', 'n=4'])
    expect([code, stderr]).toEqual([4, expect.stringContaining('is held back')])
    await project.run(['tools', 'refresh'])
    expect((await project.run(['tools', 'call', 'things__set', 'n=4'])).code).toBe(4)
    expect(project.calls()).toEqual([])
  },
)

it('makes no call of a tool whose definition has become too large to read', async () => {
  const project = scriptedProject(before)
  await project.run(['tools', 'refresh'])
  change(project, { set: { inputSchema: { type: 'object', title: 'x'.repeat(1024 * 1024) } } })
  const { code, stderr } = await project.run(['tools', 'call', 'things__set', 'n=4'])
  expect([code, stderr]).toEqual([4, expect.stringContaining('is held back')])
  expect(project.calls()).toEqual([])
})
