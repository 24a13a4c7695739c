import type { JsonObject } from '../../../src/core/json.ts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { splitClauses } from '../../../src/tools/parameters/slots.ts'
import { lastSegment } from '../../../src/tools/workflow/match.ts'
import {
  bindParams,
  planRequest as planClauses,
  type PlannedCall,
} from '../../../src/tools/parameters/plan-request.ts'
import { catalogue } from './catalogue.ts'

/** A router for these words; the real router has separate tests. */
const words: readonly [RegExp, string][] = [
  [/console/, 'browser__list_console_messages'],
  [/click/i, 'browser__click'],
  [/docs/i, 'docs__resolve-library-id'],
  [/details|quer(?:y|ies)/i, 'graphql__get_field_details'],
  [/merge/i, 'github__merge_pull_request'],
  [/issues/i, 'github__list_issues'],
  [/PR|pull request/i, 'github__get_pull_request'],
]

const planTools = {
  definition: (id: string) => Object.values(catalogue).find((tool) => tool.id === id),
  tools: Object.values(catalogue).map(({ id }) => id),
}

function planRequest(request: string, tool?: string): readonly PlannedCall[] {
  const clauses =
    tool === undefined ? splitClauses(request, planTools.tools.map(lastSegment)) : [request]
  const routed = (text: string): string | undefined =>
    words.find(([pattern]) => pattern.test(text))?.[1]
  return planClauses(
    clauses.map((text) => ({ text, tool: tool ?? routed(text) })),
    planTools,
  )
}

describe('the four orchestrations of the seed', () => {
  it('takes a snapshot before a click on a described element, and reads the console after it', () => {
    const plan = planRequest('Click the submit button and list console errors')
    expect(outline(plan)).toEqual([
      ['list_pages', {}, []],
      ['take_snapshot', {}, ['pageId from list_pages']],
      ['click', {}, ['pageId from list_pages', 'uid from take_snapshot']],
      ['list_console_messages', { types: ['error'] }, []],
    ])
    expect(plan.at(-1)?.after).toEqual(['click'])
  })

  it('resolves a library before its documentation is read', () => {
    expect(outline(planRequest('Docs for Next.js app router'))).toEqual([
      ['resolve_library_id', { query: 'app router', libraryName: 'Next.js' }, []],
      ['query_docs', { query: 'app router' }, ['libraryId from resolve_library_id']],
    ])
  })

  it('lists the queries before one of them is inspected', () => {
    expect(outline(planRequest('details of the user query'))).toEqual([
      ['filter_queries', {}, []],
      ['get_field_details', {}, ['field_name from filter_queries']],
    ])
  })

  it('reads a pull request, its files and its checks', () => {
    const pull = { owner: 'octo', repo: 'hello', pull_number: 7 }
    expect(outline(planRequest('Review PR 7 in octo/hello'))).toEqual([
      ['get_pull_request', pull, []],
      ['get_pull_request_files', pull, []],
      ['get_pull_request_status', pull, []],
    ])
  })
})

it('opens the page of an address before a tool without a parameter for addresses', () => {
  const request = 'take a screenshot of https://x.test and save it to shot.png'
  expect(outline(planRequest(request, 'browser__take_screenshot'))).toEqual([
    ['navigate_page', { type: 'url', url: 'https://x.test' }, []],
    ['take_screenshot', { filePath: 'shot.png' }, []],
  ])
})

it('passes the repository of an earlier clause to a later one', () => {
  expect(outline(planRequest('merge PR 7 of octo/hello; then show issues labeled bug'))).toEqual([
    ['merge_pull_request', { owner: 'octo', repo: 'hello', pull_number: 7 }, []],
    ['list_issues', { owner: 'octo', repo: 'hello', labels: ['bug'], state: 'open' }, []],
  ])
})

it('opens an address before a tool uses the page', () => {
  const plan = planRequest('screenshot of http://127.0.0.1:8080/a', 'browser__take_screenshot')
  expect(outline(plan)).toEqual([
    ['navigate_page', { type: 'url', url: 'http://127.0.0.1:8080/a' }, []],
    ['take_screenshot', {}, []],
  ])
})

it('has no steps if no tool matches', () => {
  expect(planRequest('sing a song')).toEqual([])
})

describe('the value from an earlier answer', () => {
  const snapshot = [
    'uid=1_0 RootWebArea "Shop"',
    '  uid=1_1 textbox "E-mail"',
    '  uid=1_2 button "Submit order"',
    '  uid=1_3 button "Cancel"',
    '  uid=1_4 constructor "Odd"',
  ].join('\n')

  it.each([
    ['click the submit button', '1_2'],
    ['click cancel', '1_3'],
    ['click the e-mail textbox', '1_1'],
  ])('%s is element %s', (request, uid) => {
    const click = planRequest(request, 'browser__click').at(-1)
    const texts = new Map([
      ['list_pages', '1: about:blank\n2: https://x.test [selected]'],
      ['take_snapshot', snapshot],
    ])
    expect(click && bindParams(click, texts)).toEqual({ ready: true, params: { pageId: 2, uid } })
  })

  const page = { pageId: { type: 'number' } }
  const pageTools = [
    { id: 'web__list_pages', server: 'web', name: 'list_pages', description: '', inputSchema: {} },
    {
      id: 'web__close_page',
      server: 'web',
      name: 'close_page',
      description: '',
      inputSchema: { type: 'object', properties: page, required: ['pageId'] },
    },
  ]

  function planClosing(request: string): PlannedCall | undefined {
    const definition = (id: string) => pageTools.find((one) => one.id === id)
    const tools = { definition, tools: pageTools.map(({ id }) => id) }
    return planClauses([{ text: request, tool: 'web__close_page' }], tools).at(-1)
  }

  it.each([
    'close the shop page',
    'close the page about taxes',
    'close all pages',
    'close the other page',
  ])('is not the page that is open if the request names another one: %s', (request) => {
    const close = planClosing(request)
    const bank = new Map([['list_pages', '1: https://bank.test/ [selected]\n2: about:blank']])
    const why = expect.stringContaining('pageId is not clear from the answer of list_pages')
    expect(close && bindParams(close, bank)).toMatchObject({ ready: false, why })
  })

  it.each([
    ['1: https://shop.test/ [selected]', 1],
    ['1: https://shop.test/ [selected]\n2: https://x.test/login', 2],
    ['1: https://shop.test/ [selected]\n2: https://bank.test/', undefined],
  ])('is the page that a phrase of the format names, or the only one: %s', (pages, pageId) => {
    const request = 'take a screenshot of the login page'
    const properties = { pageId: { type: 'number' }, fullPage: { type: 'boolean' } }
    const inputSchema = { type: 'object', properties, required: ['pageId'] }
    const picture = { id: 'web__take_screenshot', server: 'web', name: 'take_screenshot' }
    const all = [...pageTools, { ...picture, description: '', inputSchema }]
    const tools = {
      definition: (id: string) => all.find((one) => one.id === id),
      tools: all.map(({ id }) => id),
    }
    const call = planClauses([{ text: request, tool: picture.id }], tools).at(-1)
    const bound = call && bindParams(call, new Map([['list_pages', pages]]))
    const params = { fullPage: true, pageId }
    expect(bound).toMatchObject(pageId === undefined ? { ready: false } : { ready: true, params })
  })

  it.each([
    ['react', 'Libraries: /preactjs/preact\n/facebook/react', '/facebook/react'],
    ['Next.js', 'Libraries: /mrdoob/three.js\n/vercel/next.js', '/vercel/next.js'],
    ['vue', 'Libraries: /vuejs/core', '/vuejs/core'],
    ['lodash', 'Libraries: /facebook/react', undefined],
  ])('is the library with the name %s', (library, answer, libraryId) => {
    const docs = planRequest(`docs for ${library} usage`, 'docs__query-docs').at(-1)
    const bound = docs && bindParams(docs, new Map([['resolve_library_id', answer]]))
    const ready = { ready: true, params: { libraryId, query: 'usage' } }
    expect(bound).toMatchObject(libraryId === undefined ? { ready: false } : ready)
  })

  it('is the page that the request names, not the selected one', () => {
    const close = planClosing('close the shop page')
    const both = new Map([
      ['list_pages', '1: https://bank.test/ [selected]\n2: https://shop.test/'],
    ])
    expect(close && bindParams(close, both)).toEqual({ ready: true, params: { pageId: 2 } })
  })

  it.each([
    ['click the submit button', 'uid=1_1 button "Cancel"'],
    ['click on the next item', 'uid=1_1 link "On the next day"\nuid=1_2 link "On the way"'],
    ['never click cancel', 'uid=1_1 button "Cancel"'],
  ])('is no element that lacks a word of the request: %s', (request, elements) => {
    const click = planRequest(request, 'browser__click').at(-1)
    const texts = new Map([
      ['list_pages', '1: https://x.test [selected]'],
      ['take_snapshot', elements],
    ])
    expect(click && bindParams(click, texts)).toMatchObject({ ready: false })
  })

  it('offers a choice when two elements fit equally', () => {
    const click = planRequest('click the button', 'browser__click').at(-1)
    const texts = new Map([
      ['list_pages', '1: about:blank [selected]'],
      ['take_snapshot', snapshot],
    ])
    expect(click && bindParams(click, texts)).toEqual({
      ready: false,
      why: 'uid is not clear from the answer of take_snapshot; it has 1_2 button "Submit order", 1_3 button "Cancel"',
    })
  })
})

it('reads an element from the tool that the description of a parameter names', () => {
  const target = { type: 'string', description: 'Exact element reference from the page snapshot' }
  const define = (name: string, properties: JsonObject, required: string[]) => ({
    id: `web__${name}`,
    server: 'web',
    name,
    description: '',
    inputSchema: { type: 'object', properties, required },
  })
  const customTools = [define('web_press', { target }, ['target']), define('web_snapshot', {}, [])]
  const tools = {
    definition: (id: string) => customTools.find((one) => one.id === id),
    tools: customTools.map(({ id }) => id),
  }
  const steps = planClauses([{ text: 'press the submit button', tool: 'web__web_press' }], tools)
  expect(outline(steps)).toEqual([
    ['web_snapshot', {}, []],
    ['web_press', {}, ['target from web_snapshot']],
  ])
  const texts = new Map([
    ['web_snapshot', '- button "Cancel" [ref=e3]\n  - button "Submit" [cursor=pointer] [ref=e4]'],
  ])
  const last = steps.at(-1)
  expect(last && bindParams(last, texts)).toEqual({ ready: true, params: { target: 'e4' } })
})

it('plans any request without throwing, and orders each step after its sources', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.string(), clausesOf()),
      fc.constantFrom(undefined, ...planTools.tools),
      (request, tool) => {
        const steps = planRequest(request, tool)
        const names = steps.map(({ name }) => name)
        expect(new Set(names).size).toBe(names.length)
        for (const [index, { after }] of steps.entries()) {
          expect(names.slice(0, index)).toEqual(expect.arrayContaining([...after]))
        }
      },
    ),
  )
})

function clausesOf(): fc.Arbitrary<string> {
  const clause = fc.constantFrom(
    'click the submit button',
    'docs for react',
    'review PR 3 in a/b',
    'show issues',
    'details of queries',
  )
  return fc.array(clause, { minLength: 1, maxLength: 12 }).map((parts) => parts.join(' and then '))
}

function outline(steps: readonly PlannedCall[]): unknown[][] {
  return steps.map(({ name, params, bindings }) => [
    name,
    params,
    bindings.map(({ parameter, from }) => `${parameter} from ${from}`),
  ])
}
