import { describe, expect, it } from 'vitest'
import { runWithin } from '../../../src/tools/call/schema-checker.ts'

describe('work within a limit', () => {
  it('returns its result', () => {
    expect(runWithin(20_000, () => 5)).toEqual({ inTime: true, value: 5 })
  })

  it.each([
    ['never ends', (): never => forEver()],
    ['backtracks for ever', (): boolean => /^(?:a+)+$/.test(`${'a'.repeat(60)}!`)],
  ])('is stopped if it %s, and reports that without an error', (_, work) => {
    expect(runWithin(30, work)).toEqual({ inTime: false })
    expect(runWithin(20_000, () => 'after')).toEqual({ inTime: true, value: 'after' })
  })

  it('throws the same object as the work', () => {
    const error = new TypeError('no')
    const failing = (): never => {
      throw error
    }
    expect(() => runWithin(20_000, failing)).toThrow(error)
  })

  it.each([
    { share: 'nearly none', slowness: 20, result: { inTime: true, value: 'done' }, runs: 2 },
    { share: 'all', slowness: 1, result: { inTime: false }, runs: 1 },
  ])('starts work that gets $share of the CPU $runs times', ({ slowness, result, runs }) => {
    let count = 0
    const endlessAtFirst = (): string => {
      count++
      if (count === 1) forEver()
      return 'done'
    }
    expect(runWithin(30, endlessAtFirst, () => performance.now() / slowness)).toEqual(result)
    expect(count).toBe(runs)
  })
})

function forEver(): never {
  for (;;);
}
