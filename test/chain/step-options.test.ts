import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runChain } from '../../src/chain/attempt.ts'
import type { Engine, Outcome, RunResult, StepResult } from '../../src/chain/engine.ts'
import type { PlannedStep } from '../../src/chain/plan-model.ts'
import type { StepStatus } from '../../src/exec/output-protocol.ts'
import type { StepOptions } from '../../src/skill/model.ts'
import { chain, task } from './_plans.ts'
import { status } from './_policies.ts'
import { simulate } from './_simulated-engine.ts'

/** Runs steps of which each has a list of statuses, one for each of its attempts. */
async function run(
  steps: readonly PlannedStep[],
  outcomes: Record<string, readonly StepStatus[]> = {},
  policy: Parameters<typeof chain>[1] = {},
) {
  const counts = new Map<string, number>()
  const { engine, started, seen } = simulate((key) => {
    const name = key.slice(key.lastIndexOf(':') + 1)
    const count = counts.get(name) ?? 0
    counts.set(name, count + 1)
    return { status: outcomes[name]?.[count] ?? outcomes[name]?.at(-1) ?? 'success', duration: 1 }
  })
  const result = await runChain(chain(steps, policy), engine)
  const last = result.attempts.at(-1)?.steps ?? []
  const statuses = Object.fromEntries(last.map((step) => [step.step, step.status]))
  return { result, last, statuses, started, seen }
}

const names = ['a', 'b', 'c', 'd', 'e']

describe('retry', () => {
  it('repeats one step until it succeeds, and keeps the result of each attempt', async () => {
    const { statuses, started, last } = await run([task('a', { retry: 3 }), task('b')], {
      a: ['failure', 'failure', 'success'],
    })
    expect(statuses).toEqual({ a: 'success', b: 'success' })
    expect(started).toEqual(['1:a', '1.2:a', '1.3:a', '1:b'])
    expect(last[0]?.tries?.map((one) => one.status)).toEqual(['failure', 'failure'])
  })

  it('gives up after its last attempt', async () => {
    const { result, started } = await run([task('a', { retry: 2 })], { a: ['failure'] })
    expect([result.status, started]).toEqual(['failure', ['1:a', '1.2:a']])
  })

  it('waits longer before each attempt', async () => {
    const waits: unknown[] = []
    const { engine } = simulate(() => ({ status: 'failure', duration: 1 }))
    const counting: Engine = {
      ...engine,
      task(call) {
        waits.push(call.wait?.ms)
        return engine.task(call)
      },
    }
    await runChain(chain([task('a', { retry: 4, backoff: 2 })]), counting)
    expect(waits).toEqual([undefined, 2000, 4000, 8000])
  })

  it('repeats a nested chain, whose steps begin again', async () => {
    const inner = { ...chain([task('in/x')], {}, 'in'), retry: 2 }
    const { started, result } = await run([inner], { x: ['failure', 'success'] })
    expect(started).toEqual(['1:in/1:x', '1.2:in/1:x'])
    expect(result.status).toBe('success')
  })
})

/** The one-file form, and the nested chains that it stands for. */
interface Pair {
  flat: PlannedStep[]
  nested: PlannedStep[]
  outcomes: Record<string, StepStatus[]>
}

const pairs: fc.Arbitrary<Pair> = fc
  .array(
    fc.array(
      fc.record({
        retry: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
        timeout: fc.option(fc.integer({ min: 1, max: 9 }), { nil: undefined }),
        outcomes: fc.array(status, { minLength: 1, maxLength: 3 }),
      }),
      { minLength: 1, maxLength: 3 },
    ),
    { maxLength: 4 },
  )
  .map((units) => {
    const pair: Pair = { flat: [], nested: [], outcomes: {} }
    let number = 0
    for (const [index, unit] of units.entries()) {
      const members = unit.map(({ retry, timeout, outcomes }) => {
        const name = `s${++number}`
        pair.outcomes[name] = [...outcomes]
        const options: StepOptions = {
          ...(retry === undefined ? {} : { retry }),
          ...(timeout === undefined ? {} : { timeout }),
        }
        const group = unit.length > 1 ? { group: index + 1 } : {}
        pair.flat.push(task(name, { ...options, ...group }))
        const policy = {
          timeout: timeout ?? 0,
          ...(retry === undefined ? {} : { retryCount: retry, retryUntil: 'success' as const }),
        }
        // `retry_until` with a count of 1 gives up after 10 attempts, so one attempt has no limit.
        if (retry === 1) Object.assign(policy, { retryUntil: 'none' })
        return chain([task(`${name}-chain/${name}`)], policy, `${name}-chain`)
      })
      const [only] = members
      if (members.length === 1 && only !== undefined) pair.nested.push(only)
      else pair.nested.push(chain(members, { async: true }, `g${index}`))
    }
    return pair
  })

function leaves(steps: readonly StepResult[]): [string, string][] {
  return steps.flatMap((step) =>
    step.steps === undefined
      ? [[step.step.slice(step.step.lastIndexOf('/') + 1), step.status]]
      : leaves(step.steps),
  )
}

it('names, groups, retry and timeout mean the same as equivalent nested chains', async () => {
  await fc.assert(
    fc.asyncProperty(pairs, async ({ flat, nested, outcomes }) => {
      const [one, other] = [await run(flat, outcomes), await run(nested, outcomes)]
      expect(leaves(one.last)).toEqual(leaves(other.last))
      expect(one.result.status).toBe(other.result.status)
      const executions = (started: readonly string[]) =>
        started.map((key) => key.slice(key.lastIndexOf(':') + 1)).toSorted()
      expect(executions(one.started)).toEqual(executions(other.started))
    }),
    { numRuns: 1000 },
  )
})

it('gives each attempt its own time, or else that of the chain', async () => {
  const limits: [string, number][] = []
  const { engine } = simulate(() => ({ status: 'failure', duration: 1 }))
  const watching: Engine = {
    ...engine,
    task(call) {
      limits.push([call.key, call.timeoutMs])
      return engine.task(call)
    },
  }
  const steps = [task('a', { timeout: 1.5, retry: 2 }), task('b')]
  await runChain(chain(steps, { timeout: 7 }), watching)
  expect(limits).toEqual([
    ['1:a', 1500],
    ['1.2:a', 1500],
    ['1:b', 7000],
  ])
})

describe('a group', () => {
  const group = [task('b', { group: 2 }), task('c', { group: 2 })]

  it('runs in parallel, gets the earlier results, and passes on its own', async () => {
    const { started, seen } = await run([task('a'), ...group, task('d')])
    expect(started).toEqual(['1:a', '1:b', '1:c', '1:d'])
    expect([seen.get('1:b'), seen.get('1:c')]).toEqual([['a'], ['a']])
    expect(seen.get('1:d')).toEqual(['a', 'b', 'c'])
  })

  it('ends if one of its steps stops the chain', async () => {
    const policy = { continueOnError: false }
    const { statuses, result } = await run([...group, task('d')], { b: ['failure'] }, policy)
    expect(statuses).toEqual({ b: 'failure', c: 'cancelled', d: 'not_run' })
    expect(result.status).toBe('failure')
  })

  it('starts when all of its gates are open', async () => {
    const asked: string[] = []
    const open = new Set<string>()
    const finished: Outcome = {
      kind: 'finished',
      output: { status: 'success', result: '', errors: [], metrics: {}, evidence: 'exit-code' },
      startedAt: 0,
      durationMs: 1,
    }
    const engine: Engine = {
      task({ key }) {
        asked.push(key)
        return { key }
      },
      chain: ({ key }) => ({ key }),
      isOpen: ({ key }) => open.has(key),
      async firstOf([first]) {
        const key = first?.key ?? ''
        const isOpen = !/:(?:b|c)$/.test(key) || open.has(key)
        return { key, outcome: isOpen ? finished : { kind: 'suspended', why: 'approval' } }
      },
      cancel: async (running) => running.map(() => ({})),
      record: async (_key, decide) => decide(),
    }
    const steps = [
      task('a', { group: 1 }),
      task('b', { group: 1, gate: true }),
      task('c', { group: 1, gate: true }),
      task('d'),
    ]
    const outcome = async () => {
      asked.length = 0
      const { status: found, attempts } = await runChain(chain(steps), engine)
      return [found, asked.toSorted(), attempts[0]?.steps.map((step) => step.status)]
    }
    const waiting = ['not_run', 'waiting', 'waiting', 'not_run']
    expect(await outcome()).toEqual(['waiting', ['1:b', '1:c'], waiting])
    open.add('1:b')
    expect(await outcome()).toEqual([
      'waiting',
      ['1:c'],
      ['not_run', 'not_run', 'waiting', 'not_run'],
    ])
    open.add('1:c')
    const all = ['1:a', '1:b', '1:c', '1:d']
    expect(await outcome()).toEqual(['success', all, ['success', 'success', 'success', 'success']])
  })
})

/** What the options say, written down a second time: no retry, no groups, no gates. */
function model(
  steps: readonly (StepOptions & { name: string })[],
  outcomes: Readonly<Record<string, StepStatus>>,
  stops: boolean,
) {
  const found: Record<string, string> = {}
  const counting: string[] = []
  let stopped = false
  for (const { name, when, allowFailure, always } of steps) {
    if (stopped && always !== true) {
      found[name] = 'not_run'
      continue
    }
    const [, not = '', about = '', state = ''] = /^(!?)(.+)\.(\w+)$/.exec(when ?? '') ?? []
    const groups: Record<string, string> = { critical: 'failure', not_run: 'skipped' }
    const is = groups[found[about] ?? ''] ?? found[about]
    if (when !== undefined && (is === state) === (not === '!')) {
      found[name] = 'skipped'
      continue
    }
    const outcome = outcomes[name] ?? 'success'
    found[name] = outcome
    if (allowFailure !== true) counting.push(outcome)
    if (stops && outcome !== 'success' && allowFailure !== true) stopped = true
  }
  const worst = ['critical', 'failure'].find((one) => counting.includes(one)) ?? 'success'
  return { found, status: worst }
}

it('when, allow-failure and always do what an independent model predicts', async () => {
  const step = fc.record(
    {
      about: fc.nat(4),
      state: fc.constantFrom('success', 'failure', 'skipped'),
      not: fc.boolean(),
      isConditional: fc.boolean(),
      allowFailure: fc.constant(true as const),
      always: fc.constant(true as const),
    },
    { requiredKeys: ['about', 'state', 'not', 'isConditional'] },
  )
  const outcomes = fc.array(status, { minLength: 5, maxLength: 5 })
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 5 }),
      outcomes,
      fc.boolean(),
      async (chosen, statuses, stops) => {
        const steps = chosen.map(({ about, state, not, isConditional, ...options }, index) => {
          const earlier = names[about % Math.max(1, index)]
          const when = `${not ? '!' : ''}${earlier}.${state}`
          const name = names[index] ?? ''
          return { name, ...options, ...(isConditional && index > 0 ? { when } : {}) }
        })
        const table = Object.fromEntries(
          names.map((name, index) => [name, statuses[index] ?? 'success']),
        )
        const expected = model(steps, table, stops)
        const planned = steps.map(({ name, ...options }) => task(name, options))
        const lists = Object.fromEntries(names.map((name) => [name, [table[name] ?? 'success']]))
        const real = await run(planned, lists, { continueOnError: !stops })
        expect(real.statuses).toEqual(expected.found)
        expect(real.result.status).toBe(expected.status)
      },
    ),
    { numRuns: 2000 },
  )
})

describe('always', () => {
  const cleanup = task('z', { always: true })

  it('runs after an early success, and its failure counts', async () => {
    const policy = { earlyExitOn: 'success' as const }
    const { statuses, result } = await run(
      [task('a'), task('b'), cleanup],
      { z: ['failure'] },
      policy,
    )
    expect(statuses).toEqual({ a: 'success', b: 'not_run', z: 'failure' })
    expect(result.status).toBe('failure')
  })

  it('runs after a rejected gate, and not after a cancellation', async () => {
    const outcomes: Record<string, Outcome> = {}
    const output = {
      status: 'failure',
      result: '',
      errors: [],
      metrics: {},
      evidence: 'exit-code',
    } as const
    const engine: Engine = {
      task: ({ key }) => ({ key }),
      chain: ({ key }) => ({ key }),
      isOpen: () => true,
      async firstOf([first]) {
        const key = first?.key ?? ''
        const done = {
          kind: 'finished',
          output: { ...output, status: 'success' },
          startedAt: 0,
          durationMs: 1,
        } as const
        return { key, outcome: outcomes[key] ?? done }
      },
      cancel: async (running) => running.map(() => ({})),
      record: async (_key, decide) => decide(),
    }
    const statuses = async (): Promise<unknown> => {
      const result: Pick<RunResult, 'attempts'> = await runChain(
        chain([task('a'), task('b'), cleanup]),
        engine,
      )
      return result.attempts[0]?.steps.map((step) => step.status)
    }
    outcomes['1:a'] = { kind: 'finished', output, startedAt: 0, durationMs: 1, rejected: true }
    expect(await statuses()).toEqual(['failure', 'not_run', 'success'])
    outcomes['1:a'] = { kind: 'cancelled' }
    expect(await statuses()).toEqual(['not_run', 'not_run', 'not_run'])
  })
})
