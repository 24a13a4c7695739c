import { beforeAll, expect, it } from 'vitest'
import { scriptedProject, type ScriptedProject, textResult } from './_scripted.ts'
import { definitionFile, prerequisite } from '../../workflow/definition-file.ts'

const deepText = '['.repeat(200_000) + ']'.repeat(200_000)
const image = (data: string): object => ({ type: 'image', mimeType: 'image/png', data })
const content = (...blocks: unknown[]): string => JSON.stringify({ content: blocks })

let project: ScriptedProject
beforeAll(async () => {
  project = scriptedProject({
    get_deep: { result: textResult(deepText) },
    get_text: { result: '{"content":"not a list"}' },
    get_star: { result: content(image('***')) },
    get_half: { result: content({ type: 'text', text: 'half' }, 7) },
    delete_all: {},
  })
  await project.run(['tools', 'refresh'])
})

async function callJson(tool: string): Promise<{ code: number | null; answer: Answer }> {
  const { code, stdout } = await project.run(['tools', 'call', tool, '--json'])
  return { code, answer: JSON.parse(stdout) }
}

interface Answer {
  status: string
  result?: unknown
  error?: { code: string; message: string }
  diagnostics: { code: string; message: string }[]
}

it('keeps an answer that is nested too deeply as text, and reports that', async () => {
  const { code, answer } = await callJson('get_deep')
  expect(code).toBe(0)
  expect(answer.result).toBe(deepText)
  expect(answer.diagnostics).toEqual([
    expect.objectContaining({ code: 'answer-too-deep', severity: 'warning' }),
  ])
  const result = await project.run(['tools', 'call', 'get_deep'])
  expect(result.code).toBe(0)
  expect(result.stdout).toContain('Result (large): 400,000 chars')
  expect(result.stderr).toContain('nested deeper than 200 levels')
})

it('returns every result of a batch and a chain with such an answer', async () => {
  const batch = await project.run([
    'tools',
    'batch',
    '[{"tool":"get_deep"},{"tool":"get_half"}]',
    '--json',
  ])
  expect(batch.code).toBe(0)
  expect(JSON.parse(batch.stdout)).toMatchObject([
    { tool: 'get_deep', status: 'success', note: expect.stringContaining('deeper than 200') },
    { tool: 'get_half', status: 'success' },
  ])
  const steps =
    '[{"tool":"get_half","output_as":"a"},{"tool":"get_deep","output_as":"b"},{"tool":"get_half"}]'
  const chain = await project.run(['tools', 'chain', steps, '--json'])
  expect(chain.code).toBe(0)
  expect(JSON.parse(chain.stdout).completed).toHaveLength(3)
})

it('accepts such an answer from a prerequisite', async () => {
  const definition = definitionFile({
    triggers: { tools: ['delete_all'] },
    prerequisites: [prerequisite('get_deep')],
  })
  const added = await project.run(['tools', 'workflow', 'add', 'first', definition])
  expect(added.code).toBe(0)
  const { code, stderr } = await project.run(['tools', 'call', 'delete_all'])
  expect(stderr).toContain('Step 1: get_deep completed')
  expect(code).toBe(0)
})

it.each([
  ['get_text', 'its `content` is not a list of blocks'],
  ['get_star', 'block 1 of its content is invalid'],
])('counts %s, which is no result, as failed', async (tool, message) => {
  const { code, answer } = await callJson(tool)
  expect(code).toBe(1)
  const expectedMessage = expect.stringContaining(message)
  expect(answer.error).toMatchObject({ code: 'protocol', message: expectedMessage })
})
