import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type JsonObject, type JsonValue, objectOf } from '../../../src/core/json.ts'
import { describeParameters } from '../../../src/tools/cache/describe-parameters.ts'
import { indexDefinitions } from '../../../src/tools/cache/tool-index.ts'
import {
  callToComplete,
  checkParameters,
  foreseenProblems,
  readPairs,
  unknownParameters,
} from '../../../src/tools/call/check-parameters.ts'
import { createSchemaChecker } from '../../../src/tools/call/schema-checker.ts'
import type { ToolDefinition } from '../../../src/tools/model.ts'
import { mapParameters } from '../../../src/tools/parameters/map-parameters.ts'
import {
  coerceText,
  type Parameter,
  parametersOf,
} from '../../../src/tools/parameters/parameter.ts'
import { planRequest } from '../../../src/tools/parameters/plan-request.ts'
import { readSchema, typeText } from '../../../src/tools/schema/read-schema.ts'
import { offeredSchema, schemaFault } from '../../../src/tools/schema/usable-schema.ts'

const checker = createSchemaChecker({ limitMs: 20_000 })

function toolOf(inputSchema: JsonObject): ToolDefinition {
  return { id: 's__set_level', server: 's', name: 'set_level', description: 'Set it', inputSchema }
}

function oneParameter(schema: JsonValue, $defs: JsonObject = {}): Parameter {
  const [parameter] = parametersOf({ type: 'object', properties: { n: schema }, $defs })
  if (!parameter) throw new Error('there is no parameter')
  return parameter
}

describe('a reference in a schema', () => {
  const requests = [
    'set level to 4',
    'set level n=4 and flag on',
    'set the level of "a b" to open',
    'set_level flag=true n=1,2',
    'set level https://example.com/a ./data/x.txt 2026-01-02',
  ]
  const texts = ['4', '-1.5', 'true', 'a', 'a,b', '[1,2]', '{"a":1}', 'open', '', 'null']

  it('is read like its target for every use in random schemas', async () => {
    const cases = fc.tuple(rootSchema, fc.array(fc.nat(99), { minLength: 1, maxLength: 12 }))
    await fc.assert(
      fc.asyncProperty(cases, async ([inline, choices]) => {
        const referring = withReferences(inline, choices)
        expect(await everyUse(referring)).toEqual(await everyUse(inline))
      }),
      { numRuns: 150 },
    )
  })

  async function everyUse(schema: JsonObject): Promise<unknown> {
    const tool = toolOf(schema)
    const parameters = parametersOf(schema)
    const names = parameters.map(({ name }) => name)
    const plain = names.filter((name) => !/\s/.test(name))
    const pairs = plain.map((name, at) => `${name}=${texts[at % texts.length]}`)
    const values = Object.fromEntries(names.map((name) => [name, 4]))
    const { tools } = indexDefinitions([tool])
    return {
      parameters: parameters.map((parameter) => facts(parameter, 0)),
      coerced: parameters.map((one) => texts.map((text) => coerceText(text, one))),
      described: describeParameters(schema),
      types: [...readSchema(schema).properties].map(([name, place]) => [name, typeText(place)]),
      indexed: tools,
      completed: callToComplete(tool, {}, names),
      unknown: [true, false].map((forbidden) => unknownParameters(tool, { nn: 1 }, forbidden)),
      pairs: readPairs(pairs, tool),
      refused: await checkParameters(tool, values, checker).catch(String),
      foreseen: await foreseenProblems(tool, {}, [], checker),
      mapped: requests.map((request) => mapParameters(request, tool)),
      planned: requests.map((text) =>
        planRequest([{ text, tool: tool.id }], { definition: () => tool, tools: [tool.id] }),
      ),
      fault: schemaFault(schema),
      offered: describeParameters(offeredSchema(schema)),
    }
  }

  function facts(parameter: Parameter, depth: number): unknown {
    if (depth > 4) return 'deeper'
    const { items, alternatives, words, ...rest } = parameter
    return {
      ...rest,
      words,
      items: items && facts(items, depth + 1),
      alternatives: alternatives.map((one) => facts(one, depth + 1)),
    }
  }
})

const limits = fc.record(
  { minimum: fc.integer({ min: -2, max: 3 }), maximum: fc.integer({ min: 4, max: 9 }) },
  { requiredKeys: [] },
)
const texts = fc.record(
  {
    format: fc.constantFrom('uri', 'email', 'date'),
    pattern: fc.constantFrom('^[a-z]+$', '(?=x)'),
    description: fc.constantFrom('How loud', 'The page; the only flag', 'a level, e.g. AB'),
    default: fc.constantFrom('a', 4),
  },
  { requiredKeys: [] },
)
const fieldName = fc.constantFrom(
  'n',
  'level',
  'flag',
  'url',
  'file_path',
  'a/b',
  'c~d',
  'e f',
  '%',
)

const { schema: anySchema, object: rootSchema } = fc.letrec<{
  schema: JsonObject
  object: JsonObject
}>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc
      .tuple(fc.constantFrom('integer', 'number', 'string', 'boolean'), limits, texts)
      .map(([type, limit, text]) => ({ type, ...(type.endsWith('er') ? limit : {}), ...text })),
    fc.constantFrom<JsonObject>(
      { enum: ['open', 'closed'] },
      { enum: ['open', null] },
      { const: 'only' },
      { type: ['integer', 'null'] },
      { type: ['integer', 'string'] },
      { type: 'string', nullable: true },
      {},
    ),
    tie('schema').map((items) => ({ type: 'array', items })),
    tie('object'),
    fc.tuple(tie('schema'), fc.constantFrom('anyOf', 'oneOf')).map(([one, keyword]) => ({
      [keyword]: [one, { type: 'null' }],
      description: 'maybe',
    })),
    fc.array(tie('schema'), { minLength: 1, maxLength: 3 }).map((anyOf) => ({ anyOf })),
    fc.array(tie('schema'), { minLength: 1, maxLength: 2 }).map((allOf) => ({ allOf })),
    fc.constantFrom('a', 'b').map((value) => ({
      oneOf: [{ const: value, title: 'A' }, { const: 'c' }],
    })),
  ),
  object: fc
    .tuple(
      fc.dictionary(fieldName, tie('schema'), { maxKeys: 4, noNullPrototype: true }),
      fc.subarray(['n', 'level', 'url']),
      fc.constantFrom<JsonObject>({}, { additionalProperties: false }),
    )
    .map(([properties, wanted, more]) => ({
      type: 'object',
      properties,
      required: wanted.filter((name) => Object.hasOwn(properties, name)),
      ...more,
    })),
}))
void anySchema

/** Moves parts of a schema to `$defs`, also the whole schema and parts of moved parts. */
function withReferences(schema: JsonObject, choices: readonly number[]): JsonObject {
  const definitions: Record<string, JsonValue> = {}
  let turn = 0
  const next = () => choices[turn++ % choices.length] ?? 0
  const moved = (value: JsonValue): JsonValue => {
    if (typeof value !== 'object' || value === null) return value
    const inner = Object.fromEntries(
      Object.entries(value).map(([keyword, member]: [string, JsonValue]) => [
        keyword,
        moveIn(keyword, member),
      ]),
    )
    const choice = next()
    if (choice % 2 === 0) return inner
    const number = Object.keys(definitions).length
    const name = choice % 3 === 0 ? `d/${number}~ %` : `d${number}`
    definitions[name] = choice % 5 === 0 ? { ...inner, $anchor: `anchor${number}` } : inner
    if (choice % 5 === 0) return { $ref: `#anchor${number}` }
    const pointer = name.replaceAll('~', '~0').replaceAll('/', '~1')
    return {
      $ref: `#/$defs/${choice % 7 === 0 ? encodeURIComponent(pointer) : encodeURI(pointer)}`,
    }
  }
  const moveIn = (keyword: string, member: JsonValue): JsonValue => {
    if (keyword === 'items') return moved(member)
    if (Array.isArray(member) && /^(?:any|one|all)Of$/.test(keyword)) return member.map(moved)
    if (keyword !== 'properties' || typeof member !== 'object' || member === null) return member
    return Object.fromEntries(Object.entries(member).map(([name, one]) => [name, moved(one)]))
  }
  const root = moved(schema)
  return { ...objectOf<JsonValue>(root), $defs: definitions }
}

describe('unions, bounds and lists of types', () => {
  it.each<[string, JsonValue, [text: string, value: JsonValue | undefined][]]>([
    ['anyOf of a number and null', { anyOf: [{ type: 'integer' }, { type: 'null' }] }, [['4', 4]]],
    ['a list of types with null', { type: ['null', 'boolean'] }, [['yes', true]]],
    ['nullable', { type: 'number', nullable: true }, [['1.5', 1.5]]],
    [
      'anyOf of two types',
      { anyOf: [{ type: 'integer' }, { type: 'boolean' }] },
      [
        ['4', 4],
        ['no', false],
        ['x', undefined],
      ],
    ],
    [
      'the first type of a list that accepts the text',
      { type: ['integer', 'string'] },
      [
        ['4', 4],
        ['x', 'x'],
      ],
    ],
    [
      'one text or a list of texts',
      { anyOf: [{ type: 'array', items: { type: 'string' } }, { type: 'string' }] },
      [
        ['a', 'a'],
        ['["a","b"]', ['a', 'b']],
      ],
    ],
    [
      'allOf, whose bounds all hold',
      {
        allOf: [
          { type: 'number', minimum: 3 },
          { type: 'integer', maximum: 5 },
        ],
      },
      [
        ['4', 4],
        ['4.5', undefined],
        ['2', undefined],
        ['6', undefined],
      ],
    ],
    [
      'bounds that are excluded themselves',
      { type: 'integer', exclusiveMinimum: 0, exclusiveMaximum: 3 },
      [
        ['0', undefined],
        ['1', 1],
        ['3', undefined],
      ],
    ],
    [
      'choices of several alternatives',
      { anyOf: [{ const: 'a' }, { enum: ['b', 'c'] }, { type: 'null' }] },
      [
        ['B', 'b'],
        ['d', undefined],
      ],
    ],
    [
      'choices that all parts list',
      { allOf: [{ enum: ['a', 'b'] }, { enum: ['b', 'c'] }] },
      [
        ['b', 'b'],
        ['a', undefined],
      ],
    ],
  ])('reads %s', (_, schema, cases) => {
    const parameter = oneParameter(schema)
    expect(cases.map(([text]) => [text, coerceText(text, parameter)])).toEqual(cases)
  })

  it('reads the fields of every alternative of a whole schema', () => {
    const schema: JsonObject = {
      oneOf: [
        { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] },
        { type: 'object', properties: { id: { type: 'string' }, name: {} }, required: ['id'] },
      ],
    }
    const read = parametersOf(schema).map(({ name, required }) => [name, required])
    expect(read).toEqual([
      ['id', true],
      ['name', false],
    ])
    expect(typeText(readSchema(schema).property('id'))).toBe('integer | string')
    expect(offeredSchema(schema)).toMatchObject({ type: 'object', required: ['id'] })
    expect(offeredSchema(schema)).not.toHaveProperty('oneOf')
  })
})

describe('hostile schemas', () => {
  const list: JsonObject = { type: 'array', items: { $ref: '#/$defs/list' } }
  const doubled = (levels: number): JsonObject =>
    Object.fromEntries(
      Array.from({ length: levels }, (_, at) => [
        `d${at}`,
        { anyOf: [{ $ref: `#/$defs/d${at + 1}` }, { $ref: `#/$defs/d${at + 1}`, title: 'again' }] },
      ]),
    )
  const deep = (levels: number): JsonObject => {
    let schema: JsonObject = { type: 'string' }
    for (let level = 0; level < levels; level++) schema = { type: 'array', items: schema }
    return schema
  }

  it.each<[string, JsonValue, JsonObject]>([
    ['a reference to itself', { $ref: '#/$defs/me' }, { me: { $ref: '#/$defs/me' } }],
    [
      'a union with itself',
      { $ref: '#/$defs/me' },
      { me: { anyOf: [{ $ref: '#/$defs/me' }, {}] } },
    ],
    ['allOf of itself', { $ref: '#/$defs/me' }, { me: { allOf: [{ $ref: '#/$defs/me' }] } }],
    ['the whole schema', { $ref: '#' }, {}],
    ['a list of itself', { $ref: '#/$defs/list' }, { list }],
    ['unions that double at every level', { $ref: '#/$defs/d0' }, { ...doubled(60), d60: {} }],
    ['200 levels', deep(200), {}],
    [
      '20,000 alternatives',
      { anyOf: Array.from({ length: 20_000 }, (_, at) => ({ title: `${at}` })) },
      {},
    ],
    ['100,000 choices', { enum: Array.from({ length: 100_000 }, (_, at) => `value ${at}`) }, {}],
    [
      '5,000 references in a row',
      { $ref: '#/$defs/r0' },
      Object.fromEntries(
        Array.from({ length: 5000 }, (_, at) => [`r${at}`, { $ref: `#/$defs/r${at + 1}` }]),
      ),
    ],
  ])('%s', (_, schema, $defs) => {
    const root: JsonObject = { type: 'object', properties: { n: schema }, $defs }
    const [parameter] = parametersOf(root)
    expect(parameter?.name).toBe('n')
    for (const text of ['4', 'a,b', '[[["a"]]]']) if (parameter) coerceText(text, parameter)
    describeParameters(root)
    schemaFault(root)
    mapParameters('set n to 4', toolOf(root))
    expect(callToComplete(toolOf(root), {}, ['n']).length).toBeLessThan(5000)
  })

  it('do not make the property name of a JavaScript object a parameter', () => {
    const schema: JsonObject = JSON.parse(
      '{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{},"n":{"$ref":"#/$defs/__proto__"}},"$defs":{"__proto__":{"type":"integer"}},"required":["__proto__"]}',
    )
    expect(parametersOf(schema).map(({ name, kind }) => [name, kind])).toEqual([['n', 'integer']])
    expect(readSchema({ properties: { n: { $ref: '#/toString' } } }).dangling).toEqual([
      '#/toString',
    ])
  })
})

describe('schemas that no provider and no server can use', () => {
  it.each<[string, JsonObject]>([
    ['a reference that leads nowhere', { properties: { n: { $ref: '#/$defs/gone' } } }],
    [
      'such a reference below others',
      {
        properties: { n: { items: { $ref: '#/$defs/a' } } },
        $defs: { a: { not: { $ref: '#/x' } } },
      },
    ],
    ['a reference to another place', { properties: { n: { $ref: 'https://example.com/a.json' } } }],
    ['a reference to a file', { $ref: 'file:///etc/passwd' }],
    ['a text instead of an object', { type: 'string' }],
    [
      'a text behind a reference',
      { $ref: '#/$defs/t', $defs: { t: { type: ['string', 'null'] } } },
    ],
    ['an alternative of texts and lists', { anyOf: [{ type: 'string' }, { type: 'array' }] }],
    ['a required field that nothing fits', { properties: { n: false }, required: ['n'] }],
    [
      'a required field of contradicting types',
      { properties: { n: { allOf: [{ type: 'string' }, { type: 'integer' }] } }, required: ['n'] },
    ],
    ['a required choice of nothing', { properties: { n: { enum: [] } }, required: ['n'] }],
    [
      'a required number between 5 and 3',
      { properties: { n: { type: 'integer', minimum: 5, maximum: 3 } }, required: ['n'] },
    ],
    ['everything forbidden', { not: {} }],
    [
      'an object that contains itself',
      { type: 'object', properties: { n: { $ref: '#' } }, required: ['n'] },
    ],
  ])('%s', (_, schema) => {
    expect(schemaFault(schema)).toBeTypeOf('string')
  })

  it.each<[string, JsonObject]>([
    ['nothing', {}],
    ['an optional field that nothing fits', { properties: { n: false } }],
    [
      'a list of itself',
      {
        type: 'object',
        properties: { n: { type: 'array', items: { $ref: '#' } } },
        required: ['n'],
      },
    ],
    [
      'itself or null',
      {
        type: 'object',
        properties: { n: { anyOf: [{ $ref: '#' }, { type: 'null' }] } },
        required: ['n'],
      },
    ],
    [
      'a reference by an $id',
      {
        $id: 'https://example.com/t.json',
        properties: { n: { $ref: 't.json#/$defs/l' } },
        $defs: { l: { type: 'integer' } },
      },
    ],
    [
      'a reference to a schema with an $id',
      {
        properties: { n: { $ref: 'level.json' } },
        $defs: { l: { $id: 'level.json', $ref: '#/$defs/m', $defs: { m: { type: 'integer' } } } },
      },
    ],
    ['a field called $ref', { properties: { $ref: { type: 'string' } } }],
    ['a reference in a default', { properties: { n: { default: { $ref: '#/gone' } } } }],
  ])('do not include %s', (_, schema) => {
    expect(schemaFault(schema)).toBeUndefined()
  })

  it('follow a reference by its $id', () => {
    const [parameter] = parametersOf({
      properties: { n: { $ref: 'level.json' } },
      $defs: { l: { $id: 'level.json', $ref: '#/$defs/m', $defs: { m: { type: 'integer' } } } },
    })
    expect(parameter?.kind).toBe('integer')
  })
})
