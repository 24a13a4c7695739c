import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Repetition } from '../../../src/agent/loop/run-loop.ts'

interface Step {
  name: string
  text: string
}

/** The index of the step at which the run ends, and how often the model was told before. */
function observe(steps: readonly Step[]): { end: number; notices: number } {
  const repetition = new Repetition()
  let notices = 0
  for (const [index, step] of steps.entries()) {
    const { notice, end } = repetition.add([step])
    if (end !== undefined) return { end: index, notices }
    if (notice !== undefined) notices += 1
  }
  return { end: -1, notices }
}

const step = fc.record({ name: fc.constantFrom('a', 'b', 'c'), text: fc.constantFrom('1', '2') })

/** The length of the shortest cycle that a list consists of. */
function period(steps: readonly Step[]): number {
  const texts = steps.map((one) => JSON.stringify(one))
  return texts.findIndex(
    (_, length) => length > 0 && texts.every((text, at) => text === texts[at % length]),
  )
}

describe('calls that a model repeats', () => {
  it('end the run whatever the length of the cycle and whatever came before', () => {
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 5 }),
        fc.array(step, { minLength: 1, maxLength: 6 }),
        (before, cycle) => {
          const steps = [...before, ...Array.from({ length: 8 }, () => cycle).flat()]
          const { end, notices } = observe(steps)
          expect(end).toBeGreaterThan(0)
          expect(end).toBeLessThan(before.length + cycle.length * 8)
          expect(notices).toBeGreaterThan(0)
        },
      ),
    )
  })

  it('do not end it before the same cycle was made five times, or one call eight times', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 2, maxLength: 6 }), (cycle) => {
        fc.pre(period(cycle) === -1)
        const steps = Array.from({ length: 4 }, () => cycle).flat()
        const inner = observe(cycle)
        fc.pre(inner.end === -1)
        expect(observe(steps).end).toBe(-1)
      }),
    )
  })

  it('count as progress if one result of the cycle differs every time', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 4 }), (cycle) => {
        fc.pre(observe(cycle).notices === 0)
        const steps = Array.from({ length: 30 }, (_, round) => [
          ...cycle,
          { name: 'status', text: `${round} %` },
        ]).flat()
        expect(observe(steps)).toEqual({ end: -1, notices: 0 })
      }),
    )
  })
})
