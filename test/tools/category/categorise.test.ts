import { describe, expect, it } from 'vitest'
import fc from 'fast-check'
import {
  canonicalCategory,
  categorise,
  contractCategoriesOf,
  describeCategories,
} from '../../../src/tools/category/categorise.ts'

interface Named {
  id: string
  server: string
  name: string
  description: string
}

function named(id: string, description = ''): Named {
  const at = id.indexOf('__')
  return { id, server: id.slice(0, at), name: id.slice(at + 2), description }
}

describe('the canonical name of a category', () => {
  it.each([
    ['browser-automation', 'browser'],
    ['Browser Automation', 'browser'],
    ['browser', 'browser'],
    ['version-control', 'github'],
    ['BrowserAutomation', 'browser'],
    ['GitHub Operations', 'github'],
    ['documentation_lookup', 'docs'],
    ['Memory & Knowledge', 'memory'],
    ['My Own Tools', 'my-own-tools'],
    ['météo', 'météo'],
    ['  ', ''],
  ])('of %j is %j', (written, canonical) => {
    expect(canonicalCategory(written)).toBe(canonical)
    expect(canonicalCategory(canonical)).toBe(canonical)
  })
})

describe('a tool', () => {
  it.each([
    ['chrome-devtools__take_screenshot', 'browser'],
    ['chrome-devtools__list_console_messages', 'browser'],
    ['playwright__browser_tabs', 'browser'],
    ['MetaMCP_chrome-devtools__click', 'browser'],
    ['github__list_issues', 'github'],
    ['github__search_users', 'github'],
    ['graphql-tools__filter_types', 'graphql'],
    ['mcp-graphql__introspect-schema', 'graphql'],
    ['context7__resolve-library-id', 'docs'],
    ['context7__query-docs', 'docs'],
    ['Sequential-Thinking__sequentialthinking', 'reasoning'],
    ['nano-brain__memory_vsearch', 'memory'],
    ['memory__search_nodes', 'memory'],
    ['inspector__list_tables', 'database'],
    ['any__docs_open-page', 'docs'],
    ['filesystem__directory_tree', 'filesystem'],
    ['slack__slack_post_message', 'communication'],
  ])('%s belongs to the category %s', (id, category) => {
    expect(categorise([named(id)]).get(id)).toBe(category)
  })

  it('that the format does not list belongs to the category of its server', () => {
    const tools = [named('odd-mcp-server__frobnicate'), named('Ticker__stock_price')]
    expect([...categorise(tools).values()]).toEqual(['odd', 'ticker'])
    expect(contractCategoriesOf(tools).size).toBe(0)
  })

  it('belongs to the category that all tool names of its server start with', () => {
    const categoriesOf = (...list: string[]): string[] => [
      ...new Set(categorise(list.map((name) => named(`mine__${name}`))).values()),
    ]
    expect(categoriesOf('browser_press', 'browser-peek')).toEqual(['browser'])
    expect(categoriesOf('browser_press', 'peek')).toEqual(['mine'])
    expect(categoriesOf('browsers_press')).toEqual(['mine'])
    expect(categoriesOf('browser_press', 'list_tables')).toEqual(['mine'])
  })

  it.each(['gitlab', 'mine'])(
    'of a few shared names says nothing about the server %s',
    (server) => {
      const shared = ['list_issues', 'get_issue', 'create_branch', 'list_commits']
      const own = ['list_pipelines', 'retry_job', 'list_epics', 'create_release', 'get_wiki']
      const tools = [...shared, ...own].map((name) => named(`${server}__${name}`))
      expect(new Set(categorise(tools).values())).toEqual(new Set([server]))
    },
  )

  it('of a server that the format names belongs to its category, unless its name is of another one', () => {
    const tools = ['fork', 'star', 'list_tables'].map((name) => named(`github-acme__${name}`))
    expect([...categorise(tools).values()]).toEqual(['github', 'github', 'database'])
  })

  it('belongs to its own category if most tools of its server are of the format', () => {
    const tools = ['click', 'hover', 'list_tables', 'vacuum'].map((name) => named(`mine__${name}`))
    expect([...categorise(tools).values()]).toEqual(['browser', 'browser', 'database', 'mine'])
  })

  it('belongs to the category of all tools of the format if they are most tools of its server', () => {
    const tools = ['list_tables', 'inspect_table', 'vacuum'].map((name) => named(`mine__${name}`))
    expect([...new Set(categorise(tools).values())]).toEqual(['database'])
  })
})

const names = fc.constantFrom(
  'get',
  'list',
  'send',
  'weather',
  'stock',
  'page',
  'table',
  'mail',
  'ünï',
  '工具',
  'x',
)
const toolArbitrary = fc
  .tuple(
    fc.constantFrom('alpha', 'beta-mcp', 'Gamma', 'chrome', 'δ'),
    fc.array(names, { minLength: 1, maxLength: 3 }),
    fc.array(names, { maxLength: 6 }),
  )
  .map(([server, name, words]) => named(`${server}__${name.join('_')}`, words.join(' ')))

function shuffles(tools: readonly Named[]): fc.Arbitrary<[readonly Named[], readonly Named[]]> {
  const { length } = tools
  return fc.tuple(
    fc.constant(tools),
    fc.shuffledSubarray([...tools], { minLength: length, maxLength: length }),
  )
}

it('assigns the same categories in any order of the tools, also with repeated IDs', () => {
  const lists = fc.array(toolArbitrary, { maxLength: 60 }).chain(shuffles)
  fc.assert(
    fc.property(lists, ([tools, shuffled]) => {
      expect(new Map(categorise(shuffled))).toEqual(new Map(categorise(tools)))
    }),
  )
})

it('writes the same descriptions in any order of the tools', () => {
  const lists = fc
    .uniqueArray(toolArbitrary, { maxLength: 60, selector: ({ id }) => id })
    .chain(shuffles)
  fc.assert(
    fc.property(lists, ([tools, shuffled]) => {
      const assigned = categorise(tools)
      expect(describeCategories(shuffled, assigned)).toEqual(describeCategories(tools, assigned))
    }),
  )
})

it('keeps names such as GitHub in one keyword, in sentences and in tool names', () => {
  const tools = [
    named('api__getLinkedInProfile', 'Reads a profile of LinkedIn.'),
    named('api__runGraphQLQuery', 'Runs a GraphQL query.'),
    named('api__list_open_issues', 'Lists the open issues.'),
  ]
  const [category] = describeCategories(tools, new Map(tools.map(({ id }) => [id, 'api'])))
  expect(category?.keywords).toEqual(expect.arrayContaining(['linkedin', 'graphql']))
  for (const part of ['linked', 'graph', 'ql']) expect(category?.keywords).not.toContain(part)
})

it('gives every category a valid name, one sentence and 5 to 10 keywords', () => {
  fc.assert(
    fc.property(fc.array(toolArbitrary, { maxLength: 60 }), (tools) => {
      for (const category of describeCategories(tools, categorise(tools))) {
        expect(category.name).toMatch(/^[\p{Ll}\p{Lo}\p{N}]+(?:-[\p{Ll}\p{Lo}\p{N}]+)*$/u)
        expect(category.description).toMatch(/^[^\n]+\.$/)
        expect(category.keywords.length).toBeGreaterThanOrEqual(5)
        expect(category.keywords.length).toBeLessThanOrEqual(10)
        expect(new Set(category.keywords).size).toBe(category.keywords.length)
      }
    }),
  )
})
