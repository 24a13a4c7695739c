import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { StepResult } from '../../src/chain/engine.ts'
import { duration, placeOf, spanOf } from '../../src/chain/timeline.ts'
import { runCommand } from './_command.ts'
import { makeProject, type TestProject } from './_project.ts'

let project: TestProject
beforeEach(() => {
  project = makeProject()
})
afterEach(() => project.remove())

const day = 86_400_000

interface Jumps {
  /** Milliseconds by which each reading of the clock is ahead of the one before. */
  steps: readonly number[]
}

/** A wall clock that jumps at each reading, and runs like the real one between readings. */
function jumpingClock({ steps }: Jumps): () => number {
  let reading = 0
  let shift = 0
  return () => {
    shift += steps[reading++ % steps.length] ?? 0
    return Date.now() + shift
  }
}

async function timedRun(args: readonly string[], now: () => number) {
  const before = process.uptime() * 1000
  const answer = await runCommand('run', [...args, '--json'], project, { now })
  const measured = process.uptime() * 1000 - before
  const { attempts } = answer.json
  return { steps: attempts.flatMap(({ steps }) => allOf(steps)), measured }
}

function allOf(steps: readonly StepResult[]): StepResult[] {
  return steps.flatMap((step) => [step, ...allOf(step.steps ?? [])])
}

function expectBelow(steps: readonly StepResult[], measured: number): void {
  // A shift of less than a second is not recorded.
  const most = measured + 1000
  for (const { durationMs } of steps) {
    if (durationMs === null) continue
    expect(durationMs).toBeGreaterThanOrEqual(0)
    expect(durationMs).toBeLessThanOrEqual(Math.ceil(measured))
  }
  const span = spanOf(steps)
  const length = span?.length ?? 0
  expect(length).toBeGreaterThanOrEqual(0)
  expect(length).toBeLessThanOrEqual(most)
  for (const step of steps) {
    const place = span && placeOf(step, span)
    expect(place?.left ?? 0).toBeGreaterThanOrEqual(0)
    expect(place?.width ?? 0).toBeLessThanOrEqual(1)
  }
}

describe('when the clock is set during a run', () => {
  it('no time is longer than the monotonic clock measured, or below zero', async () => {
    project.write('a', { run: 'true' })
    project.write('inner', { metadata: ['chain: a a'] })
    project.write('main', { metadata: ['chain: a inner a'] })
    const jump = fc.oneof(
      fc.constant(0),
      fc.integer({ min: -2 * day, max: 2 * day }),
      fc.constantFrom(-day, day),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(jump, { minLength: 1, maxLength: 12 }), async (steps) => {
        const { steps: results, measured } = await timedRun(['main'], jumpingClock({ steps }))
        expect(results).toHaveLength(5)
        expectBelow(results, measured)
      }),
      { numRuns: 15 },
    )
  })

  it('does not mention the clock if it was not set', async () => {
    project.write('a', { run: 'true' })
    project.write('main', { metadata: ['chain: a'] })
    const { steps } = await timedRun(['main'], jumpingClock({ steps: [0] }))
    expect(steps).toHaveLength(1)
    expect(steps[0]).not.toHaveProperty('clockShiftMs')
  })
})

it('says how far the clock had been set when a step began', async () => {
  project.write('a', { run: 'true' })
  project.write('main', { metadata: ['chain: a a'] })
  const { steps } = await timedRun(['main'], jumpingClock({ steps: [day] }))
  expect(steps.every(({ clockShiftMs }) => Number(clockShiftMs) >= day - 1000)).toBe(true)
})

describe('when the clock was set back between two processes of a run', () => {
  it('reports the time of the run as unknown', async () => {
    project.write('a', { run: 'true' })
    project.write('b', { run: 'true' })
    project.write('inner', { metadata: ['chain: |', '  b', '  a gate'] })
    project.write('main', { metadata: ['chain: a inner'] })
    const first = await runCommand('run', ['main'], project)
    expect(first.code).toBe(6)
    const back = (): number => Date.now() - day
    const approved = await runCommand('runs approve', ['latest'], project, {
      answer: 'y',
      now: back,
    })
    expect(approved.error).toBeUndefined()
    const shown = await runCommand('runs show', ['latest', '--json'], project)
    const steps = allOf(shown.json.attempts.flatMap((one) => one.steps))
    expect(steps.every(({ status }) => status === 'success')).toBe(true)
    expect(spanOf(steps)?.length).toBeUndefined()
    const { lines } = await runCommand('runs show', ['latest'], project)
    expect(lines.join('\n')).not.toMatch(/\d (?:h|d) /)
  })

  it('the age of a run that began later than now is unknown', async () => {
    project.write('main', { run: 'true' })
    await runCommand('run', ['main'], project, { now: () => Date.now() + day })
    const { lines } = await runCommand('runs list', [], project)
    expect(lines.at(-1)).toMatch(/ unknown$/)
  })
})

it('the time between any two readings is printed as a time or as unknown', () => {
  fc.assert(
    fc.property(fc.option(fc.nat()), (milliseconds) => {
      expect(duration(milliseconds)).toMatch(
        milliseconds === null ? /^unknown$/ : /^\d[\d.]* (?:ms|s|min|h|d)/,
      )
    }),
  )
})
