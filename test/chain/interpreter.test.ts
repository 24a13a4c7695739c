import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Engine } from '../../src/chain/engine.ts'
import { runChain } from '../../src/chain/attempt.ts'
import type { StepStatus } from '../../src/exec/output-protocol.ts'
import type { ChainPolicy } from '../../src/skill/model.ts'
import { modelRun } from './_model.ts'
import { chain, task } from './_plans.ts'
import { policies, status } from './_policies.ts'
import { simulate, type SimulatedStep } from './_simulated-engine.ts'

const fixed = (outcomes: Record<string, StepStatus>, durations: Record<string, number> = {}) =>
  simulate((key) => {
    const name = key.slice(key.lastIndexOf(':') + 1)
    return { status: outcomes[name] ?? 'success', duration: durations[name] ?? 1 }
  })

const statuses = async (policy: Partial<ChainPolicy>, outcomes: Record<string, StepStatus>) => {
  const names = ['a', 'b', 'c']
  const { engine } = fixed(outcomes)
  const result = await runChain(
    chain(
      names.map((name) => task(name)),
      policy,
    ),
    engine,
  )
  return [result.status, ...(result.attempts.at(-1)?.steps.map((step) => step.status) ?? [])]
}

describe('a chain', () => {
  it('does what an independent model of the rules predicts, for every policy and outcome', async () => {
    const behaviours = fc.array(fc.record({ status, duration: fc.integer({ min: 1, max: 5 }) }), {
      minLength: 1,
      maxLength: 60,
    })
    await fc.assert(
      fc.asyncProperty(
        policies,
        fc.integer({ min: 0, max: 6 }),
        behaviours,
        async (policy, count, table) => {
          const names = Array.from({ length: count }, (_, index) => `s${index}`)
          const behaviour = (attempt: number, name: string): SimulatedStep => {
            const index = ((attempt - 1) * count + names.indexOf(name)) % table.length
            return table[index] ?? { status: 'success', duration: 1 }
          }
          const { engine, started, seen } = simulate((key) => {
            const [attempt = '', name = ''] = key.split(':')
            return behaviour(Number(attempt), name)
          })
          const result = await runChain(
            chain(
              names.map((name) => task(name)),
              policy,
            ),
            engine,
          )
          const expected = modelRun(names, policy, behaviour)
          expect(started).toEqual(expected.started)
          expect(result.winner).toBe(expected.winner)
          expect({
            status: result.status,
            attempts: result.attempts.map((attempt) => ({
              status: attempt.status,
              steps: attempt.steps.map((step) => step.status),
              outputs: attempt.chain_state.previous_outputs.map((output) => output.step),
              details: attempt.steps.map(() => ''),
            })),
          }).toEqual({ status: expected.status, attempts: expected.attempts })
          for (const [key, visible] of seen) {
            const index = names.indexOf(key.split(':')[1] ?? '')
            const before = policy.async || !policy.passState ? [] : names.slice(0, index)
            expect(visible).toEqual(before)
          }
        },
      ),
      { numRuns: 3000 },
    )
  })

  it.each<[Partial<ChainPolicy>, Record<string, StepStatus>, string]>([
    [{}, {}, 'success success success success'],
    [{}, { a: 'failure' }, 'failure failure success success'],
    [{}, { b: 'critical', c: 'failure' }, 'critical success critical failure'],
    [{ continueOnError: false }, { a: 'failure' }, 'failure failure not_run not_run'],
    [{ continueOnError: false }, { b: 'critical' }, 'critical success critical not_run'],
    [{ earlyExitOn: 'failure' }, { b: 'failure' }, 'failure success failure not_run'],
    [{ earlyExitOn: 'failure' }, { a: 'critical' }, 'critical critical not_run not_run'],
    [{ earlyExitOn: 'critical' }, { a: 'failure' }, 'failure failure success success'],
    [{ earlyExitOn: 'critical' }, { b: 'critical' }, 'critical success critical not_run'],
    [{ earlyExitOn: 'success' }, { a: 'failure' }, 'success failure success not_run'],
    [
      { earlyExitOn: 'success' },
      { a: 'failure', b: 'critical', c: 'failure' },
      'critical failure critical failure',
    ],
    [
      { earlyExitOn: 'success', continueOnError: false },
      { a: 'failure' },
      'failure failure not_run not_run',
    ],
    [{ continueOnSuccess: true }, { b: 'failure' }, 'failure success failure skipped'],
    [{ continueOnSuccess: true }, { a: 'failure' }, 'failure failure skipped skipped'],
    [
      { continueOnSuccess: true, continueOnError: false },
      { a: 'failure' },
      'failure failure not_run not_run',
    ],
    [
      { continueOnSuccess: true, earlyExitOn: 'critical' },
      { a: 'failure' },
      'failure failure skipped skipped',
    ],
    [{ async: true, raceMode: true }, { a: 'critical' }, 'success critical success cancelled'],
    [{ async: true, raceMode: true, parallelLimit: 1 }, {}, 'success success not_run not_run'],
    [
      { async: true, raceMode: true },
      { a: 'critical', b: 'failure', c: 'failure' },
      'failure critical failure failure',
    ],
    [
      { async: true, continueOnError: false },
      { a: 'failure' },
      'failure failure cancelled cancelled',
    ],
    [
      { async: true, earlyExitOn: 'success', parallelLimit: 2 },
      {},
      'success success cancelled not_run',
    ],
  ])('ends with the policy %j and the outcomes %j as %s', async (policy, outcomes, expected) => {
    expect((await statuses(policy, outcomes)).join(' ')).toBe(expected)
  })

  it('succeeds without steps', async () => {
    expect(
      await runChain(chain([]), simulate(() => ({ status: 'failure', duration: 1 })).engine),
    ).toMatchObject({
      status: 'success',
      attempts: [{ attempt: 1, steps: [] }],
    })
  })

  it('names the winner of a race, and why the others did not finish', async () => {
    const { engine } = fixed({ slow: 'success' }, { slow: 9, quick: 2, mid: 5 })
    const plan = chain([task('slow'), task('quick'), task('mid')], { async: true, raceMode: true })
    const result = await runChain(plan, engine)
    expect(result.winner).toBe('quick')
    expect(result.attempts[0]?.steps.map((step) => [step.status, step.reason])).toEqual([
      ['cancelled', 'quick had won the race'],
      ['success', undefined],
      ['cancelled', 'quick had won the race'],
    ])
  })

  it('lets its engine record the winner', async () => {
    const { engine } = fixed({})
    const plan = chain([task('a'), task('b')], { async: true, raceMode: true })
    const kept: unknown[] = []
    const record: Engine['record'] = async (key, decide) => {
      const value = decide()
      kept.push([key, value])
      return value
    }
    await runChain(plan, { ...engine, record })
    expect(kept).toEqual([['1:winner', 'a']])
  })

  it('can be one step of its parent, with its own policy and the state of the parent', async () => {
    const inner = chain(
      [task('in/x'), task('in/y'), task('in/z')],
      { continueOnError: false },
      'in',
    )
    const { engine, seen } = fixed({ y: 'failure' })
    const result = await runChain(chain([task('a'), inner, task('b')]), engine)
    expect(result.status).toBe('failure')
    expect(result.attempts[0]?.steps.map((step) => [step.step, step.status])).toEqual([
      ['a', 'success'],
      ['in', 'failure'],
      ['b', 'success'],
    ])
    expect(result.attempts[0]?.steps[1]).toMatchObject({
      result: 'failure result',
      metrics: { n: 2 },
      errors: [{ code: 'e', message: 'm' }],
      steps: [{ status: 'success' }, { status: 'failure' }, { status: 'not_run' }],
    })
    expect(seen.get('1:in/1:y')).toEqual(['a', 'in/x'])
    expect(seen.get('1:b')).toEqual(['a', 'in/x', 'in/y', 'in'])
  })

  it('passes no state to a nested chain if the parent passes none', async () => {
    const inner = chain([task('in/x')], {}, 'in')
    const { engine, seen } = fixed({})
    await runChain(chain([task('a'), inner], { passState: false }), engine)
    expect(seen.get('1:in/1:x')).toEqual([])
  })

  it.each([true, false])(
    'passes the earlier results to the steps of a group: %s',
    async (passState) => {
      const inner = chain([task('in/x'), task('in/y')], { async: true, passState }, 'in')
      const { engine, seen } = fixed({})
      const result = await runChain(chain([task('a'), inner]), engine)
      const passed = passState ? ['a'] : []
      expect([seen.get('1:in/1:x'), seen.get('1:in/1:y')]).toEqual([passed, passed])
      expect(result.attempts[0]?.chain_state.previous_outputs.map(({ step }) => step)).toEqual([
        'a',
        'in/x',
        'in/y',
        'in',
      ])
    },
  )

  it('repeats a nested chain on its own, and lists its attempts', async () => {
    const inner = chain([task('in/x')], { retryUntil: 'success', retryCount: 3 }, 'in')
    const { engine, started } = simulate((key) => ({
      status: key.endsWith('/1:x') ? 'failure' : 'success',
      duration: 1,
    }))
    const result = await runChain(chain([task('a'), inner]), engine)
    expect(started).toEqual(['1:a', '1:in/1:x', '1:in/2:x'])
    const state = { previous_outputs: [{ step: 'a' }, { step: 'in/x' }] }
    expect(result.attempts[0]?.steps[1]).toMatchObject({
      status: 'success',
      attempts: [{ chain_state: state }, { chain_state: state }],
    })
  })

  it('counts for its parent as the last attempt with its failure, if all attempts must pass', async () => {
    const inner = chain([task('in/x'), task('in/y')], { retryCount: 3 }, 'in')
    const { engine } = simulate((key) => ({
      status: key.endsWith('/1:x') || key.endsWith('/2:x') ? 'failure' : 'success',
      duration: 1,
    }))
    const result = await runChain(chain([inner]), engine)
    expect(result.attempts[0]?.steps[0]).toMatchObject({
      status: 'failure',
      result: 'success result',
      errors: [{ code: 'e', message: 'm' }],
    })
  })

  it('reports an excluded step in the same way, however the chain continues', async () => {
    const steps = [task('a'), task('b', { excluded: true }), task('c')]
    for (const policy of [{ continueOnSuccess: true }, { continueOnError: false }]) {
      const { engine } = fixed({ a: 'failure' })
      const result = await runChain(chain(steps, policy), engine)
      const [, left] = result.attempts[0]?.steps ?? []
      expect(left).toMatchObject({ status: 'not_run', reason: 'left out of this run' })
    }
  })

  it('leaves out excluded steps', async () => {
    const { engine, started } = fixed({})
    const result = await runChain(chain([task('a', { excluded: true }), task('b')]), engine)
    expect(started).toEqual(['1:b'])
    expect(result.attempts[0]?.steps.map((step) => step.status)).toEqual(['not_run', 'success'])
  })
})
