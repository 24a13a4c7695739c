import type { JsonObject, JsonValue } from '../../../src/core/json.ts'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { safeText } from '../../../src/core/text.ts'
import type { ToolContent, ToolOutcome } from '../../../src/tools/model.ts'
import { summarise, summariseValue } from '../../../src/tools/call/summarise.ts'
import { failed, structured, text } from './_fake.ts'

function lines(outcome: ToolOutcome, params: JsonObject = {}): readonly string[] {
  return summarise(outcome, params).lines
}

const png = {
  path: '/tmp/screen.png',
  mimeType: 'image/png',
  size: 4033,
  block: { type: 'image', mimeType: 'image/png', data: 'AAAAAA==' } satisfies ToolContent,
}

it('returns a short text without a change', () => {
  expect(summarise(text('The sum is 3.'))).toEqual({
    lines: ['Success: The sum is 3.'],
    content: undefined,
  })
})

it('counts the items of a list and names them', () => {
  const issues = [11, 12, 13].map((number) => ({ number, title: 'x' }))
  expect(lines(text(JSON.stringify(issues)), { state: 'open', owner: 'o' })).toEqual([
    'Success: 3 items',
    'IDs: [11, 12, 13]',
    'Filter: state=open, owner=o',
    'Next: request details of one of them.',
  ])
})

it('counts every parameter with one value or a list of values as a filter', () => {
  const params = { colours: ['red', 'blue'], shape: 'round', within: { x: 1 }, none: null }
  expect(lines(text('[1, 2]'), params)).toContain('Filter: colours=red+blue, shape=round')
})

it('describes a large list by its size, its count and its first identifiers', () => {
  const items = Array.from({ length: 325 }, (_, id) => ({ id, body: 'x'.repeat(30) }))
  const summary = summarise(structured({ total: 325, items }), { label: 'bug' })
  expect(summary.lines).toEqual([
    expect.stringMatching(/^Result \(large\): [\d,]+ chars$/),
    'Summary: returned 325 items.',
    'Key IDs: [id: 0, id: 1, id: 2, id: 3, id: 4]',
    'Filter: label=bug',
    'Next: ask for one of them or narrow the request; --raw shows all of it.',
  ])
  expect(summary.content).toBeUndefined()
})

it('describes a large text by its first line', () => {
  const long = `\n\n# Title of it\n${'word '.repeat(400)}`
  expect(lines(text(long))).toEqual([
    'Result (large): 2,016 chars',
    'Summary: # Title of it … (2,016 chars (4 lines))',
    'Next: --raw shows all of it.',
  ])
})

it('names the path of a saved file, with its size', () => {
  const outcome: ToolOutcome = { isError: false, content: [png.block], size: 5000 }
  expect(summarise(outcome, { fullPage: true }, [png]).lines).toEqual([
    'Success: image received',
    'Path: /tmp/screen.png',
    'Size: 4,033 bytes',
    'Next: open the file to review content.',
  ])
})

it('names links and resources', () => {
  const content: ToolContent[] = [
    { type: 'text', text: 'see' },
    { type: 'link', uri: 'demo://1', name: 'one' },
    { type: 'resource', uri: 'demo://2', text: 'inside' },
  ]
  const told = lines({ isError: false, content, size: 9 })
  expect(told).toEqual(expect.arrayContaining(['Link: one demo://1', 'Resource: demo://2']))
})

it('never describes an error as a success', () => {
  expect(lines(failed('no such file'), { path: 'x' })).toEqual([
    expect.stringMatching(/^Failure: no such file/),
  ])
})

const wildText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'binary', minLength: 1001, maxLength: 3000 }),
  fc.jsonValue().map((value) => JSON.stringify(value)),
  fc.constantFrom(
    '\u001b[2J\u0007',
    '\u202Eevil',
    '\u{e0041}'.repeat(300),
    '\u001b]0;x\u0007'.repeat(400),
  ),
)
const wildBlock: fc.Arbitrary<ToolContent> = fc.oneof(
  wildText.map((value): ToolContent => ({ type: 'text', text: value })),
  fc
    .record({ uri: wildText, name: wildText })
    .map((link): ToolContent => ({ type: 'link', ...link })),
  fc
    .record({ uri: wildText, text: wildText })
    .map((one): ToolContent => ({ type: 'resource', ...one })),
)
it('never prints a control character and stays within its limit, for any answer of a tool', () => {
  const outcome = fc.record({
    isError: fc.boolean(),
    content: fc.array(wildBlock, { maxLength: 30 }),
    structured: fc.option(
      fc.jsonValue().map((value): JsonValue => JSON.parse(JSON.stringify(value))),
      { nil: undefined },
    ),
    size: fc.nat(),
  })
  const params = fc.dictionary(
    fc.constantFrom(
      'path',
      'source',
      'destination',
      'uid',
      'state',
      'libraryId',
      'thought',
      'types',
    ),
    wildText,
  )
  fc.assert(
    fc.property(outcome, params, (given, parameters) => {
      const summary = summarise(given, { ...parameters })
      expect(summary.lines.length).toBeGreaterThan(0)
      expect(summary.lines.length).toBeLessThanOrEqual(12)
      for (const line of summary.lines) {
        expect(line.length).toBeLessThanOrEqual(300)
        expect(line).not.toContain('\n')
        expect(safeText(line)).toBe(line)
      }
      expect((summary.content ?? '').length).toBeLessThanOrEqual(2000)
      expect(safeText(summary.content ?? '')).toBe(summary.content ?? '')
    }),
  )
})

it('describes a value of a batch in one safe line', () => {
  expect(summariseValue('short\u001b')).toBe('short\\x1b')
  expect(summariseValue(Array.from({ length: 90 }, (_, id) => ({ id, name: 'abc' })))).toBe(
    'returned 90 items. Key IDs: [id: 0, id: 1, id: 2, id: 3, id: 4]',
  )
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const line = summariseValue(JSON.parse(JSON.stringify(value)))
      expect(line.length).toBeLessThanOrEqual(300)
      expect(safeText(line)).toBe(line)
    }),
  )
})
