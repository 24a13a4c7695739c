import fc from 'fast-check'
import { expect, it } from 'vitest'
import { indexDefinitions } from '../../../src/tools/cache/tool-index.ts'
import { ToolRequestError } from '../../../src/tools/errors.ts'
import { parsePassthrough } from '../../../src/tools/call/passthrough.ts'
import { resolveTool } from '../../../src/tools/call/find-tool.ts'
import { definitionOf } from './_fake.ts'

const index = indexDefinitions(
  [
    { server: 'chrome-devtools', name: 'take_screenshot' },
    { server: 'github', name: 'get_pull_request' },
    { server: 'my_server', name: 'do__it' },
    { server: 'my_server__inner', name: 'go' },
    { server: 'dotted', name: 'a.b-c' },
    { server: 'db', name: 'execute_query' },
    { server: 'db', name: 'explain' },
    { server: 'docs', name: 'search' },
    { server: 'code', name: 'search' },
  ].map(definitionOf),
)

/** A refused text has the kind `broken`. */
function read(text: string) {
  try {
    return parsePassthrough(text, index)
  } catch (error) {
    if (!(error instanceof ToolRequestError)) throw error
    return { kind: 'broken', message: error.message }
  }
}

it.each<[string, string, object | undefined]>([
  ['Use MetaMCP_chrome-devtools__take_screenshot', 'chrome-devtools__take_screenshot', undefined],
  ['chrome-devtools__take_screenshot', 'chrome-devtools__take_screenshot', undefined],
  ['mcp__chrome-devtools__take_screenshot.', 'chrome-devtools__take_screenshot', undefined],
  ['please `github__get_pull_request` now', 'github__get_pull_request', undefined],
  [
    'MetaMCP_github__get_pull_request {"owner": "foo", "repo": "b}ar", "pull_number": 123}',
    'github__get_pull_request',
    { owner: 'foo', repo: 'b}ar', pull_number: 123 },
  ],
  [
    'call mcp__github__get_pull_request with params: {"owner": "x"} and say',
    'github__get_pull_request',
    { owner: 'x' },
  ],
  ['github__get_pull_request for the {weird} thing', 'github__get_pull_request', undefined],
  ['my_server__do__it', 'my_server__do__it', undefined],
  ['my_server__do__it {"text": "dotted__a.b-c"}', 'my_server__do__it', { text: 'dotted__a.b-c' }],
  ['my_server__do__it, yes, my_server__do__it', 'my_server__do__it', undefined],
  ['my_server__inner__go', 'my_server__inner__go', undefined],
  ['run dotted__a.b-c.', 'dotted__a.b-c', undefined],
  ['see __init__.py, then github__get_pull_request', 'github__get_pull_request', undefined],
])('%j names %s', (text, id, params) => {
  expect(read(text)).toMatchObject({ kind: 'tool', tool: { id }, params })
})

const params = { query: 'SELECT name FROM users WHERE age > 3', limit: 5, in: { list: ['}'] } }
const json = JSON.stringify(params)

it.each([
  [`Use execute_query ${json}`],
  [`Use db__execute_query ${json}`],
  [`Use db:execute_query ${json}`],
  [`Use mcp__db__execute_query ${json}`],
  [`Use MetaMCP_db__execute_query ${json}`],
  [`Use \`execute_query\` ${json}`],
  [`Use "execute_query" with ${json}`],
  [`Use 'execute_query': ${json}`],
  [`execute_query(${json})`],
  [`execute_query '${json}'`],
  [`please run execute_query with the following parameters: ${json}, please`],
  [`Use execute_query\n\`\`\`json\n${JSON.stringify(params, null, 2)}\n\`\`\``],
])('%j is a call with the parameters of its JSON', (text) => {
  expect(read(text)).toMatchObject({
    kind: 'tool',
    tool: { id: 'db__execute_query' },
    params,
  })
})

it('reads a single word as a tool only before JSON', () => {
  const id = 'db__explain'
  expect(read('explain {"of": 1}')).toMatchObject({ tool: { id } })
  expect(read('put {"of": 1} where you explain it')).toEqual({ kind: 'none' })
  expect(read('explain {curly} braces')).toEqual({ kind: 'none' })
  expect(read('please explain')).toEqual({ kind: 'none' })
})

it.each([
  ['search {"q": "x"}'],
  ['look at {"tool": "db__execute_query"}'],
  ['execute_query {"query": "a"} and then explain {"of": 1}'],
  ['execute_query {"query": "a"}, explain {"of": 1}'],
  ['execute_query [{"query": "a"}, {"query": "b"}]'],
])('%j is left to the routing', (text) => {
  expect(read(text)).toEqual({ kind: 'none' })
})

it('reports no unknown name after the words before JSON', () => {
  expect(read('Use exekute_query {"query": "a"}')).toEqual({
    kind: 'unknown',
    written: 'exekute_query',
  })
  expect(read('Use the {"query": "a"}')).toEqual({ kind: 'none' })
})

it.each([
  ['take a screenshot'],
  ['what is in __init__.py'],
  ['__init__.py'],
  ['edit pkg/__init__.py and __dirname'],
  ['the variable my__thing is unused in this file'],
  ['run my__script.py'],
  ['a__b__c in a sentence about names'],
  [''],
])('%j is prose', (text) => {
  expect(read(text)).toEqual({ kind: 'none' })
})

it.each([
  ['NonExistent__fake_tool'],
  ['Use NonExistent__fake_tool'],
  ['please call NonExistent__fake_tool {"a": 1}'],
])('%j is only an ID that no server has', (text) => {
  expect(read(text)).toEqual({
    kind: 'unknown',
    written: 'NonExistent__fake_tool',
  })
})

it.each([
  ['use NoServer__fake_tool to read a.txt', 'NoServer__fake_tool'],
  ['read a.txt using NoServer__fake_tool', 'NoServer__fake_tool'],
  ['please call the tool `NoServer__fake_tool` for octo/hello', 'NoServer__fake_tool'],
  ['read the pull request with github__get_pul_request', 'github__get_pul_request'],
  ['get github__nothing of octo/hello, please.', 'github__nothing'],
  ['open the page, then mcp__github__nothing', 'mcp__github__nothing'],
])('%j names an ID that no server has', (text, written) => {
  expect(read(text)).toEqual({ kind: 'unknown', written })
})

it.each([
  ['search for "github__nothing"'],
  ['run my__script.py with care'],
  ['look for my__thing in src'],
  ['find ./github__nothing/a.txt'],
])('%j names no ID', (text) => {
  expect(read(text)).toEqual({ kind: 'none' })
})

it.each([
  ['github__get_pull_request {"owner": ', 'never closed'],
  ["github__get_pull_request {'owner': 1}", 'not JSON'],
  ['github__get_pull_request and then my_server__do__it', 'names my_server__do__it too'],
  ['execute_query {"query": "a"} {"limit": 5}', 'two JSON objects'],
  ['{"limit": 5} db__execute_query {"query": "a"}', 'two JSON objects'],
  [
    'With {"limit": 5} call db__execute_query. With {"limit": 6} call it again.',
    'two JSON objects',
  ],
  ['Use execute_query {"query": ', 'never closed'],
])('%j has invalid parameters: %s', (text, message) => {
  expect(read(text)).toMatchObject({
    kind: 'broken',
    message: expect.stringContaining(message),
  })
})

it('reads every ID in any prose, and names a tool in no other case', () => {
  const prose = fc.string().filter((text) => !text.includes('_'))
  const id = fc.constantFrom(...index.tools.map((tool) => tool.id))
  const prefix = fc.constantFrom('', 'MetaMCP_', 'mcp__')
  fc.assert(
    fc.property(prose, prefix, id, prose, (before, client, written, after) => {
      const reading = read(`${before} ${client}${written} ${after}`)
      expect(['tool', 'broken']).toContain(reading.kind)
    }),
  )
  fc.assert(
    fc.property(fc.string(), (text) => {
      const reading = read(text)
      expect(reading.kind === 'tool' && !/__|[{:]/.test(text)).toBe(false)
    }),
  )
})

it.each([
  ['words without end', 'a'.repeat(300_000)],
  ['ids without end', `a${'__b'.repeat(100_000)} !x`],
  ['spaces without end', `use ${' '.repeat(300_000)}x`],
  ['braces without end', `github__get_pull_request ${'{'.repeat(300_000)}`],
  ['objects without end', `the ${'{"a": 1} '.repeat(30_000)}`],
  ['names without end', 'a_b {'.repeat(50_000)],
])('reads a long text of %s at once', (_, text) => {
  expect(['none', 'broken']).toContain(read(text).kind)
})

it('reads a name with a colon as written', () => {
  const tools = [{ id: 'kv__get:all', name: 'get:all' }]
  for (const id of ['kv__get:all', 'get:all', 'kv:get:all']) {
    expect(resolveTool(id, { tools })).toMatchObject({ found: [tools[0]] })
  }
})

it('resolves names in the form of other clients', () => {
  const resolved = resolveTool('mcp__chrome_devtools__take_screenshot', {
    tools: indexDefinitions([definitionOf({ server: 'chrome.devtools', name: 'take_screenshot' })])
      .tools,
  })
  expect(resolved).toMatchObject({ found: [{ id: 'chrome.devtools__take_screenshot' }] })
})
