import { describe, expect, it } from 'vitest'
import fc from 'fast-check'
import { parseCache } from '../../../src/tools/cache/cache-file.ts'

function parse(value: unknown): ReturnType<typeof parseCache> {
  return parseCache(typeof value === 'string' ? value : JSON.stringify(value), 'tools.json')
}

function codes(value: unknown): string[] {
  return parse(value).diagnostics.map(({ code }) => code)
}

const first = {
  version: '1.0.0',
  refreshed_at: '2026-02-04T10:00:00Z',
  mcp_servers: ['MetaMCP'],
  tool_count: 2,
  categories: {
    browser: {
      description: 'Browses.',
      keywords: ['click'],
      tools: [{ id: 'MetaMCP_chrome-devtools__click', description: 'Clicks', prefix: 'MetaMCP_' }],
    },
  },
  uncategorized: [{ id: 'odd', description: 'Odd' }],
}

describe('the schemas of the cache', () => {
  it.each([
    ['the first, with objects', first],
    [
      'the second, with ids and a table',
      {
        version: '2.0.0',
        generated_at: '2026-02-04T10:00:00Z',
        mcp_servers: ['MetaMCP'],
        tool_count: 2,
        categories: {
          browser: {
            description: 'Browses.',
            keywords: ['click'],
            tools: ['MetaMCP_chrome-devtools__click'],
          },
        },
        tools: {
          'MetaMCP_chrome-devtools__click': { category: 'browser', description: 'Clicks' },
          odd: { category: 'nowhere', description: 'Odd' },
        },
      },
    ],
    [
      'the fifth, with tool_sources',
      { ...first, version: '5.0.0', mcp_servers: undefined, tool_sources: ['MetaMCP'] },
    ],
  ])('are read in the same way: %s', (_name, value) => {
    const reading = parse(value)
    expect(reading).toMatchObject({
      state: 'read',
      diagnostics: [],
      cache: {
        refreshedAt: '2026-02-04T10:00:00.000Z',
        servers: ['MetaMCP'],
        categories: [
          {
            name: 'browser',
            description: 'Browses.',
            keywords: ['click'],
            tools: [{ id: 'MetaMCP_chrome-devtools__click', description: 'Clicks' }],
          },
        ],
        uncategorized: [{ id: 'odd', description: 'Odd' }],
      },
    })
  })
})

describe('a broken cache', () => {
  it.each([
    ['no JSON', '{"version": ', 'cache-not-json'],
    ['a list', '[]', 'cache-malformed'],
    ['no version', { categories: {}, tool_count: 0 }, 'cache-malformed'],
    ['no categories', { version: '1.0.0', tool_count: 0 }, 'cache-malformed'],
    ['no count', { version: '1.0.0', categories: {} }, 'cache-malformed'],
    [
      'categories as a list',
      { version: '1.0.0', tool_count: 0, categories: [] },
      'cache-malformed',
    ],
  ])('is corrupt: %s', (_name, value, code) => {
    expect(parse(value).state).toBe('corrupt')
    expect(codes(value)).toEqual([code])
  })

  it('names the line of invalid JSON', () => {
    const [problem] = parse('{\n  "version": "1.0.0",\n  oops\n}').diagnostics
    expect(problem).toMatchObject({ code: 'cache-not-json', line: 3 })
    expect(problem?.hint).toContain('skillrail tools refresh')
  })

  it('is not reported as corrupt if its version is newer', () => {
    expect(parse({ ...first, version: '6.0.0' }).state).toBe('newer')
  })

  it('leaves out invalid entries with a diagnostic', () => {
    const value = JSON.stringify({
      ...first,
      tool_count: 9,
      categories: {
        constructor: { description: '', keywords: [], tools: [] },
        list: [],
        good: {
          description: 1,
          keywords: ['a', 2],
          tools: [
            { id: 'a__b' },
            { id: 'a__b', description: 'again' },
            { id: 'bad\u0007' },
            { description: 'nameless' },
            { id: 'constructor' },
            7,
          ],
        },
      },
    }).replace('"list"', '"__proto__"')
    expect(codes(value)).toEqual([
      'cache-category',
      'cache-category',
      'tool-repeated',
      'tool-name',
      'cache-tool',
      'tool-name',
      'cache-tool',
      'cache-count-mismatch',
    ])
    expect(parse(value)).toMatchObject({
      cache: { categories: [{ name: 'good', keywords: ['a'], tools: [{ id: 'a__b' }] }] },
    })
  })

  it('never throws for any text', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        expect(['read', 'corrupt', 'newer']).toContain(parseCache(text, 'x').state)
      }),
    )
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), fc.jsonValue(), (categories, tools, rest) => {
        const text = JSON.stringify({
          version: '4',
          tool_count: 1,
          categories,
          tools,
          uncategorized: rest,
        })
        expect(['read', 'corrupt']).toContain(parseCache(text, 'x').state)
      }),
    )
  })
})
