import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { defineSkill } from '../../src/library/manager.ts'
import type { SkillInfo } from '../../src/library/model.ts'
import { type Candidate, resolveNames } from '../../src/library/discover.ts'

const { info: anySkill } = defineSkill({ name: 'any', description: 'D.', body: '' })

interface Place {
  name: string
  place: string
  trusted: boolean
  content: number
}

const places = fc.array(
  fc.record({
    name: fc.constantFrom('a', 'b', 'B', 'c'),
    place: fc.constantFrom('1', '2', '3'),
    trusted: fc.boolean(),
    content: fc.nat(1),
  }),
  { maxLength: 12 },
)

/** One candidate each, in order of place; size stands for the content. */
function candidates(list: readonly Place[]): Candidate[] {
  return list
    .toSorted((x, y) => Number(x.place) - Number(y.place))
    .map(({ name, place, trusted, content }, index) => ({
      place,
      info: {
        ...anySkill,
        name,
        path: `/${index}/SKILL.md`,
        realDirectory: `/${index}`,
        trustLevel: trusted ? 'trusted' : 'untrusted',
        size: content,
      },
    }))
}

const sameSize = (a: { size: number }, b: { size: number }): boolean => a.size === b.size
const paths = (infos: readonly SkillInfo[]): string[] => infos.map(({ path }) => path)

describe('any set of skills', () => {
  it('puts each skill into exactly one list, and gives each name at most one skill', () => {
    fc.assert(
      fc.property(places, (list) => {
        const all = candidates(list)
        const { skills, shadowed, conflicts } = resolveNames(all, sameSize)
        expect([...paths(skills), ...paths(shadowed), ...paths(conflicts)].toSorted()).toEqual(
          all.map(({ info }) => info.path).toSorted(),
        )
        expect(new Set(skills.map(({ name }) => name)).size).toBe(skills.length)
        const contested = new Set(conflicts.map(({ name }) => name))
        expect(skills.some(({ name }) => contested.has(name))).toBe(false)
      }),
    )
  })

  it('lets no untrusted skill hide a trusted one, and names each hidden skill', () => {
    fc.assert(
      fc.property(places, (list) => {
        const { skills, shadowed } = resolveNames(candidates(list), sameSize)
        for (const { trustLevel, shadows } of skills) {
          const hidden = shadowed.filter(({ path }) => shadows.includes(path))
          expect(hidden).toHaveLength(shadows.length)
          const hidesTrusted = hidden.some((info) => info.trustLevel === 'trusted')
          expect(trustLevel === 'untrusted' && hidesTrusted).toBe(false)
        }
      }),
    )
  })

  it('never chooses silently between different skills of one name, level and location', () => {
    fc.assert(
      fc.property(places, (list) => {
        const all = candidates(list)
        const { skills } = resolveNames(all, sameSize)
        for (const winner of skills) {
          const place = all.find(({ info }) => info.path === winner.path)?.place
          const rivals = all.filter(
            (other) =>
              other.place === place &&
              other.info.name === winner.name &&
              other.info.trustLevel === winner.trustLevel,
          )
          expect(rivals.every(({ info }) => info.size === winner.size)).toBe(true)
        }
      }),
    )
  })
})

it('a thousand skills of one name are one conflict with a short message', () => {
  const list = Array.from({ length: 1000 }, (_, content) => ({
    name: 'a',
    place: '1',
    trusted: true,
    content,
  }))
  const { conflicts } = resolveNames(candidates(list), sameSize)
  expect(conflicts).toHaveLength(1000)
  expect(conflicts[999]?.diagnostics[0]?.message).toContain('and 995 more')
})
