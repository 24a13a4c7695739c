import { expect, it } from 'vitest'
import { growthOf } from './work-count.ts'

const works = new URL('_works.ts', import.meta.url)

it('tells work that grows like the input from work that grows like its square', async () => {
  const [linear, square] = [await growthOf(works, 'sum', 100), await growthOf(works, 'pairs', 100)]
  expect(linear).toBeLessThan(5)
  expect(square).toBeGreaterThan(12)
  expect(await growthOf(works, 'pairs', 100)).toBe(square)
})
