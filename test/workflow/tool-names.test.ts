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
import { call, step, tool, workflow, workflowsOf } from './helpers.ts'

it.each([
  ['take-snapshot', 'take_snapshot'],
  ['Take_Snapshot', 'take_snapshot'],
  ['a-b-c', 'a_b_c'],
])('reads the tool %s as %s', (name, folded) => {
  expect(foldName(name)).toBe(folded)
})

it.each([
  ['pull_number', 'pullnumber'],
  ['pullNumber', 'pullnumber'],
  ['page-id-2', 'pageid2'],
])('reads the parameter %s as %s', (name, folded) => {
  expect(foldParameter(name)).toBe(folded)
})

it.each([
  ['click', 'click'],
  ['chrome__click', 'click'],
  ['MetaMCP__chrome__click', 'click'],
  ['a__b', 'b'],
  ['__click', '__click'],
  ['click__', 'click__'],
])('reads the name %s without its servers as %s', (name, last) => {
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
])('matches the name %s with %s: %s', (id, name, expected) => {
  expect(isNamed(tool(id), name)).toBe(expected)
})

describe('the tools that a workflow means by a name', () => {
  const [renamed] = workflowsOf(
    workflow('w', {
      prerequisites: [step(1, 'peek'), step(2, 'part')],
      aliases: {
        peek: ['glance', { tool: 'view_all' }],
        part: [{ tool: 'read', params: { kind: 'part' } }],
      },
    }),
  )
  const meant = renamed ?? {}

  it.each([
    ['peek', ['peek', 'glance', 'view_all']],
    ['Peek', ['Peek', 'glance', 'view_all']],
    ['part', ['part', 'read']],
    ['go', ['go']],
    ['toString', ['toString']],
  ])('for %s are %j', (name, names) => {
    expect(namesFor(name, meant).map((alias) => alias.tool)).toEqual(names)
    expect(namesFor(name, {})).toEqual([{ tool: name }])
  })

  it.each([
    ['part', true],
    ['whole', false],
    [undefined, false],
  ])('need the parameters of the other name: kind %s is a call of part: %s', (kind, is) => {
    const reader = call(tool('s__read'), kind === undefined ? {} : { kind })
    expect(callsTool(reader, 'part', meant)).toBe(is)
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
  ])('is the tool %s', (_what, beside, id) => {
    const near = beside === undefined ? undefined : tool(beside)
    expect(resolveTool('click', { triggers: {} }, installed, near)?.tool.id).toBe(id)
  })

  it('is the tool with that name before a tool with that other name', () => {
    const both = ['new__glance', 'old__peek'].map((id) => tool(id))
    const renamed = { triggers: {}, aliases: { peek: [{ tool: 'glance' }] } }
    const resolved = resolveTool('peek', renamed, both, tool('new__press'))
    expect(resolved).toEqual({ tool: tool('old__peek'), params: {} })
  })

  it('includes the parameters that the other name needs', () => {
    const reader = tool('s__read')
    const params = { kind: 'part' }
    const renamed = { triggers: {}, aliases: { part: [{ tool: 'read', params }] } }
    expect(resolveTool('part', renamed, [reader], undefined)).toEqual({ tool: reader, params })
  })

  it('does not exist on a server that the workflow replaces', () => {
    const both = ['app__click', 'chrome__click', 'chrome__take_snapshot'].map((id) => tool(id))
    const triggers = { category: 'browser', tools: ['click'] }
    const of = (name: string, beside: string) =>
      resolveTool(name, { triggers }, both, tool(beside))?.tool.id
    expect(of('take_snapshot', 'app__click')).toBeUndefined()
    expect(of('take_snapshot', 'chrome__click')).toBe('chrome__take_snapshot')
    expect(of('chrome__take_snapshot', 'app__click')).toBe('chrome__take_snapshot')
  })

  it('is only from the server to which the workflow is bound', () => {
    const both = ['one__look', 'two__look'].map((id) => tool(id))
    const bound = { triggers: { server: 'two' } }
    expect(resolveTool('look', bound, both, undefined)?.tool.id).toBe('two__look')
    expect(resolveTool('look', { triggers: { server: 'three' } }, both, undefined)).toBeUndefined()
  })

  it('does not exist if no server has it', () => {
    expect(
      resolveTool('absent', { triggers: { category: 'browser' } }, installed, tool('one__click')),
    ).toBeUndefined()
  })
})
