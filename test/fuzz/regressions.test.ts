import { readdirSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { randomFrom } from '../skill/_fuzz-text.ts'
import { mutate } from './_mutate.ts'
import { finds } from './finds.ts'
import { targets } from './targets.ts'

/** `npm run fuzz` does millions; these are the same on every run. */
const mutations = 150

it('lists every target', () => {
  const files = readdirSync(path.join(import.meta.dirname, 'targets'))
  expect(targets.map(({ name }) => `${name}.ts`)).toEqual(files)
})

describe.each(targets)('$name', ({ name, seeds, words, fuzz }) => {
  it('reports no failure for its seeds', () => {
    for (const seed of seeds) fuzz(Buffer.from(seed))
  })

  it.each(finds.filter(({ target }) => target === name))('no longer fails: $was', ({ input }) => {
    fuzz(Buffer.from(input))
  })

  it(`reports no failure for ${mutations} mutations`, () => {
    const random = randomFrom(1)
    const inputs = seeds.map((seed) => Buffer.from(seed)).filter(({ length }) => length < 1000)
    const fixture = {
      random,
      words: words.map((word) => Buffer.from(word)),
      other: () => random.pick(inputs),
      limit: 512,
    }
    for (let count = 0; count < mutations; count++) fuzz(mutate(random.pick(inputs), fixture))
  })
})
