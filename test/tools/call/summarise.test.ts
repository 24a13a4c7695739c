import type { JsonObject, JsonValue } from '../../../src/core/json.ts'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { safeText } from '../../../src/core/text.ts'
import type { ToolContent, ToolOutcome } from '../../../src/tools/model.ts'
import { summarise, summariseValue } from '../../../src/tools/call/summarise.ts'
import { failed, structured, text } from './_fake.ts'

function lines(
  name: string,
  outcome: ToolOutcome,
  params: JsonObject = {},
  category?: string,
): readonly string[] {
  return summarise(outcome, { name, category }, params).lines
}

const png = {
  path: '/tmp/screen.png',
  mimeType: 'image/png',
  size: 4033,
  block: { type: 'image', mimeType: 'image/png', data: 'AAAAAA==' } satisfies ToolContent,
}

it('tells a short text as it is', () => {
  expect(summarise(text('The sum is 3.'), { name: 'get_sum' })).toEqual({
    lines: ['Success: The sum is 3.'],
    content: undefined,
  })
})

it('counts the items of a list and names them', () => {
  const issues = [11, 12, 13].map((number) => ({ number, title: 'x' }))
  expect(lines('list_issues', text(JSON.stringify(issues)), { state: 'open', owner: 'o' })).toEqual(
    [
      'Success: 3 items',
      'IDs: [11, 12, 13]',
      'Filter: state=open, owner=o',
      'Next: request details of one of them.',
    ],
  )
})

it('tells a large list by its size, its count and its first identifiers', () => {
  const items = Array.from({ length: 325 }, (_, id) => ({ id, body: 'x'.repeat(30) }))
  const summary = summarise(structured({ total: 325, items }), { name: 'search' }, { label: 'bug' })
  expect(summary.lines).toEqual([
    expect.stringMatching(/^Result \(large\): [\d,]+ chars$/),
    'Summary: returned 325 items.',
    'Key IDs: [id: 0, id: 1, id: 2, id: 3, id: 4]',
    'Filter: label=bug',
    'Next: ask for one of them or narrow the request; --raw shows all of it.',
  ])
  expect(summary.content).toBeUndefined()
})

it('tells a large text by its first line', () => {
  const long = `\n\n# Title of it\n${'word '.repeat(400)}`
  expect(lines('explain', text(long))).toEqual([
    'Result (large): 2,016 chars',
    'Summary: # Title of it … (2,016 chars (4 lines))',
    'Next: --raw shows all of it.',
  ])
})

it.each<[string, JsonObject, string, readonly string[]]>([
  [
    'read_file',
    { path: '/tmp/a.log' },
    'one\ntwo\n',
    [
      'Success: file read',
      'Path: /tmp/a.log',
      'Size: 8 chars (2 lines)',
      'Next: specify line range for deeper inspection.',
    ],
  ],
  [
    'write_file',
    { path: '/tmp/r.json', content: '{}' },
    'ok',
    [
      'Success: file written',
      'Path: /tmp/r.json',
      'Size: 2 chars (1 line)',
      'Next: open the file to review content.',
    ],
  ],
  [
    'delete_file',
    { path: '/tmp/old.png' },
    'ok',
    ['Success: file deleted', 'Path: /tmp/old.png', 'Next: none'],
  ],
  [
    'move_file',
    { source: '/tmp/a', destination: '/tmp/b' },
    'ok',
    ['Success: file moved', 'From: /tmp/a', 'To: /tmp/b', 'Next: verify new location if needed.'],
  ],
  [
    'list_console_messages',
    { types: ['error'] },
    '## Console messages\nmsgid=14 [error] TypeError: x\nmsgid=15 [error] y',
    [
      'Success: 2 console errors',
      'First: [msgid=14] [error] TypeError: x',
      'Next: open specific message id for details.',
    ],
  ],
  [
    'list_network_requests',
    {},
    'reqid=1 GET http://x [200]\nreqid=2 POST http://y [201]\nreqid=3 GET http://z',
    [
      'Success: 3 network requests',
      'Types: GET=2, POST=1',
      'First: reqid=1 GET http://x [200]',
      'Next: open request id for full headers/body.',
    ],
  ],
  [
    'take_snapshot',
    {},
    'uid=1_0 root\n  uid=1_1 button "Go"',
    [
      'Success: page snapshot, 2 elements',
      'IDs: [1_0, 1_1]',
      'Next: use a uid with click, fill or hover.',
    ],
  ],
  [
    'sequentialthinking',
    { thought: 'pick A', thoughtNumber: 5, nextThoughtNeeded: false },
    '{}',
    [
      'Success: reasoning completed',
      'Thoughts: 5',
      'Conclusion: pick A',
      'Next: proceed with tool execution.',
    ],
  ],
])('%s %o is told by its pattern', (name, params, answer, expected) => {
  expect(lines(name, text(answer), params)).toEqual(expected)
})

it('tells where a screenshot is, and of what', () => {
  const outcome: ToolOutcome = { isError: false, content: [png.block], size: 5000 }
  const told = summarise(outcome, { name: 'take_screenshot' }, { fullPage: true }, [png])
  expect(told.lines).toEqual([
    'Success: screenshot captured',
    'Path: /tmp/screen.png',
    'Size: 4,033 bytes',
    'Mode: fullPage',
    'Next: request another region if needed.',
  ])
  const element = summarise(outcome, { name: 'take_screenshot' }, { uid: 'btn-login' }, [png])
  expect(element.lines).toContain('Element: uid=btn-login')
  const saved = lines('take_screenshot', text('Saved screenshot to /tmp/other.png.'))
  expect(saved).toContain('Path: /tmp/other.png')
})

it('names links and resources', () => {
  const content: ToolContent[] = [
    { type: 'text', text: 'see' },
    { type: 'link', uri: 'demo://1', name: 'one' },
    { type: 'resource', uri: 'demo://2', text: 'inside' },
  ]
  const told = lines('get_links', { isError: false, content, size: 9 })
  expect(told).toEqual(expect.arrayContaining(['Link: one demo://1', 'Resource: demo://2']))
})

it('never calls an error a success', () => {
  expect(lines('read_file', failed('no such file'), { path: 'x' })).toEqual([
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
const toolName = fc.oneof(
  wildText,
  fc.constantFrom(
    'take_screenshot',
    'read_file',
    'list_console_messages',
    'take_snapshot',
    'list_network_requests',
    'move_file',
    'performance_stop_trace',
    'query-docs',
    'sequentialthinking',
  ),
)

it('never prints a control character and stays within its bound, whatever a tool says', () => {
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
    fc.property(outcome, toolName, params, (given, name, parameters) => {
      const summary = summarise(given, { name, category: 'docs' }, { ...parameters })
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

it('tells a value of a batch in one safe line', () => {
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
