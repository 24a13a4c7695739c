import { globSync } from 'node:fs'
import { expect, it } from 'vitest'
import { mutationAreas } from '../mutation-areas.ts'

it('mutates files that exist with tests that exist, in every area', () => {
  for (const [area, { sources, tests }] of Object.entries(mutationAreas)) {
    for (const pattern of [...sources, ...tests].flatMap(alternatives)) {
      expect({ area, pattern, files: globSync(pattern) }).not.toMatchObject({ files: [] })
    }
  }
})

/** One pattern for each of the names in braces, so that a missing one is noticed. */
function alternatives(pattern: string): string[] {
  const [, before = '', names, after = ''] = /^([^{]*)\{([^}]*)\}(.*)$/.exec(pattern) ?? []
  if (names === undefined) return [pattern]
  return names.split(',').map((name) => `${before}${name}${after}`)
}
