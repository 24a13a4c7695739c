import { describe, expect, it } from 'vitest'
import {
  callsTool,
  foldName,
  foldParameter,
  isNamed,
  lastSegment,
  namesFor,
  resolveTool,
} from '../../src/tools/workflow/match.ts'
import { call, tool } from './helpers.ts'

it.each([
  ['take-snapshot', 'take_snapshot'],
  ['Take_Snapshot', 'take_snapshot'],
  ['a-b-c', 'a_b_c'],
])('the tool %s is %s', (name, folded) => {
  expect(foldName(name)).toBe(folded)
})

it.each([
  ['pull_number', 'pullnumber'],
  ['pullNumber', 'pullnumber'],
  ['page-id-2', 'pageid2'],
])('the parameter %s is %s', (name, folded) => {
  expect(foldParameter(name)).toBe(folded)
})

it.each([
  ['click', 'click'],
  ['chrome__click', 'click'],
  ['MetaMCP__chrome__click', 'click'],
  ['a__b', 'b'],
  ['__click', '__click'],
  ['click__', 'click__'],
])('the name %s without its servers is %s', (name, last) => {
  expect(lastSegment(name)).toBe(last)
})

it.each([
  ['s__go', 's__go', true],
  ['s__go', 'go', true],
  ['s__go', 'GO', true],
  ['s__go', 'S__GO', false],
  ['s__go', 'other__go', false],
  ['s__take-snapshot', 'take_snapshot', true],
  ['meta__chrome__click', 'chrome__click', true],
  ['meta__chrome__click', 'Click', true],
  ['s__go_on', 'go', false],
  ['s__go', 'go_on', false],
])('%s is meant by %s: %s', (id, name, expected) => {
  expect(isNamed(tool(id), name)).toBe(expected)
})

describe('the names that stand for a tool', () => {
  it.each([
    ['take_snapshot', 'browser', ['take_snapshot', 'browser_snapshot']],
    ['Take-Snapshot', 'browser', ['Take-Snapshot', 'browser_snapshot']],
    ['take_snapshot', 'database', ['take_snapshot']],
    ['take_snapshot', undefined, ['take_snapshot']],
    ['take_snapshot', 'unheard-of', ['take_snapshot']],
    ['take_snapshot', 'constructor', ['take_snapshot']],
    ['constructor', 'browser', ['constructor']],
    ['execute_query', 'database', ['execute_query', 'execute_sql', 'write_query', 'query']],
    ['execute_query', 'graphql', ['execute_query', 'query-graphql']],
  ])('%s in %s are %j', (name, category, names) => {
    expect(namesFor(name, category).map((alias) => alias.name)).toEqual(names)
  })

  it.each([
    ['get', 'get_pull_request', true],
    ['get_files', 'get_pull_request', false],
    ['get_files', 'get_pull_request_files', true],
    [undefined, 'get_pull_request', false],
  ])('count with the parameters they need: method %s is a call of %s: %s', (method, name, is) => {
    const reader = call(tool('gh__pull_request_read'), method === undefined ? {} : { method })
    expect(callsTool(reader, name, 'github')).toBe(is)
  })
})

describe('the installed tool for a name', () => {
  const installed = [
    'one__click',
    'meta__safari__click',
    'meta__chrome__click',
    'two__press',
    'two__click',
  ].map((id) => tool(id))

  it.each([
    ['below the same server of an aggregating one', 'meta__chrome__fill', 'meta__chrome__click'],
    ['on the same server', 'two__fill', 'two__click'],
    ['on the same aggregating server', 'meta__status', 'meta__safari__click'],
    ['the first, where none is near', 'three__fill', 'one__click'],
    ['the first, where nothing is called', undefined, 'one__click'],
  ])('is that %s', (_what, beside, id) => {
    const near = beside === undefined ? undefined : tool(beside)
    expect(resolveTool('click', { triggers: {} }, installed, near)?.tool.id).toBe(id)
  })

  it('is the one of that name before any other that stands for it', () => {
    const both = ['new__browser_snapshot', 'old__take_snapshot'].map((id) => tool(id))
    const found = resolveTool(
      'take_snapshot',
      { triggers: { category: 'browser' } },
      both,
      tool('new__browser_click'),
    )
    expect(found).toEqual({ tool: tool('old__take_snapshot'), params: {} })
  })

  it('brings the parameters that the other name needs', () => {
    const reader = tool('gh__pull_request_read')
    expect(
      resolveTool(
        'get_pull_request_files',
        { triggers: { category: 'github' } },
        [reader],
        undefined,
      ),
    ).toEqual({
      tool: reader,
      params: { method: 'get_files' },
    })
  })

  it('is none on a server that the workflow stands for itself', () => {
    const both = ['app__click', 'chrome__click', 'chrome__take_snapshot'].map((id) => tool(id))
    const triggers = { category: 'browser', tools: ['click'] }
    const of = (name: string, beside: string) =>
      resolveTool(name, { triggers }, both, tool(beside))?.tool.id
    expect(of('take_snapshot', 'app__click')).toBeUndefined()
    expect(of('take_snapshot', 'chrome__click')).toBe('chrome__take_snapshot')
    expect(of('chrome__take_snapshot', 'app__click')).toBe('chrome__take_snapshot')
  })

  it('is of the server alone to which the workflow is bound', () => {
    const both = ['one__look', 'two__look'].map((id) => tool(id))
    const bound = { triggers: { server: 'two' } }
    expect(resolveTool('look', bound, both, undefined)?.tool.id).toBe('two__look')
    expect(resolveTool('look', { triggers: { server: 'three' } }, both, undefined)).toBeUndefined()
  })

  it('is none where no server has it', () => {
    expect(
      resolveTool('absent', { triggers: { category: 'browser' } }, installed, tool('one__click')),
    ).toBeUndefined()
  })
})
