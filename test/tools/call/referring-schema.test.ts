import { expect, it } from 'vitest'
import { runInProcess } from '../../run-in-process.ts'
import { serverProject } from '../../fixtures/server-project.ts'

const { root, home, scripted, configure, calls } = serverProject()
const level = {
  description: 'Set the level of the lamp',
  inputSchema: {
    type: 'object',
    properties: {
      n: { $ref: '#/$defs/Level' },
      on: { anyOf: [{ $ref: '#/$defs/On' }, { type: 'null' }], default: null },
      at: { $ref: '#/$defs/Rooms' },
    },
    required: ['n'],
    $defs: {
      Level: { type: 'integer', minimum: 0, maximum: 9, description: 'How bright' },
      On: { type: 'boolean' },
      Room: { enum: ['hall', 'attic'] },
      Rooms: { type: 'array', items: { $ref: '#/$defs/Room' } },
    },
  },
}
configure({ lamp: scripted('lamp', { set_level: level }) })
const run = async (...words: string[]) =>
  await runInProcess(['--trust-workspace', ...words], { cwd: root, home })

it('sends values of the types behind references', async () => {
  const pairs = ['n=4', 'on=yes', 'at=hall,attic']
  expect(await run('tools', 'call', 'lamp__set_level', ...pairs)).toMatchObject({ code: 0 })
  expect(calls().at(-1)).toBe('set_level {"n":4,"on":true,"at":["hall","attic"]}')
})

it('names the types in errors and in the call to complete', async () => {
  const wrong = await run('tools', 'call', 'lamp__set_level', 'n=bright')
  expect(wrong.stderr).toContain('Expected: n: integer')
  const lacking = await run('tools', 'call', 'lamp__set_level', 'on=no')
  expect(lacking.stderr).toContain(`'{"on":false,"n":"<integer>"}'`)
})

it('plans and describes like an inline schema', async () => {
  const planned = await run('tools', 'do', '--dry-run', 'set level n=4 at attic', '--json')
  expect(JSON.parse(planned.stdout)).toMatchObject({ steps: [{ params: { n: 4, at: ['attic'] } }] })
  await run('tools', 'refresh')
  const description = await run('tools', 'show', 'lamp__set_level')
  for (const text of ['integer', 'boolean | null', '"hall" | "attic"[]', 'maximum 9', 'How bright'])
    expect(description.stdout).toContain(text)
})

it('warns about a schema with a broken reference, and shows the rest of it', async () => {
  const inputSchema = { type: 'object', properties: { n: { $ref: '#/$defs/gone' } } }
  configure({ broken: scripted('broken', { set_level: { inputSchema } }) })
  await run('tools', 'refresh', '--accept')
  const { code, stdout, stderr } = await run('tools', 'show', 'broken__set_level')
  expect(code).toBe(0)
  expect(stdout).toContain('any')
  expect(stderr).toContain('input-schema-unusable')
  expect(stderr).toContain('#/$defs/gone')
})
