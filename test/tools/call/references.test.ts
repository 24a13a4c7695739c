import type { JsonObject, JsonValue } from '../../../src/core/json.ts'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { bindParameters, referencedNames } from '../../../src/tools/call/steps.ts'

const variables = new Map<string, JsonValue>([
  ['element', { uid: '1_2', tags: ['a', { deep: true }], 'content-type': 'x', n: 7 }],
  ['items', [{ name: 'first' }, { name: 'second' }]],
  ['text', 'plain'],
  ['nothing', null],
])

it.each<[string, JsonValue]>([
  ['$element.uid', '1_2'],
  ['$element.n', 7],
  ['$element.tags', ['a', { deep: true }]],
  ['$element.tags[1].deep', true],
  ['$element["content-type"]', 'x'],
  ['$items[0].name', 'first'],
  ['$items[01].name', 'second'],
  ['$items', [{ name: 'first' }, { name: 'second' }]],
  ['$nothing', null],
  ['id=$element.uid, n=$element.n.', 'id=1_2, n=7.'],
  ['$items[1].name and $text', 'second and plain'],
  ['$$text', '$text'],
  ['literal $$text, value $text', 'literal $text, value plain'],
  ['costs $5.00', 'costs $5.00'],
  ['query($id: ID!) { user(id: $id) { name } }', 'query($id: ID!) { user(id: $id) { name } }'],
  ['^a$', '^a$'],
  ['$', '$'],
  ['$element.tags here', '["a",{"deep":true}] here'],
])('%s becomes %o', (written, expected) => {
  const bound = bindParameters({ value: written, inner: [{ value: written }] }, variables)
  expect(bound).toEqual({ ok: true, value: { value: expected, inner: [{ value: expected }] } })
})

const fields = 'it has the fields uid, tags, content-type, n'

it.each([
  ['$nobody', '$nobody is unknown; known here: $element, $items, $text, $nothing'],
  ['$element.missing', `$element.missing has no value; ${fields}`],
  ['$element.tags[1].shallow', '$element.tags[1].shallow has no value; it has the fields deep'],
  ['$items[9]', '$items[9] has no value; it has 2 items, the first is [0]'],
  ['$text.length', '$text.length has no value; it is a single value without fields'],
  ['$nothing.id', '$nothing.id has no value; it is a single value without fields'],
  ['$items["0"]', '$items["0"] has no value; it has 2 items, the first is [0]'],
  ['$items.length', '$items.length has no value; it has 2 items, the first is [0]'],
  ['$element.__proto__', `$element.__proto__ has no value; ${fields}`],
  ['$element.constructor.name', `$element.constructor.name has no value; ${fields}`],
  ['see $element["prototype"]', `$element["prototype"] has no value; ${fields}`],
  ['$element.toString', `$element.toString has no value; ${fields}`],
])('%s is refused: %s', (written, message) => {
  expect(bindParameters({ value: written }, variables)).toEqual({ ok: false, message })
})

it('says of an item of an empty list that the list is empty', () => {
  const message = '$none[0] has no value; it is an empty list'
  const bound = bindParameters({ value: '$none[0]' }, new Map([['none', []]]))
  expect(bound).toEqual({ ok: false, message })
})

it('reports a reference before its value exists', () => {
  const declared = new Set(['later'])
  expect(bindParameters({ a: 'x $later' }, new Map(), declared)).toEqual({
    ok: false,
    message: '$later is unknown; known here: none',
  })
})

it('refuses circular parameters', () => {
  let nested: JsonValue = 'x'
  for (let depth = 0; depth < 200; depth++) nested = [nested]
  expect(bindParameters({ nested }, variables).ok).toBe(false)
})

const plainText = fc.string().filter((text) => !text.includes('$'))
const json = fc.jsonValue().map((value): JsonValue => JSON.parse(JSON.stringify(value)))
const params = fc.dictionary(fc.string(), fc.oneof(plainText, fc.integer(), fc.array(plainText)))

it('does not change parameters without a dollar sign', () => {
  fc.assert(
    fc.property(params, (written) => {
      const parameters: JsonObject = { ...written }
      expect(bindParameters(parameters, variables)).toEqual({ ok: true, value: parameters })
    }),
  )
})

it('replaces a whole-string reference with exactly the value, of any type', () => {
  fc.assert(
    fc.property(json, (value) => {
      const bound = bindParameters({ at: '$name' }, new Map([['name', value]]))
      expect(bound).toEqual({ ok: true, value: { at: value } })
    }),
  )
})

it('never resolves references inside an inserted value', () => {
  fc.assert(
    fc.property(fc.string(), (inner) => {
      const values = new Map<string, JsonValue>([
        ['a', `$b ${inner}`],
        ['b', 'B'],
      ])
      const bound = bindParameters({ at: '<$a>', whole: '$a' }, values)
      expect(bound).toEqual({ ok: true, value: { at: `<$b ${inner}>`, whole: `$b ${inner}` } })
    }),
  )
})

it('never throws and never reaches a prototype, for any text', () => {
  const piece = fc.constantFrom(
    '$',
    '$$',
    'element',
    '.',
    '[0]',
    '["',
    '"]',
    '__proto__',
    'uid',
    ' ',
  )
  fc.assert(
    fc.property(fc.array(fc.oneof(piece, fc.string())), (pieces) => {
      const bound = bindParameters({ at: pieces.join('') }, variables)
      const text = bound.ok ? JSON.stringify(bound.value) : bound.message
      expect(text).toBeTypeOf('string')
      expect(text).not.toContain('[native code]')
    }),
  )
})

it('lists the names that whole strings refer to', () => {
  expect(referencedNames({ a: '$x.y', b: ['$z', 'in $text'], c: { d: '$x' } })).toEqual(['x', 'z'])
})
