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
  ['a pattern that is none', { type: 'string', pattern: '(' }, 'x'],
  [
    'a pattern that backtracks for ever',
    { type: 'string', pattern: '^(a+)+$' },
    `${'a'.repeat(60)}!`,
  ],
  ['a schema that doubles at every level', bomb, nested(60)],
  [
    'code in a keyword',
    { required: ['"];process.exit(9)//'], maxLength: '1);process.exit(9)' },
    {},
  ],
  ['a schema without a bottom', { allOf: [{ $ref: '#' }] }, 1],
])('%s is not a crash: the value is not checked', async (_, schema, value) => {
  expect(await impatient.check(schema, value)).toMatchObject({
    checked: false,
    reason: expect.any(String),
  })
})

it('does not read a schema of any size', async () => {
  const schema: JsonObject = { description: 'x'.repeat(2_000_000) }
  expect(await checker.check(schema, {})).toMatchObject({ checked: false })
})

it('goes on well after a check that was stopped', async () => {
  const schema: JsonObject = { type: 'string', pattern: '^(a+)+$' }
  expect(await impatient.check(schema, `${'a'.repeat(60)}!`)).toEqual({
    checked: false,
    reason: 'checking it by its schema takes too long',
  })
  expect(await checker.check(schema, 'aaa')).toEqual({ checked: true, problems: [] })
  expect(await checker.check(schema, 'b')).toMatchObject({ problems: [{ kind: 'wrong' }] })
})

it('names the place of a problem, also where names have slashes', async () => {
  const schema: JsonObject = { properties: { 'a/b~c': { properties: { d: { type: 'string' } } } } }
  expect(await checker.check(schema, { 'a/b~c': { d: 1 } })).toMatchObject({
    problems: [{ path: ['a/b~c', 'd'], kind: 'wrong', message: 'must be string' }],
  })
})

it('never throws, whatever a server calls a schema', async () => {
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
