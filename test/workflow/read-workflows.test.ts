import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { loadWorkflows, readWorkflows } from '../../src/tools/workflow/read-workflows.ts'
import { temporaryProject, workflow } from './helpers.ts'

const seed = `{
  "database-safe-query": {
    "enabled": true,
    "description": "Look first",
    "triggers": { "category": "database", "tools": ["execute_query"], "keywords": ["query"] },
    "prerequisites": [
      { "step": 2, "tool": "list_tables", "description": "b", "required": false,
        "params": { "database": "$call.database" }, "output_as": "tables",
        "scope": ["database"], "invalidated_by": ["create_table"] },
      { "step": 1, "tool": "list_databases", "description": "a" }
    ],
    "mode": "warn",
    "created_at": "2026-02-04T10:00:00Z"
  }
}`

function read(text: string): ReturnType<typeof readWorkflows> {
  return readWorkflows([{ path: 'w.json', text }])
}

function codes(text: string): string[] {
  return read(text).diagnostics.map(({ code, line }) => `${code}:${line}`)
}

it('reads a definition with every field, its steps in order', () => {
  const { workflows, diagnostics } = read(seed)
  expect(diagnostics).toEqual([])
  expect(workflows).toEqual([
    {
      name: 'database-safe-query',
      enabled: true,
      description: 'Look first',
      triggers: { category: 'database', tools: ['execute_query'], keywords: ['query'] },
      prerequisites: [
        { step: 1, tool: 'list_databases', description: 'a', required: true },
        {
          step: 2,
          tool: 'list_tables',
          description: 'b',
          required: false,
          params: { database: '$call.database' },
          outputAs: 'tables',
          scope: ['database'],
          invalidatedBy: ['create_table'],
        },
      ],
      mode: 'warn',
      createdAt: '2026-02-04T10:00:00Z',
      path: 'w.json',
      line: 2,
    },
  ])
})

it('enforces a workflow without the fields enabled and mode', () => {
  const [found] = read(JSON.stringify(workflow('a'))).workflows
  expect(found).toMatchObject({ enabled: true, mode: 'enforce' })
})

it.each([
  ['a tool cache', JSON.stringify({ version: '4.0.0', categories: {}, workflows: workflow('a') })],
  ['an object of workflows', JSON.stringify(workflow('a'))],
  ['comments and trailing commas', `// ours\n${JSON.stringify(workflow('a')).slice(0, -1)},}`],
  ['a schema', JSON.stringify({ $schema: './x.json', ...workflow('a') })],
  [
    'one definition with its name',
    JSON.stringify({ name: 'a', ...Object.values(workflow('a'))[0] }),
  ],
])('reads %s', (_, text) => {
  const { workflows, diagnostics } = read(text)
  expect(workflows.map(({ name }) => name)).toEqual(['a'])
  expect(diagnostics).toEqual([])
})

it('returns no workflow for a tool cache without workflows', () => {
  expect(read('{"version": "1", "categories": {}, "tool_count": 0}')).toEqual({
    workflows: [],
    diagnostics: [],
  })
})

it('prefers the first of two files, and reports that', () => {
  const text = JSON.stringify(workflow('a', { description: 'first' }))
  const later = JSON.stringify({ ...workflow('a', { description: 'second' }), ...workflow('b') })
  const { workflows, diagnostics } = readWorkflows([
    { path: '1.json', text },
    { path: '2.json', text: later },
  ])
  expect(workflows.map(({ name, path }) => [name, path])).toEqual([
    ['a', '1.json'],
    ['b', '2.json'],
  ])
  expect(diagnostics).toMatchObject([{ code: 'workflow-shadowed', severity: 'info' }])
})

describe('a file with errors', () => {
  it.each([
    ['a missing comma', '{\n  "a": {}\n  "b": {}\n}', ['workflows-syntax:3']],
    ['a list', '[]', ['workflows-syntax:1']],
    ['a number of workflows', '{"workflows": 3}', ['workflow-wrong-type:1']],
    ['no definition', '{\n"a": 3}', ['workflow-wrong-type:2']],
    [
      'a prototype key as a name',
      '{\n"__proto__": {}, "constructor": {}}',
      ['workflow-key-forbidden:2', 'workflow-key-forbidden:2'],
    ],
    ['one name twice', `{\n"a": 1,\n"a": 2}`, ['workflow-key-repeated:2', 'workflow-wrong-type:2']],
    [
      'a key of a workflow twice',
      '{"a": {"prerequisites": [], "mode": "enforce",\n"mode": "suggest"}}',
      ['workflow-field-missing:1', 'workflow-key-repeated:1'],
    ],
    [
      'a key of its triggers twice',
      '{"a": {"prerequisites": [],\n"triggers": {"server": "x", "server": "y"}}}',
      ['workflow-no-description:1', 'workflow-key-repeated:2'],
    ],
    ['nothing inside', '{"a": {}}', ['workflow-field-missing:1', 'workflow-field-missing:1']],
  ])('reports %s with its line', (_, text, expected) => {
    expect(codes(text)).toEqual(expected)
    expect(read(text).workflows).toEqual([])
  })

  it.each([
    ['mode', { mode: 'force' }],
    ['enabled', { enabled: 'yes' }],
    ['description', { description: '' }],
    ['triggers', { triggers: [] }],
    ['triggers.tools', { triggers: { tools: 'go' } }],
    ['triggers.keywords', { triggers: { keywords: [1] } }],
    ['prerequisites', { prerequisites: [1] }],
    ['a step of 0', { prerequisites: [{ step: 0, tool: 'a', description: 'x' }] }],
    ['a step of 1.5', { prerequisites: [{ step: 1.5, tool: 'a', description: 'x' }] }],
    ['params', { prerequisites: [{ step: 1, tool: 'a', description: 'x', params: [] }] }],
    ['output_as', { prerequisites: [{ step: 1, tool: 'a', description: 'x', output_as: 'a b' }] }],
  ])('leaves out a workflow with a wrong %s, and keeps the others', (_, more) => {
    const { workflows, diagnostics } = read(
      JSON.stringify({ ...workflow('bad', more), ...workflow('good') }),
    )
    expect(workflows.map(({ name }) => name)).toEqual(['good'])
    expect(diagnostics).toMatchObject([{ code: 'workflow-wrong-type', severity: 'error' }])
  })

  it('refuses an output name that references use', () => {
    const prerequisites = [{ step: 1, tool: 'a', description: 'x', output_as: 'call' }]
    expect(codes(JSON.stringify(workflow('a', { prerequisites })))).toEqual([
      'workflow-wrong-type:1',
    ])
  })

  it('suggests the known key that is similar to an unknown one', () => {
    const { workflows, diagnostics } = read(JSON.stringify(workflow('a', { modes: 'warn' })))
    expect(workflows).toHaveLength(1)
    expect(diagnostics).toMatchObject([
      { code: 'workflow-key-unknown', severity: 'warning', hint: 'Did you mean mode?' },
    ])
  })

  it('refuses prototype keys inside parameters', () => {
    const text = JSON.stringify(workflow('a')).replace(
      '"tool":"look"',
      '"tool":"look","params":{"__proto__":{"x":1}}',
    )
    expect(read(text).workflows).toEqual([])
    expect(codes(text)).toEqual(['workflow-key-forbidden:1'])
  })

  it('stops at a nesting that would exhaust the stack', () => {
    expect(codes('['.repeat(100_000))).toEqual(['workflows-syntax:1'])
  })
})

it('never throws, and returns each workflow once, for any file', () => {
  const keys = fc.constantFrom(
    'a',
    'workflows',
    'triggers',
    'prerequisites',
    'tools',
    'step',
    'tool',
    'description',
    'params',
    '__proto__',
    'mode',
  )
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 5 },
      fc.constantFrom('x', '', 1, true, null, 'enforce'),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(keys, tie('value'), { maxKeys: 6 }),
    ),
  }))
  fc.assert(
    fc.property(
      fc.oneof(
        value.map((item) => JSON.stringify(item)),
        fc.string(),
      ),
      (text) => {
        const { workflows, diagnostics } = read(text)
        const names = workflows.map(({ name }) => name)
        expect(new Set(names).size).toBe(names.length)
        for (const { line = 0 } of diagnostics) expect(line).toBeGreaterThan(0)
      },
    ),
  )
})

it('reads our files of a project before the caches', () => {
  const project = temporaryProject()
  mkdirSync(join(project, '.skillrail'))
  mkdirSync(join(project, '.opencode'))
  const ours = join(project, '.skillrail', 'workflows.json')
  const cache = join(project, '.opencode', 'agent-skill-tools.json')
  writeFileSync(ours, JSON.stringify(workflow('a')))
  writeFileSync(cache, JSON.stringify({ version: '1', categories: {}, workflows: workflow('b') }))
  const { workflows } = loadWorkflows(project)
  expect(workflows.map(({ name, path }) => [name, path])).toEqual([
    ['a', ours],
    ['b', cache],
  ])
})

describe("a definition in the format's own form", () => {
  const templates = {
    'database-safe-query': {
      triggers: { category: 'database', keywords: ['query', 'select'] },
      prerequisites: [
        { step: 1, tool: 'list_databases', description: 'Know the databases' },
        { step: 4, tool: 'get_indexes', description: 'Check indexes', required: false },
      ],
      mode: 'enforce',
    },
    'browser-safe-interaction': {
      triggers: { category: 'browser', tools: ['click', 'fill'] },
      prerequisites: [{ step: 1, tool: 'take_snapshot', description: 'Know the page' }],
      mode: 'enforce',
    },
    'pull-request-review': {
      triggers: { tools: ['merge_pull_request'] },
      prerequisites: [{ step: 1, tool: 'get_pull_request', description: 'Know it' }],
      mode: 'warn',
    },
  }

  it.each(Object.entries(templates))(
    'has its name as description, with a warning: %s',
    (name, one) => {
      for (const text of [{ name, ...one }, { [name]: one }, { [name]: { name, ...one } }]) {
        const { workflows, diagnostics } = read(JSON.stringify(text))
        expect(workflows).toMatchObject([{ name, description: name, mode: one.mode }])
        expect(diagnostics).toMatchObject([
          { code: 'workflow-no-description', severity: 'warning' },
        ])
      }
    },
  )

  it('can be in a file with other definitions', () => {
    const { workflows, diagnostics } = read(JSON.stringify({ workflows: templates }))
    expect(workflows.map(({ name }) => name)).toEqual(Object.keys(templates))
    expect(diagnostics.map(({ severity }) => severity)).toEqual(['warning', 'warning', 'warning'])
  })

  it('still needs a description that is a text', () => {
    for (const description of ['', ' ', 5, null]) {
      const broken = { ...templates['pull-request-review'], description }
      const { workflows, diagnostics } = read(JSON.stringify({ a: broken }))
      expect(workflows).toEqual([])
      expect(diagnostics).toMatchObject([{ code: 'workflow-wrong-type', severity: 'error' }])
    }
  })
})

describe('other names of tools', () => {
  const withAliases = (aliases: unknown): ReturnType<typeof read> => {
    const steps = [{ step: 1, tool: 'look', description: 'x', invalidated_by: ['turn'] }]
    const one = { description: 'x', triggers: { tools: ['go'] }, prerequisites: steps, aliases }
    return read(JSON.stringify({ one }))
  }

  it('are names, or tools with the parameters that distinguish them', () => {
    const reader = { tool: 'read', params: { kind: 'all' } }
    const { workflows, diagnostics } = withAliases({ go: ['run'], Look: [reader], turn: ['leaf'] })
    expect(diagnostics).toEqual([])
    expect(workflows[0]?.aliases).toEqual({
      go: [{ tool: 'run' }],
      Look: [reader],
      turn: [{ tool: 'leaf' }],
    })
  })

  it.each([
    [['go']],
    [{ go: 'run' }],
    [{ go: [5] }],
    [{ go: [' '] }],
    [{ go: [{ params: {} }] }],
    [{ go: [{ tool: 'run', params: [] }] }],
    [{ go: [{ tool: 'run', param: {} }] }],
  ])('of a wrong form are an error: %j', (aliases) => {
    const { workflows, diagnostics } = withAliases(aliases)
    expect(workflows).toEqual([])
    expect(diagnostics).toMatchObject([{ code: 'workflow-wrong-type', severity: 'error' }])
  })

  it('for a tool that is missing in the workflow are a warning', () => {
    const { workflows, diagnostics } = withAliases({ lok: ['see'] })
    expect(workflows).toHaveLength(1)
    expect(diagnostics).toMatchObject([
      { code: 'workflow-key-unknown', severity: 'warning', hint: 'Did you mean look?' },
    ])
  })
})

describe('an empty file of workflows', () => {
  const folder = mkdtempSync(join(tmpdir(), 'skillrail-workflows-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'workflows.json')
  const codes = (): string[] =>
    readWorkflows([{ path }]).diagnostics.flatMap(({ code, severity }) =>
      severity === 'error' ? [code] : [],
    )

  it('is an error, since its workflows are unknown, while a missing file defines none', () => {
    expect(codes()).toEqual([])
    writeFileSync(path, '')
    expect(codes()).toEqual(['workflows-syntax'])
    writeFileSync(path, ' \n')
    expect(codes()).toEqual(['workflows-syntax'])
    writeFileSync(path, '{}')
    expect(codes()).toEqual([])
  })

  it.skipIf(process.platform === 'win32')('is also an error behind a broken link', () => {
    rmSync(path, { force: true })
    symlinkSync(join(folder, 'nowhere'), path)
    expect(codes()).toEqual(['file-missing'])
  })
})
