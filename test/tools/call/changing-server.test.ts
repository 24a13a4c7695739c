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
  'calls a tool whose schema becomes %s as listed, and withholds it after the next listing',
  { timeout: 60_000 },
  async (_, inputSchema) => {
    const project = scriptedProject(before)
    await project.run(['tools', 'refresh'])
    change(project, { set: { inputSchema } })
    const called = await project.run(['tools', 'call', 'things__set', 'n=4'])
    expect(called).toMatchObject({ code: 0, stderr: '' })
    expect(project.calls()).toEqual(['set {"n":4}'])
    await project.run(['tools', 'refresh'])
    const again = await project.run(['tools', 'call', 'things__set', 'n=4'])
    expect([again.code, project.calls().length]).toEqual([4, 1])
  },
)
