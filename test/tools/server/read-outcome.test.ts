import { expect, it } from 'vitest'
import { ToolCallError } from '../../../src/tools/errors.ts'
import type { ToolOutcome } from '../../../src/tools/model.ts'
import { readOutcome } from '../../../src/tools/server/read-answers.ts'

const deep: unknown = JSON.parse('['.repeat(200_000) + ']'.repeat(200_000))
const text = (value: unknown): object => ({ type: 'text', text: value })
const image = (data: string): object => ({ type: 'image', mimeType: 'image/png', data })

/** The result as a server sends it: any JSON. */
function read(result: object): ToolOutcome {
  return readOutcome(Object.fromEntries(Object.entries(result)))
}

it.each([
  ['a text as its content', { content: 'not a list' }, 'its `content` is not a list of blocks'],
  ['null as its content', { content: null }, 'its `content` is not a list of blocks'],
  ['an image that is not base64', { content: [image('***')] }, 'block 1 of its content is invalid'],
  ['an image without bytes', { content: [image('')] }, 'block 1 of its content is invalid'],
  ['a text without text', { content: [text(undefined)] }, 'block 1 of its content is invalid'],
  ['a number as a block', { content: [7] }, 'block 1 of its content is invalid'],
  ['a block without end', { content: [{ type: 'odd', deep }] }, 'deeper than 200 levels'],
  ['only a value without end', { structuredContent: deep }, 'deeper than 200 levels'],
])('refuses an answer with %s', (_, result, message) => {
  expect(() => read(result)).toThrow(ToolCallError)
  expect(() => read(result)).toThrow(message)
})

it('reports the invalid parts beside the valid ones', () => {
  expect(read({ content: [text('half'), 7, image('***')] })).toMatchObject({
    isError: false,
    content: [text('half')],
    problems: [
      { code: 'answer-invalid', message: 'block 2 of its content is invalid' },
      { code: 'answer-invalid', message: 'block 3 of its content is invalid' },
    ],
  })
  expect(read({ content: [text('flat')], structuredContent: deep })).toMatchObject({
    content: [text('flat')],
    structured: undefined,
    problems: [{ code: 'answer-too-deep' }],
  })
})

it('does not change a deep text, and reports that it is not read', () => {
  const json = '['.repeat(201) + ']'.repeat(201)
  expect(read({ content: [text(json)] })).toMatchObject({
    content: [text(json)],
    problems: [{ code: 'answer-too-deep' }],
  })
  const prose = `["${'['.repeat(300)}"]`
  expect(read({ content: [text(prose)] })).not.toHaveProperty('problems')
})

it('reads an answer whose isError is not a boolean as a failure', () => {
  const outcome = read({ content: [text('no')], isError: 'true' })
  expect(outcome.isError).toBe(true)
  expect(read({ content: [text('yes')], isError: null }).isError).toBe(false)
})

it('accepts structured content alone, and none if it is null', () => {
  expect(read({ structuredContent: { a: 1 } })).toMatchObject({ structured: { a: 1 }, content: [] })
  const both = read({ content: [text('whole')], structuredContent: null })
  expect(both.structured).toBeUndefined()
})
