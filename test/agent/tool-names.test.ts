import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toToolSet } from '../../src/agent/ai/tool-set.ts'
import { toWireNames, wireName } from '../../src/agent/tool.ts'
import { echoTool } from './mock-replies.ts'

describe('wireName', () => {
  it.each([
    ['read', 'read'],
    ['web-search.fetch', 'web-search__fetch'],
    ['server.list.all', 'server__list__all'],
    ['größe:x y', 'gr__e_x_y'],
  ])('writes %s as %s', (name, wire) => {
    expect(wireName(name)).toBe(wire)
  })

  it('turns any name into one that every provider accepts', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (name) => {
        const [wire] = Object.keys(toToolSet([echoTool(name)]))
        expect(wire).toMatch(/^[A-Za-z0-9_-]{1,64}$/)
      }),
    )
  })

  it('keeps a wire name', () => {
    fc.assert(
      fc.property(fc.string(), (name) => {
        expect(wireName(wireName(name))).toBe(wireName(name))
      }),
    )
  })

  it('keeps long names apart that differ only at their ends', () => {
    const long = `server.${'a'.repeat(80)}`
    const names = [`${long}1`, `${long}2`].map(wireName)
    expect(new Set(names).size).toBe(2)
    expect(names.every((name) => name.length === 64)).toBe(true)
  })
})

describe('toWireNames', () => {
  it('finds the tool for every wire name and every display name', () => {
    const name = fc.string({ minLength: 1, unit: 'grapheme' })
    fc.assert(
      fc.property(fc.uniqueArray(name, { selector: wireName }), (all) => {
        const tools = all.map((one) => echoTool(one))
        const names = toWireNames(tools)
        expect([...names.values()]).toEqual(tools)
        for (const [wire, tool] of names) {
          expect(names.get(wire)).toBe(tool)
          expect(names.get(wireName(tool.name))).toBe(tool)
        }
      }),
    )
  })

  it.each([
    [
      ['a.b', 'a__b'],
      'Two tools would be called a__b: a.b (of the program) and a__b (of the program).',
    ],
    [['a', 'a'], 'Two tools would be called a: a (of the program) and a (of the program).'],
    [[''], 'A tool has an empty name.'],
  ])('refuses %j', (names, message) => {
    expect(() => toWireNames(names.map((name) => echoTool(name)))).toThrow(message)
  })

  it('maps every list of tools, also one that changes after its first tool', () => {
    const [first, second, third] = ['a', 'b', 'c'].map((name) => echoTool(name))
    const lists = [[first, second], [first, third], [first], [first, third, second]]
    for (const list of [...lists, ...lists]) {
      const tools = list.filter((one) => one !== undefined)
      expect([...toWireNames(tools).values()]).toEqual(tools)
    }
    const changing = [echoTool('a'), echoTool('b')]
    toWireNames(changing)
    changing.pop()
    expect(toWireNames(changing).get('b')).toBeUndefined()
  })

  it('finds no tool that is not offered', () => {
    expect(toWireNames([echoTool('read')]).get('write')).toBeUndefined()
  })
})
