import fc from 'fast-check'
import { expect, it } from 'vitest'
import { InstalledNames } from '../../src/audit/check-names.ts'

const skill = (name: string) => ({ name, directory: `/skills/${name}` })

const namesLike = (name: string, others: readonly string[]): string[] =>
  new InstalledNames(others.map(skill)).like(name, `/skills/${name}`).map((other) => other.name)

it.each([
  ['deploy', 'deplay'],
  ['deploy', 'deloy'],
  ['deploy', 'deeploy'],
  ['deploy', 'depoly'],
  ['pdf-tools', 'pdf-t00ls'],
  ['modern', 'modem'],
])('%s is like %s', (name, other) => {
  expect(namesLike(name, ['review', other])).toEqual([other])
  expect(namesLike(other, ['review', name])).toEqual([name])
})

it.each([
  ['deploy', 'deploy'],
  ['deploy', 'destroy'],
  ['step-1', 'step-2'],
  ['ship', 'shop'],
])('%s is not like %s', (name, other) => {
  expect(namesLike(name, [other])).toEqual([])
})

it('finds every name with one letter added, removed or replaced', () => {
  const name = fc.stringMatching(/^[a-z][a-z-]{5,20}[a-z]$/)
  const edit = fc.record({ at: fc.nat(30), letter: fc.constantFrom('q', 'x'), kind: fc.nat(2) })
  fc.assert(
    fc.property(name, edit, (known, { at, letter, kind }) => {
      const letters = Array.from(known)
      letters.splice(at % known.length, kind === 0 ? 0 : 1, ...(kind === 2 ? [] : [letter]))
      const other = letters.join('')
      expect(namesLike(other, [known])).toEqual(other === known ? [] : [known])
    }),
  )
})
