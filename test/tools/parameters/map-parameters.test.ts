import type { JsonObject } from '../../../src/core/json.ts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ToolDefinition } from '../../../src/tools/model.ts'
import { mapParameters } from '../../../src/tools/parameters/map-parameters.ts'
import { catalogue } from './catalogue.ts'

/** The rows of the seed's table and examples, on schemas of the shape that the real servers list. */
const seedRows: readonly [request: string, tool: string, params: JsonObject, missing?: string[]][] =
  [
    ['use page 2', 'select_page', { pageId: 2 }],
    ['open new tab', 'new_page', {}, ['url']],
    ['open new tab at https://x.test/a', 'new_page', { url: 'https://x.test/a' }],
    ['click uid btn-1', 'click', { uid: 'btn-1' }, ['pageId']],
    ['drag a to b', 'drag', { from_uid: 'a', to_uid: 'b' }],
    ['go to https://x', 'navigate_page', { type: 'url', url: 'https://x' }],
    ['reload hard', 'navigate_page', { type: 'reload', ignoreCache: true }],
    ['show last xhr', 'list_network_requests', { resourceTypes: ['xhr'] }],
    ['console errors', 'list_console_messages', { types: ['error'] }],
    [
      'PR 123 in owner/repo',
      'get_pull_request',
      { owner: 'owner', repo: 'repo', pull_number: 123 },
    ],
    ['issues labeled bug', 'list_issues', { labels: ['bug'], state: 'open' }, ['owner', 'repo']],
    ['list mutations', 'filter_mutations', {}],
    ['type User details', 'get_type_details', { type_name: 'User' }],
    [
      'List open PRs for owner/repo',
      'list_pull_requests',
      { owner: 'owner', repo: 'repo', state: 'open' },
    ],
    ['Show mutations containing auth', 'filter_mutations', { search: 'auth' }],
    [
      'Docs for Next.js app router',
      'resolve-library-id',
      { libraryName: 'Next.js', query: 'app router' },
    ],
    ['docs for react useState', 'resolve-library-id', { libraryName: 'react', query: 'useState' }],
    [
      'Break down this decision',
      'sequentialthinking',
      {
        thought: 'Break down this decision',
        nextThoughtNeeded: true,
        thoughtNumber: 1,
        totalThoughts: 4,
      },
    ],
    ['take a screenshot of the login page', 'take_screenshot', { fullPage: true }],
    ['Click the submit button', 'click', {}, ['pageId', 'uid']],
  ]

const moreRows: typeof seedRows = [
  ['resize page 3 to 1280x720', 'resize_page', { pageId: 3, width: 1280, height: 720 }],
  [
    'screenshot of page 1 as jpeg to ./shot.jpg',
    'take_screenshot',
    { pageId: 1, format: 'jpeg', filePath: './shot.jpg' },
  ],
  ['read src/index.ts', 'read_text_file', { path: 'src/index.ts' }],
  [
    'move "old name.txt" to "new name.txt"',
    'move_file',
    { source: 'old name.txt', destination: 'new name.txt' },
  ],
  ['compare a.md and b.md', 'read_multiple_files', { paths: ['a.md', 'b.md'] }],
  [
    'closed issues in a/b labeled bug and ui',
    'list_issues',
    { owner: 'a', repo: 'b', state: 'closed', labels: ['bug', 'ui'] },
  ],
  ['merge PR #7 of a/b', 'merge_pull_request', { owner: 'a', repo: 'b', pull_number: 7 }],
  [
    'run SELECT * FROM users WHERE id = 3',
    'execute_query',
    { query: 'SELECT * FROM users WHERE id = 3' },
    ['database'],
  ],
  ['describe table users in database shop', 'inspect_table', { database: 'shop', table: 'users' }],
  [
    'state=all labels=["x"] for a/b',
    'list_issues',
    { owner: 'a', repo: 'b', state: 'all', labels: ['x'] },
  ],
  ['accept the dialog', 'handle_dialog', { action: 'accept' }],
  [
    'select query: SELECT name FROM users',
    'execute_query',
    { query: 'SELECT name FROM users' },
    ['database'],
  ],
  ['go back', 'navigate_page', { type: 'back' }],
]

describe('the rows of the seed', () => {
  it.each(seedRows)('%s → %s', expectMapping)
})

describe('requests beyond the seed', () => {
  it.each(moreRows)('%s → %s', expectMapping)
})

it('reads no value from a word inside a word, a URL or quotes', () => {
  expect(mapped('open https://x.test/error/xhr', 'list_console_messages').params).toEqual({})
  expect(mapped('the terrors of reloading', 'list_console_messages').params).toEqual({})
})

describe('JSON in a request', () => {
  it.each<[request: string, tool: string, params: JsonObject, missing?: string[]]>([
    [
      'List PRs for owner/repo with {"state": "closed"}',
      'list_pull_requests',
      { owner: 'owner', repo: 'repo', state: 'closed' },
    ],
    [
      'click {"uid": "page 7", "dblClick": true}',
      'click',
      { uid: 'page 7', dblClick: true },
      ['pageId'],
    ],
    [
      '{"url": "https://x.test", "type": "url"} for navigate_page',
      'navigate_page',
      { type: 'url', url: 'https://x.test' },
    ],
  ])('%s → %s', expectMapping)

  it('is read as written, whatever the schema accepts', () => {
    expect(mapped('click {"uid": 7}', 'click').params).toEqual({ uid: 7 })
  })

  it('is a text if its keys are not parameters', () => {
    const { params } = mapped('fill uid a-1 with `{"colour": "red"}`', 'fill')
    expect(params).toEqual({ uid: 'a-1', value: '{"colour": "red"}' })
  })
})

describe('a value without one clear parameter', () => {
  it.each<[request: string, tool: string, unplaced: string[]]>([
    ['add 2 and 40', 'get-sum', ['add', '2', '40']],
    ['read the first 20 lines of /var/log/app.log', 'read_text_file', ['first', '20', 'lines']],
    ['list issues of a/b that are not closed', 'list_issues', ['closed']],
    ['list issues of a/b created by bob', 'list_issues', ['created', 'bob']],
    ['list issues of a/b not labeled bug', 'list_issues', ['labeled', 'bug']],
    ['list issues of a/b since 2026-01-01 and 2026-02-01', 'list_issues', ['2026-02-01']],
    ['inspect table users of table orders', 'inspect_table', ['orders']],
    ['go to example.com for "fun"', 'navigate_page', ['go', 'example.com', 'fun']],
    ['go to README.md', 'navigate_page', ['go', 'README.md']],
    ['press Enter on page 1', 'press_key', ['Enter']],
    ['search repositories with react hooks', 'search_repositories', ['react', 'hooks']],
    ['do not merge PR #7 of a/b', 'merge_pull_request', ['merge', 'PR']],
  ])('%s (%s) leaves %j', (request, tool, unplaced) => {
    expect(mapped(request, tool).unplaced).toEqual(unplaced)
  })

  it.each([
    ['PR 123 in owner/repo', 'get_pull_request'],
    ['show the open issues in a/b', 'list_issues'],
    ['merge PR #7 of a/b', 'merge_pull_request'],
    ['take a screenshot of the login page', 'take_screenshot'],
    ['describe table users in database shop', 'inspect_table'],
  ])('does not occur in %s', (request, tool) => {
    expect(mapped(request, tool).unplaced).toEqual([])
  })
})

describe('the schema of the parameters', () => {
  const text = { type: 'string' }
  const number = { type: 'number' }

  it.each<
    [request: string, name: string, properties: Record<string, JsonObject>, params: JsonObject]
  >([
    [
      'show the first 10 lines of notes/todo.md',
      'show_file',
      {
        path: text,
        tail: { ...number, description: 'Returns only the last N lines of the file' },
        head: { ...number, description: 'Returns only the first N lines of the file' },
      },
      { path: 'notes/todo.md' },
    ],
    [
      'the quotient of 17 and 25',
      'divide',
      {
        divisor: { ...number, description: 'Second number' },
        dividend: { ...number, description: 'First number' },
      },
      {},
    ],
    ['say good morning to all', 'say', { message: text }, {}],
    [
      'describe table users',
      'describe',
      { table: text, tables: { type: 'array', items: text } },
      { table: 'users' },
    ],
    ['query SpaceQL with "{ a }"', 'query_spaceql', { query: text, variables: text }, {}],
    [
      'ask about storage.wholedump',
      'ask',
      { filePath: text, question: text },
      { filePath: 'storage.wholedump' },
    ],
    ['docs of Next.js for the app router', 'docs', { query: text, libraryName: text }, {}],
    [
      'scale it to 3 replicas in 20',
      'scale',
      { replicas: number, timeout: number },
      { replicas: 3 },
    ],
    ['delete board b7c01', 'delete', { labelId: text }, {}],
    ['delete label b7c01', 'delete', { labelId: text }, { labelId: 'b7c01' }],
    ['delete label notes.md', 'delete', { labelId: text }, {}],
    ['delete label 10010', 'delete_label', { id: text }, { id: '10010' }],
    ['delete 3 labels', 'delete_label', { id: text }, {}],
    [
      'reply "Fixed" to WEB-412',
      'reply',
      { issueIdOrKey: text, message: text },
      { issueIdOrKey: 'WEB-412', message: 'Fixed' },
    ],
    ['reply V2 to WEB-412', 'reply', { issueIdOrKey: text, message: text }, {}],
    ['structure of acme/site', 'structure', { repoName: text, section: text }, {}],
    [
      'structure of acme/site',
      'structure',
      { repoName: { ...text, description: 'owner/repo (e.g. "acme/website")' }, section: text },
      { repoName: 'acme/site' },
    ],
    [
      'errors of page 3',
      'errors',
      { pageId: number, pageSize: number, pageIdx: number },
      { pageId: 3 },
    ],
    [
      'open it and ignore the cache',
      'open_it',
      { ignoreCache: { type: 'boolean' } },
      { ignoreCache: true },
    ],
  ])('%s (%s)', (request, name, properties, params) => {
    const required =
      'query libraryName message dividend divisor pageId labelId id issueIdOrKey repoName'.split(
        ' ',
      )
    const inputSchema = {
      type: 'object',
      properties,
      required: required.filter((one) => one in properties),
    }
    const { id: _, ...base } = tool('echo')
    const definition = { ...base, id: `any__${name}`, server: 'any', name, inputSchema }
    expect(mapParameters(request, definition).params).toEqual(params)
  })

  it('is not the verb of the request if its name has another form of it', () => {
    const properties = { assignedTo: { type: 'string' } }
    const name = 'update_issue'
    const definition = { ...tool('echo'), name, inputSchema: { type: 'object', properties } }
    expect(mapParameters('assign WEB-17', definition).params).toEqual({})
  })

  it('is named by a word that no value follows, and the word is not dropped', () => {
    const text = { type: 'string' }
    const inputSchema = {
      type: 'object',
      properties: { path: text, sheet: text },
      required: ['path'],
    }
    const description = 'Read a file, or its first sheet'
    const definition = { ...tool('echo'), name: 'read_file', description, inputSchema }
    const { params, unplaced } = mapParameters('read the first sheet of data.xlsx', definition)
    expect([params, unplaced]).toEqual([{ path: 'data.xlsx' }, ['sheet']])
  })

  it('does not drop a word after by, though the description has it', () => {
    const description = 'List processes with their memory'
    const definition = { ...tool('echo'), name: 'list_processes', description, inputSchema: {} }
    expect(mapParameters('list processes by memory', definition).unplaced).toEqual(['memory'])
    expect(mapParameters('list processes and memory', definition).unplaced).toEqual([])
  })

  it('keeps the words after a tool name out of the parameters', () => {
    expect(mapped('click something or other', 'click').params).toEqual({})
  })
})

describe('what a search is for', () => {
  const text = { type: 'string' }
  const properties = { query: text, language: text, limit: { type: 'number' }, search_lang: text }
  const search = {
    ...tool('echo'),
    name: 'search_news',
    description: 'Search the news of a site',
    server: 'press',
    inputSchema: { type: 'object', properties, required: ['query'] },
  }

  it.each<[request: string, query: string | undefined, limit?: number]>([
    ['search the news for export rules', 'export rules'],
    ['search for the news export rules in press', 'export rules'],
    ['search for news about export rules', 'export rules'],
    ['search the news for export rules, limit 5', 'export rules', 5],
    ['search the news for "rules of export"', 'rules of export'],
    ['search the news for news agencies', 'news agencies'],
    ['search the news for all rules', undefined],
    ['search the news for rules since 2026-01-01', undefined],
    ['delete the news for export rules', undefined],
  ])('%s → %s', (request, query, limit) => {
    const { params } = mapParameters(request, search)
    expect(params['query']).toBe(query)
    expect(params['limit']).toBe(limit)
  })
})

it('keeps a capitalised word after to, also if it is grammar', () => {
  const move = { ...tool('echo'), name: 'move_issue', inputSchema: { type: 'object' } }
  expect(mapParameters('move issue to Done', move).unplaced).toEqual(['Done'])
})

it('does not read the name of the tool as a value', () => {
  for (const request of ['use resolve-library-id', 'call `resolve_library_id`']) {
    expect(mapped(request, 'resolve-library-id').params).toEqual({})
  }
})

it('reports the source of each value', () => {
  const { trace } = mapped('PR 123 in owner/repo', 'get_pull_request')
  expect(trace.map(({ parameter, text }) => [parameter, text])).toEqual([
    ['owner', 'owner'],
    ['repo', 'repo'],
    ['pull_number', '123'],
  ])
})

it('uses earlier values only for required parameters', () => {
  const { params } = mapParameters('click uid a-1', tool('click'), {
    known: { pageId: 4, includeSnapshot: true },
  })
  expect(params).toEqual({ pageId: 4, uid: 'a-1' })
})

it('reads -0 as the 0 of JSON', () => {
  expectMapping('use page -0', 'select_page', { pageId: 0 })
})

it('never invents a field, never returns undefined, and returns the same result twice', () => {
  const tools = Object.values(catalogue)
  fc.assert(
    fc.property(
      fc.constantFrom(...tools),
      fc.oneof(fc.string(), fc.string({ unit: 'binary' }), requests()),
      (definition, request) => {
        const mapping = mapParameters(request, definition)
        const parameterNames = Object.keys(Object(definition.inputSchema['properties']))
        expect(parameterNames).toEqual(expect.arrayContaining(Object.keys(mapping.params)))
        expect(JSON.parse(JSON.stringify(mapping.params))).toEqual(mapping.params)
        expect(mapParameters(request, definition)).toEqual(mapping)
      },
    ),
  )
})

function requests(): fc.Arbitrary<string> {
  const words = fc.constantFrom(
    'page',
    '2',
    '-0',
    'uid',
    'a-1',
    'from',
    'to',
    'https://x.test',
    'a/b',
    '#7',
    '"q"',
    'labeled',
    'bug',
    ',',
    'SELECT a FROM b',
    'first',
    'error',
    '$',
    '__proto__',
    '=',
  )
  return fc.array(words, { maxLength: 12 }).map((parts) => parts.join(' '))
}

function expectMapping(
  request: string,
  name: string,
  params: JsonObject,
  missing: string[] = [],
): void {
  const mapping = mapped(request, name)
  expect(mapping.params).toEqual(params)
  expect(mapping.missing).toEqual(missing)
}

function mapped(request: string, name: string): ReturnType<typeof mapParameters> {
  return mapParameters(request, tool(name))
}

function tool(name: string): ToolDefinition {
  const found = catalogue[name]
  if (found === undefined) throw new Error(`no tool ${name} in the catalogue`)
  return found
}

const contents: ToolDefinition = {
  id: 'github__get_file_contents',
  server: 'github',
  name: 'get_file_contents',
  description: 'Get the contents of a file.',
  inputSchema: {
    type: 'object',
    properties: {
      owner: { type: 'string' },
      repo: { type: 'string' },
      path: { type: 'string' },
    },
    required: ['owner', 'repo', 'path'],
  },
}

it('reads no phrase of the format after the name of a parameter', () => {
  const request = 'get file contents path docs/guide in octo/hello'
  const { params, missing } = mapParameters(request, contents)
  expect(params).toEqual({ path: 'docs/guide' })
  expect(missing).toEqual(['owner', 'repo'])
})

it('leaves a parameter without a value if a misspelt key of the JSON means it', () => {
  const request = 'get file contents {"pth":"a.txt"} of b.txt in octo/hello'
  const { params, unplaced } = mapParameters(request, contents)
  expect(params).toEqual({ owner: 'octo', repo: 'hello', pth: 'a.txt' })
  expect(unplaced).toEqual(['b.txt'])
})

describe('a pattern of a schema', () => {
  const slow = { type: 'string', pattern: '^(([a-z0-9])+.?)+[A-Z]$' }
  const placed = (property: object, request: string) => {
    const inputSchema: JsonObject = JSON.parse(
      JSON.stringify({ type: 'object', properties: { code: property }, required: ['code'] }),
    )
    const tool = { id: 's__find', server: 's', name: 'find', description: 'Find it', inputSchema }
    return mapParameters(request, tool)
  }

  it('is matched in linear time', () => {
    const request = `find ${'a1'.repeat(40)}_!`
    expect(placed(slow, request).params).toEqual({})
  })

  it('assigns matching values to its parameter', () => {
    const pattern = String.raw`^[A-Z]{2}-\d+$`
    expect(placed({ type: 'string', pattern }, 'find AB-12').params).toEqual({ code: 'AB-12' })
  })

  it('that RE2 cannot read assigns no value', () => {
    const pattern = String.raw`^(?=A)[A-Z]{2}-\d+$`
    const { params, missing } = placed({ type: 'string', pattern }, 'find AB-12')
    expect([params, missing]).toEqual([{}, ['code']])
  })
})
