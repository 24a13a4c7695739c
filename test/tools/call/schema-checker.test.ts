import type { JsonObject, JsonValue } from '../../../src/core/json.ts'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createSchemaChecker } from '../../../src/tools/call/schema-checker.ts'

const checker = createSchemaChecker({ limitMs: 20_000 })
const impatient = createSchemaChecker({ limitMs: 300 })
const draft7 = 'http://json-schema.org/draft-07/schema#'
const draft2020 = 'https://json-schema.org/draft/2020-12/schema'

it.each<[string, JsonObject, JsonValue, number]>([
  ['draft-07 tuple', { $schema: draft7, items: [{ type: 'string' }] }, [1], 1],
  ['2020-12 tuple', { $schema: draft2020, prefixItems: [{ type: 'string' }] }, [1], 1],
  ['no dialect is 2020-12', { prefixItems: [{ type: 'string' }] }, [1], 1],
  ['no dialect, draft-07 tuple all the same', { items: [{ type: 'string' }] }, [1], 1],
  [
    'draft-07 definitions',
    { $schema: draft7, definitions: { n: { type: 'number' } }, $ref: '#/definitions/n' },
    'x',
    1,
  ],
  [
    '2020-12 $defs',
    { $schema: draft2020, $defs: { n: { type: 'number' } }, $ref: '#/$defs/n' },
    'x',
    1,
  ],
  ['an unknown keyword and format', { type: 'string', format: 'moon', 'x-hint': 1 }, 'x', 0],
  ['a format', { type: 'string', format: 'email' }, 'nobody', 1],
  ['all errors at once', { required: ['a', 'b', 'c'] }, {}, 3],
  ['the same $id twice', { $id: 'http://x/y', type: 'string' }, 1, 1],
  ['the same $id with another schema', { $id: 'http://x/y', type: 'number' }, 1, 0],
])('%s', async (_, schema, value, problems) => {
  const verdict = await checker.check(schema, value)
  expect(verdict).toMatchObject({ checked: true })
  expect(verdict.checked && verdict.problems).toHaveLength(problems)
})

const bomb: JsonObject = {
  $ref: '#/$defs/n',
  $defs: {
    n: {
      anyOf: [
        { type: 'object', properties: { a: { $ref: '#/$defs/n' } }, required: ['x'] },
        { type: 'object', properties: { a: { $ref: '#/$defs/n' } }, required: ['y'] },
      ],
    },
  },
}

function nested(depth: number): JsonObject {
  return depth === 0 ? {} : { a: nested(depth - 1) }
}

it.each<[string, JsonObject, JsonValue]>([
  ['a reference to another place', { $ref: 'http://127.0.0.1:9/schema.json' }, {}],
  ['a reference to a file', { $ref: 'file:///etc/passwd' }, {}],
  ['a keyword of a wrong type', { type: 'object', properties: 5 }, {}],
  ['a schema that doubles at every level', bomb, nested(60)],
  [
    'code in a keyword',
    { required: ['"];process.exit(9)//'], maxLength: '1);process.exit(9)' },
    {},
  ],
  ['a schema without a bottom', { allOf: [{ $ref: '#' }] }, 1],
])('%s does not throw, and the value is not checked', async (_, schema, value) => {
  expect(await impatient.check(schema, value)).toMatchObject({
    checked: false,
    reason: expect.any(String),
  })
})

it('does not read a schema over the size limit', async () => {
  const schema: JsonObject = { description: 'x'.repeat(2_000_000) }
  expect(await checker.check(schema, {})).toMatchObject({ checked: false })
})

it('still checks other values after a check was stopped', async () => {
  expect(await impatient.check(bomb, nested(60))).toEqual({
    checked: false,
    reason: 'checking it by its schema takes too long',
  })
  const schema: JsonObject = { type: 'string', pattern: '^a+$' }
  expect(await checker.check(schema, 'aaa')).toEqual({ checked: true, problems: [], unread: [] })
  expect(await checker.check(schema, 'b')).toMatchObject({ problems: [{ kind: 'wrong' }] })
})

const slow = '^(a+)+$'
const slowText = `${'a'.repeat(60)}!`

it.each<[string, JsonObject, JsonValue]>([
  ['pattern', { type: 'string', pattern: slow }, slowText],
  ['patternProperties', { patternProperties: { [slow]: false } }, { aaa: 1, [slowText]: 1 }],
  ['propertyNames', { propertyNames: { pattern: slow } }, { [slowText]: 1 }],
  ['a pattern in draft-07', { $schema: draft7, items: [{ pattern: slow }] }, [slowText]],
  [
    'a pattern behind a reference',
    { $ref: '#/$defs/s', $defs: { s: { pattern: slow } } },
    slowText,
  ],
  [
    'unevaluatedProperties beside patternProperties',
    { patternProperties: { [slow]: {} }, unevaluatedProperties: false },
    { [slowText]: 1 },
  ],
])('matches with RE2, in linear time: %s', async (_, schema, value) => {
  const { RegExp: native } = globalThis
  const built: unknown[] = []
  globalThis.RegExp = new Proxy(native, {
    construct(target, [source, flags]) {
      built.push(source)
      return new target(source, flags)
    },
  })
  try {
    expect(await impatient.check(schema, value)).toMatchObject({
      checked: true,
      problems: expect.arrayContaining([expect.objectContaining({ kind: expect.any(String) })]),
      unread: [],
    })
  } finally {
    globalThis.RegExp = native
  }
  expect(built).not.toContain(slow)
})

it.each([
  ['look-ahead', '^(?!secret)'],
  ['a back-reference', String.raw`(a)\1`],
  ['no pattern at all', '('],
  ['a pattern that is too long', 'a'.repeat(5000)],
  ['a pattern that is too large', 'a{900}b{900}c{900}'],
  ['a POSIX class, which JSON Schema reads otherwise', '[[:alpha:]]'],
])('does not match %s, and reports that', async (_, pattern) => {
  const schema: JsonObject = { properties: { a: { type: 'string', pattern } } }
  const wrong = { a: 'secret' }
  expect(await checker.check(schema, wrong)).toEqual({
    checked: true,
    problems: [],
    unread: [pattern],
  })
  expect(await checker.check(schema, {})).toMatchObject({ unread: [] })
  expect(await checker.check(schema, { a: 1 })).toMatchObject({ problems: [{ kind: 'wrong' }] })
})

it('does not match a text that is too long for its pattern', async () => {
  const schema: JsonObject = { pattern: `^${'(?:a|b)'.repeat(100)}` }
  const verdict = await checker.check(schema, 'a'.repeat(100_000))
  expect(verdict).toMatchObject({ problems: [], unread: [schema['pattern']] })
  expect(await checker.check(schema, 'c')).toMatchObject({ problems: [{}], unread: [] })
})

it('names the path of a problem, even if names contain slashes', async () => {
  const schema: JsonObject = { properties: { 'a/b~c': { properties: { d: { type: 'string' } } } } }
  expect(await checker.check(schema, { 'a/b~c': { d: 1 } })).toMatchObject({
    problems: [{ path: ['a/b~c', 'd'], kind: 'wrong', message: 'must be string' }],
  })
})

it('never throws for any schema of a server', async () => {
  const keyword = fc.constantFrom(
    'type',
    'properties',
    'required',
    'items',
    'anyOf',
    '$ref',
    '$id',
    'pattern',
    'enum',
    'const',
    'not',
    '$defs',
    'additionalProperties',
    'format',
    '$dynamicRef',
    'if',
    'then',
  )
  const word = fc.constantFrom('string', 'object', '#', '#/$defs/a', 'a', '(')
  const { schema } = fc.letrec<{ schema: JsonValue }>((tie) => ({
    schema: fc.oneof(
      { maxDepth: 4 },
      word,
      fc.boolean(),
      fc.integer(),
      fc.array(tie('schema'), { maxLength: 3 }),
      fc.dictionary(keyword, tie('schema'), { maxKeys: 4 }),
    ),
  }))
  await fc.assert(
    fc.asyncProperty(fc.dictionary(keyword, schema), fc.jsonValue(), async (written, value) => {
      const verdict = await checker.check(written, JSON.parse(JSON.stringify(value)))
      expect(verdict.checked).toBeTypeOf('boolean')
    }),
    { numRuns: 150 },
  )
})
