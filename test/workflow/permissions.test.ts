import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  isDeclaredReadOnly,
  isRestricted,
  matchesName,
  matchWorkflows,
  permissionOf,
} from '../../src/tools/workflow/match.ts'
import { call, tool, workflow, workflowsOf } from './helpers.ts'

describe('a pattern of tools', () => {
  it.each([
    ['notes__*', 'notes__add', true],
    ['notes__*', 'notes__', true],
    ['notes__*', 'other_notes__add', false],
    ['*__delete', 'notes__delete', true],
    ['*__delete', 'notes__delete_all', false],
    ['*', 'anything', true],
    ['a*a', 'a', false],
    ['a*a', 'aa', true],
    ['a*b*b', 'ab', false],
    ['a*bc*c', 'abc', false],
    ['*x*y*', 'y x', false],
    ['notes__add', 'notes__add', true],
    ['notes__add', 'notes__add2', false],
    ['notes.add', 'notesXadd', false],
  ])('%s matches %s: %s', (pattern, name, fits) => {
    expect(matchesName(pattern, name)).toBe(fits)
  })

  it('matches the same names as the same regular expression', () => {
    const texts = fc.string({ unit: fc.constantFrom('a', 'b', '_'), maxLength: 8 })
    const patterns = fc.string({ unit: fc.constantFrom('a', 'b', '_', '*'), maxLength: 6 })
    fc.assert(
      fc.property(patterns, texts, (pattern, name) => {
        const expected = new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(name)
        expect(matchesName(pattern, name)).toBe(expected)
      }),
      { numRuns: 2000 },
    )
  })

  it('is matched in linear time', () => {
    expect(matchesName(`${'a*'.repeat(2000)}b`, 'a'.repeat(20_000))).toBe(false)
  })
})

describe('the permission for a tool in the settings', () => {
  const none = { allow: [], ask: [], deny: [], readOnly: [] }

  it.each([
    ['nothing', {}, undefined],
    ['allow alone', { allow: ['s__*'] }, 'allow'],
    ['ask before allow', { allow: ['s__*'], ask: ['*__go'] }, 'ask'],
    ['deny before all others', { allow: ['s__go'], ask: ['s__go'], deny: ['other', '*'] }, 'deny'],
    ['nothing of another tool', { deny: ['s__stop'], readOnly: ['s__go'] }, undefined],
  ])('is %s', (_what, said, expected) => {
    expect(permissionOf('s__go', { ...none, ...said })).toBe(expected)
  })

  it.each([
    ['its name alone', 'drop_row'],
    ['a pattern of its name', 'drop_*'],
    ['another case', 'Shop__Drop_Row'],
    ['another punctuation', 'shop__drop-row'],
    ['the name of most clients', 'mcp__shop__drop_row'],
    ['the name of Gemini CLI', 'mcp_shop_drop_row'],
    ['the name of OpenCode', 'shop_drop_row'],
    ['the name of Copilot CLI', 'shop-drop_row'],
    ['the name of MetaMCP', 'MetaMCP_shop__drop_row'],
    ['server and tool with a dot', 'shop.drop_row'],
    ['server and tool with a colon', 'shop:drop_row'],
    ['a pattern of its server', 'SH*__drop_row'],
    ['its server', 'shop'],
    ['its server as a client writes it', 'mcp__shop'],
  ])('restricts a tool by %s, and allows none by it', (_what, pattern) => {
    const id = 'shop__drop_row'
    expect(permissionOf(id, { ...none, deny: [pattern] })).toBe('deny')
    expect(permissionOf(id, { ...none, ask: [pattern], allow: [id] })).toBe('ask')
    expect(permissionOf(id, { ...none, allow: [pattern] })).toBeUndefined()
    expect(isDeclaredReadOnly(id, { ...none, readOnly: [pattern] })).toBe(false)
  })

  it.each(['drop', 'row', 'shop__drop', 'db__*', 'sho', 'shop__drop_row2', 'mcp__db__drop_row'])(
    'restricts no other tool by %s',
    (pattern) => {
      expect(isRestricted('shop__drop_row', [pattern])).toBe(false)
      expect(isRestricted('db_copy__drop_row', [pattern])).toBe(false)
    },
  )

  it('restricts whatever its ID matches', () => {
    const texts = fc.string({ unit: fc.constantFrom('a', 'B', '_', '-', 'ü'), maxLength: 8 })
    const patterns = fc.string({ unit: fc.constantFrom('a', 'B', '_', '*'), maxLength: 6 })
    fc.assert(
      fc.property(patterns, texts, (pattern, id) => {
        fc.pre(matchesName(pattern, id))
        expect(isRestricted(id, [pattern])).toBe(true)
      }),
    )
  })

  it('is empty without settings', () => {
    expect(permissionOf('s__go', undefined)).toBeUndefined()
    expect(isDeclaredReadOnly('s__go', undefined)).toBe(false)
  })

  it('is to read only if one of the patterns matches', () => {
    expect(isDeclaredReadOnly('s__go', { ...none, readOnly: ['x', 's__*'] })).toBe(true)
    expect(isDeclaredReadOnly('s__go', { ...none, readOnly: ['x'], allow: ['s__go'] })).toBe(false)
  })
})

describe('the tools to which a workflow applies', () => {
  const installed = [tool('s__look'), tool('s__go'), tool('hub__s__look')]
  const why = (triggers: object, id: string, more = {}) =>
    matchWorkflows(call(tool(id), {}, more), workflowsOf(workflow('w', { triggers })), [
      ...installed,
      tool(id),
    ]).why

  it.each([
    ['s__go', 's__go'],
    ['g*', 's__go'],
    ['G*', 's__go_on'],
    ['s__*', 's__go'],
    ['go-*', 's__go_on'],
    ['g*', 'hub__s__go'],
  ])('are those that %s matches: %s', (name, id) => {
    expect(why({ tools: [name] }, id)).toEqual({ by: 'tool', value: name })
  })

  it.each([
    ['g*', 's__ago'],
    ['go', 's__going'],
    ['t__*', 's__go'],
  ])('are not those that %s does not match: %s', (name, id) => {
    expect(why({ tools: [name] }, id)).toBeUndefined()
  })

  it('are all tools of a server if it names nothing else', () => {
    expect(why({ server: 's' }, 's__go')).toEqual({ by: 'server', value: 's' })
    expect(why({ server: 's' }, 't__go')).toBeUndefined()
  })

  it.each([
    ['tools', { tools: ['stop'] }],
    ['keywords', { keywords: ['ship'] }],
    ['a category', { category: 'notes' }],
  ])('are only the tools of a server that %s select', (_what, more) => {
    expect(why({ server: 's', ...more }, 's__go')).toBeUndefined()
  })

  it('are selected by a keyword on the server alone', () => {
    const triggers = { server: 's', keywords: ['ship'] }
    expect(why(triggers, 's__go', { request: 'ship it' })).toEqual({ by: 'keyword', value: 'ship' })
    expect(why(triggers, 't__go', { request: 'ship it' })).toBeUndefined()
  })

  it('are those that may change something if it names changes', () => {
    const triggers = { server: 's', changes: true }
    expect(why(triggers, 's__go')).toEqual({ by: 'changes', value: 'go' })
    const reading = tool('s__read', { readOnly: true })
    const matches = matchWorkflows(call(reading), workflowsOf(workflow('w', { triggers })), [
      ...installed,
      reading,
    ])
    expect(matches.why).toBeUndefined()
  })
})
