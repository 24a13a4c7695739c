import fc from 'fast-check'
import { expect, it } from 'vitest'
import { findSlots, type SlotKind } from '../../../src/tools/parameters/slots.ts'

const rows: readonly [request: string, slots: readonly [SlotKind, string][]][] = [
  ['open https://x.test/a?b=c.', [['url', 'https://x.test/a?b=c']]],
  ['open localhost:3000/login', [['url', 'localhost:3000/login']]],
  ['visit example.com now', [['path', 'example.com']]],
  ['mail ann@example.com, please', [['email', 'ann@example.com']]],
  ['issues of octo/hello', [['path', 'octo/hello']]],
  [
    'read ./src/a.ts and /etc/hosts',
    [
      ['path', './src/a.ts'],
      ['path', '/etc/hosts'],
    ],
  ],
  ['read notes.md', [['path', 'notes.md']]],
  ['say "a/b 7"', [['quoted', 'a/b 7']]],
  ["it's the dog's bone", []],
  ['resize to 1280x720', [['size', '1280x720']]],
  ['since 2026-11-01', [['date', '2026-11-01']]],
  ['PR #12', [['number', '12']]],
  ['wait 5s', [['number', '5']]],
  ['click 1_12', [['identifier', '1_12']]],
  ['run SELECT a FROM b WHERE c = 3; then stop', [['sql', 'SELECT a FROM b WHERE c = 3']]],
  ['select the first option from the list below', []],
  ['explain useState', [['identifier', 'useState']]],
  ['open __init__.py', [['path', '__init__.py']]],
  ['this and/or that', []],
]

it.each(rows)('%s', (request, slots) => {
  expect(findSlots(request).map(({ kind, value }) => [kind, value])).toEqual(slots)
})

it('returns the position of every slot in the request, in order', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.string({ unit: 'binary' })), (request) => {
      const slots = findSlots(request)
      for (const { value, start, end } of slots) expect(request.slice(start, end)).toContain(value)
      expect(slots.map(({ start }) => start)).toEqual(
        slots.map(({ start }) => start).toSorted((a, b) => a - b),
      )
    }),
  )
})
