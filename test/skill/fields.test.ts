import { describe, expect, it } from 'vitest'
import { fieldTable } from '../../src/skill/field-table.ts'
import type { SkillFields } from '../../src/skill/model.ts'
import { parseSkill } from '../../src/skill/parse.ts'
import { codesOf, fieldsOf } from './_fields-of.ts'

function read(source: string, name: keyof SkillFields): unknown {
  return fieldsOf(source).fields[name]
}

describe('a frontmatter without extensions', () => {
  it('has defaults for every field', () => {
    const { fields, diagnostics } = fieldsOf('name: a\ndescription: Does a.')
    expect(diagnostics).toEqual([])
    expect({ ...fields, metadata: { ...fields.metadata } }).toEqual({
      name: 'a',
      description: 'Does a.',
      license: undefined,
      compatibility: undefined,
      metadata: {},
      allowedTools: undefined,
      triggers: [],
      chain: undefined,
      run: undefined,
      model: undefined,
      context: undefined,
      agent: undefined,
      disableModelInvocation: false,
      userInvocable: true,
      argumentHint: undefined,
      arguments: [],
      hooks: undefined,
    })
  })

  it('keeps metadata without a prototype, with the text of every scalar', () => {
    const { metadata } = fieldsOf(
      'metadata:\n  version: 1.10\n  flag: true\n  toString: "x"',
    ).fields
    expect(Object.getPrototypeOf(metadata)).toBeNull()
    expect({ ...metadata }).toEqual({ version: '1.10', flag: 'true', toString: 'x' })
  })
})

describe('one field', () => {
  it.each<[string, keyof SkillFields, unknown]>([
    ['name: 123', 'name', '123'],
    ['name: " a "', 'name', 'a'],
    ['description: >\n  Two\n  lines.', 'description', 'Two lines.'],
    ['description: ~', 'description', undefined],
    ['description: "~"', 'description', '~'],
    ['description: ""', 'description', undefined],
    ['license: MIT', 'license', 'MIT'],
    [
      'allowed-tools: Read, Bash(git add:*)',
      'allowedTools',
      [{ tool: 'Read' }, { tool: 'Bash', pattern: 'git add:*' }],
    ],
    ['allowed-tools:\n  - Read\n  - Edit', 'allowedTools', [{ tool: 'Read' }, { tool: 'Edit' }]],
    [
      'allowed-tools: [Read, "Bash(a, b)"]',
      'allowedTools',
      [{ tool: 'Read' }, { tool: 'Bash', pattern: 'a, b' }],
    ],
    ['allowed-tools:', 'allowedTools', undefined],
    ['model: opus', 'model', 'opus'],
    ['context: fork', 'context', 'fork'],
    ['agent: explorer', 'agent', 'explorer'],
    ['disable-model-invocation: true', 'disableModelInvocation', true],
    ['disable-model-invocation: "yes"', 'disableModelInvocation', true],
    ['user-invocable: off', 'userInvocable', false],
    ['user-invocable: 0', 'userInvocable', false],
    ['user-invocable:', 'userInvocable', true],
    ['argument-hint: "[file]"', 'argumentHint', '[file]'],
    ['arguments: file format', 'arguments', ['file', 'format']],
    ['arguments: [file, format]', 'arguments', ['file', 'format']],
    ['run: scripts/main.sh', 'run', 'scripts/main.sh'],
    ['sandbox: true', 'sandbox', true],
    ['metadata:\n  sandbox: "true"', 'sandbox', true],
    ['sandbox: no', 'sandbox', undefined],
    ['hooks:\n  Stop:\n    - run: x', 'hooks', { Stop: [{ run: 'x' }] }],
    [`hooks: '{"Stop": []}'`, 'hooks', { Stop: [] }],
    ['metadata:\n  model: haiku', 'model', 'haiku'],
    ['metadata:\n  user-invocable: "false"', 'userInvocable', false],
    ['metadata:\n  arguments: "a b"', 'arguments', ['a', 'b']],
    ['metadata: ', 'model', undefined],
  ])('reads the line %j into the field %s', (source, name, value) => {
    expect(read(source, name)).toEqual(value)
    expect(codesOf(source)).toEqual([])
  })

  it.each([
    ['name: [a]', 'field-type:2'],
    ['name: a\nlicense:\n  x: y', 'field-type:4'],
    ['metadata: hello', 'field-type:2'],
    ['metadata:\n  - a', 'field-type:3'],
    ['allowed-tools:\n  a: b', 'field-type:3'],
    ['allowed-tools:\n  - [a]', 'field-type:3'],
    ['allowed-tools: Bash(git', 'allowed-tools-unbalanced:2'],
    ['context: inline', 'field-value:2'],
    ['user-invocable: maybe', 'field-type:2'],
    ['disable-model-invocation: [true]', 'field-type:2'],
    ['hooks: [a]', 'field-type:2'],
    ['hooks: text', 'field-type:2'],
    ["hooks: '[1]'", 'field-type:2'],
    ['arguments:\n  a: b', 'field-type:3'],
    ['arguments: [ARGUMENTS]', 'argument-name:2'],
    ['arguments: 1st', 'argument-name:2'],
    ['arguments: a b a', 'argument-name:2'],
    ['argument-hint: [file, mode]', 'argument-hint-list:2'],
    ['run: ../x.sh', 'path-outside:2'],
    ['run: /bin/sh', 'path-outside:2'],
    ['run: scripts\\x.sh', 'path-outside:2'],
    ['run: C:/x.sh', 'path-outside:2'],
    ['chain: a b', 'field-placement:2'],
    ['model: a\nmetadata:\n  model: b', 'field-twice:2'],
  ])('reports %j as %s', (source, code) => {
    expect(codesOf(source)).toEqual([code])
  })

  it('takes precedence over the same field below metadata', () => {
    expect(read('metadata:\n  model: b\nmodel: a', 'model')).toBe('a')
  })

  it('keeps an argument hint in brackets as text', () => {
    expect(read('argument-hint: [file, mode]', 'argumentHint')).toBe('[file, mode]')
  })
})

describe('triggers', () => {
  const two = [
    { match: '^/saw program', inject: 'references/program.md' },
    { match: 'a => b', inject: 'references/b.md' },
  ]
  it.each([
    [
      'triggers:\n  - match: "^/saw program"\n    inject: references/program.md\n  - match: a => b\n    inject: references/b.md',
      [3, 5],
    ],
    [
      'triggers: |\n  ^/saw program => references/program.md\n\n  a => b => references/b.md',
      [3, 5],
    ],
    [
      'metadata:\n  triggers: "^/saw program => references/program.md\\na => b => references/b.md"',
      [3, 3],
    ],
  ])('are read from the form %j', (source, lines) => {
    expect(read(source, 'triggers')).toEqual(two.map((it, at) => ({ ...it, line: lines[at] })))
    expect(codesOf(source)).toEqual([])
  })

  it('keep the blanks of a quoted pattern', () => {
    const source = 'triggers:\n  - match: " x "\n    inject: a.md'
    expect(read(source, 'triggers')).toEqual([{ match: ' x ', inject: 'a.md', line: 3 }])
  })

  it.each([
    ['triggers: a.md', ['trigger-form:2']],
    ['triggers:\n  match: a', ['field-type:3']],
    ['triggers:\n  - a', ['trigger-form:3']],
    ['triggers:\n  - match: a', ['trigger-form:3']],
    ['triggers:\n  - match: ""\n    inject: a.md', ['trigger-form:3']],
    ['triggers:\n  - match: a\n    inject: [a.md]', ['field-type:4']],
    ['triggers:\n  - match: a\n    inject: ../a.md', ['path-outside:3']],
    ['triggers:\n  - mach: a\n    match: a\n    inject: a.md', ['trigger-unknown-key:3']],
    ['triggers: |\n  a => b.md\n  c', ['trigger-form:4']],
  ])('are reported: %j as %j', (source, codes) => {
    expect(codesOf(source)).toEqual(codes)
  })

  it('stay usable beside an unusable one', () => {
    const source = 'triggers:\n  - match: a\n  - match: b\n    inject: b.md'
    expect(read(source, 'triggers')).toEqual([{ match: 'b', inject: 'b.md', line: 4 }])
  })
})

describe('the table of fields', () => {
  it('lists every name once per place, with a source and a constraint', () => {
    const places = fieldTable.flatMap(({ name, placement }) =>
      placement === 'either' ? [`top ${name}`, `metadata ${name}`] : [`${placement} ${name}`],
    )
    expect(new Set(places).size).toBe(places.length)
    for (const { constraint, source, owner, clients } of fieldTable) {
      expect(constraint).toMatch(/\.$/)
      expect(source).not.toBe('')
      expect(owner !== 'client' || clients.length > 0).toBe(true)
    }
  })
})

it('warns of a number in hooks that loses digits', () => {
  const hooks = 'hooks:\n  Stop:\n    - matcher: 1.10\n      timeout: 5\n      code: 010'
  const text = `---\nname: a\ndescription: b\n${hooks}\n---\n`
  const { diagnostics } = parseSkill(text, { path: 'a/SKILL.md' })
  expect(diagnostics.map(({ code, line }) => `${code}:${line}`)).toEqual([
    'text-unquoted:6',
    'text-unquoted:8',
  ])
})
