import fc from 'fast-check'
import { expect, it } from 'vitest'
import { noGrants } from '../../../src/exec/sandbox/grants.ts'
import { seatbeltProfile } from '../../../src/exec/sandbox/seatbelt.ts'

const box = {
  skillDirectory: '/Users/u/skills/a',
  state: '/runs/state',
  output: '/runs/output',
  grants: noGrants,
}
const temporary = '/private/tmp/box'

it("denies everything by default, and denies the skill's folder last", () => {
  const lines = seatbeltProfile(box, temporary).trimEnd().split('\n')
  expect([...lines.slice(0, 2), ...lines.slice(-4)]).toEqual([
    '(version 1)',
    '(deny default)',
    '(allow file-write* (subpath "/private/tmp/box"))',
    '(allow file-write-data (literal "/dev/null") (literal "/dev/zero") (literal "/dev/dtracehelper"))',
    '(allow file-write* (literal "/runs/output"))',
    '(deny file-write* (subpath "/Users/u/skills/a"))',
  ])
  expect(lines.join()).not.toMatch(/network/)
})

it('contains the grants', () => {
  const grants = { ...noGrants, read: ['/data'], write: ['/out'], network: true }
  const profile = seatbeltProfile({ ...box, grants }, temporary)
  expect(profile).toContain('(subpath "/private/tmp/box") (subpath "/data") (subpath "/out")')
  expect(profile).toContain('(allow file-write* (subpath "/private/tmp/box") (subpath "/out"))')
  expect(profile).toContain('(allow network*)')
})

it('keeps every path inside its string, with balanced parentheses outside strings', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('"', '\\', '(', ')', '/', 'a', '\n') }),
      (path) => {
        const text = seatbeltProfile({ ...box, skillDirectory: `/${path}` }, temporary)
        const outside = text.replaceAll(/"(?:\\.|[^"\\])*"/gs, '')
        expect(outside).not.toContain('"')
        expect(outside.split('(').length).toBe(outside.split(')').length)
      },
    ),
  )
})
