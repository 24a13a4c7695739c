import { afterEach, describe, expect, it, vi } from 'vitest'
import { overdue, runChain, timeLimit, whileRunning } from '../../src/chain/attempt.ts'
import type { Engine, Outcome, RunResult, StepResult } from '../../src/chain/engine.ts'
import type { RunJournal } from '../../src/chain/run-journal.ts'
import type { ChainPolicy } from '../../src/skill/model.ts'
import type { StepStatus } from '../../src/exec/output-protocol.ts'
import { chain, task } from './_plans.ts'

const finished = (status: StepStatus, more: object = {}): Outcome => ({
  kind: 'finished',
  output: { status, result: status, errors: [], metrics: {}, evidence: 'exit-code' },
  startedAt: 0,
  durationMs: 1,
  ...more,
})
const waits: Outcome = { kind: 'suspended', why: 'approval' }
const interrupted: Outcome = { kind: 'suspended', why: 'interrupted' }

/** Runs steps whose outcomes are given; they end in the order of the table. */
async function run(
  outcomes: Record<string, Outcome>,
  policy: Partial<ChainPolicy> = {},
  waited: readonly string[] = [],
) {
  const nameOf = (key: string): string => key.slice(key.lastIndexOf(':') + 1)
  const order = Object.keys(outcomes)
  const ended: string[] = []
  const engine: Engine = {
    task: ({ key }) => ({ key, waited: waited.includes(nameOf(key)) }),
    chain: ({ key }) => ({ key }),
    async firstOf(running) {
      const [first] = running.toSorted(
        (a, b) => order.indexOf(nameOf(a.key)) - order.indexOf(nameOf(b.key)),
      )
      const key = first?.key ?? ''
      ended.push(nameOf(key))
      return { key, outcome: outcomes[nameOf(key)] ?? finished('success') }
    },
    isOpen: () => true,
    cancel: async (running) => running.map(() => ({ startedAt: 0, durationMs: 7 })),
    record: async (_key, decide) => decide(),
  }
  const names = [...order].toSorted()
  const result = await runChain(
    chain(
      names.map((name) => task(name)),
      policy,
    ),
    engine,
  )
  const steps = result.attempts.at(-1)?.steps ?? []
  const said = steps.map(({ step, status, reason }) => [step, status, reason])
  return { result, ended, said, status: result.status, attempt: result.attempts.at(-1)?.status }
}

describe('the reason of a step that did not run to its end', () => {
  it.each<[string, Record<string, Outcome>, Partial<ChainPolicy>, unknown]>([
    [
      'after a failure that stops the chain',
      { a: finished('failure'), b: finished('success') },
      { continueOnError: false },
      ['b', 'not_run', 'the chain had stopped after a (failure)'],
    ],
    [
      'after a success that ends the chain',
      { a: finished('success'), b: finished('success') },
      { earlyExitOn: 'success' },
      ['b', 'not_run', 'the chain had succeeded with a'],
    ],
    [
      'after a step that did not succeed',
      { a: finished('critical'), b: finished('success') },
      { continueOnSuccess: true },
      ['b', 'skipped', 'a did not succeed (critical)'],
    ],
    [
      'after a rejection',
      { a: finished('failure', { rejected: true }), b: finished('success') },
      {},
      ['b', 'not_run', 'a was rejected'],
    ],
    [
      'after the end of the chain above',
      { a: { kind: 'cancelled' }, b: finished('success') },
      {},
      ['b', 'not_run', 'the chain was ended'],
    ],
    [
      'behind one that waits',
      { a: waits, b: finished('success') },
      {},
      ['b', 'not_run', 'not reached yet'],
    ],
    [
      'while the winner of a race ended',
      { a: finished('success'), b: finished('success') },
      { async: true, raceMode: true },
      ['b', 'cancelled', 'a had won the race'],
    ],
    [
      'before the winner of a race ended',
      { a: finished('success'), b: finished('success') },
      { async: true, raceMode: true, parallelLimit: 1 },
      ['b', 'not_run', 'a had won the race'],
    ],
    [
      'while a failure of its group stopped the chain',
      { a: finished('failure'), b: finished('success') },
      { async: true, continueOnError: false },
      ['b', 'cancelled', 'the chain had stopped after a (failure)'],
    ],
    [
      'while the chain above ended its group',
      { a: { kind: 'cancelled' }, b: finished('success') },
      { async: true },
      ['b', 'cancelled', 'the chain was ended'],
    ],
  ])('%s', async (_name, outcomes, policy, expected) => {
    const { said } = await run(outcomes, policy)
    expect(said.at(-1)).toEqual(expected)
  })
})

describe('the status of a chain', () => {
  it.each<[string, Record<string, Outcome>, Partial<ChainPolicy>, string, string | undefined]>([
    ['waits with a step', { a: waits, b: finished('success') }, {}, 'waiting', 'suspended'],
    ['is interrupted with one', { a: interrupted, b: waits }, {}, 'interrupted', 'suspended'],
    ['is cancelled with one', { a: { kind: 'cancelled' } }, {}, 'cancelled', 'cancelled'],
    [
      'fails by a rejection',
      { a: finished('failure', { rejected: true }) },
      {},
      'failure',
      'rejected',
    ],
    [
      'waits while the rest of a group has ended',
      { b: finished('success'), a: waits },
      { async: true },
      'waiting',
      'suspended',
    ],
  ])('%s', async (_name, outcomes, policy, status, ended) => {
    const { result, attempt } = await run(outcomes, policy)
    expect([result.status, attempt, result.ended]).toEqual([status, status, ended])
  })

  it('cancels waiting steps once the group stops', async () => {
    const outcomes = { a: waits, b: finished('failure'), c: finished('success') }
    const { said } = await run(outcomes, { async: true, continueOnError: false })
    expect(said).toEqual([
      ['a', 'cancelled', 'the chain had stopped after b (failure)'],
      ['b', 'failure', undefined],
      ['c', 'cancelled', 'the chain had stopped after b (failure)'],
    ])
  })

  it('starts another step of a group in the place of a waiting one', async () => {
    const outcomes = { b: finished('success'), a: waits }
    const { ended } = await run(outcomes, { async: true, parallelLimit: 1 }, ['a'])
    expect(ended).toEqual(['b', 'a'])
  })

  it('is an error if the attempts never became stable', async () => {
    const policy = { retryUntil: 'stable', retryCount: 3 } as const
    let count = 0
    const changing = {
      get a() {
        return finished(count++ % 2 === 0 ? 'success' : 'failure')
      },
    }
    const { result } = await run(changing, policy)
    const [error, ...others] = result.attempts.flatMap(({ errors = [] }) => errors)
    expect([result.status, result.attempts.length, others]).toEqual(['failure', 3, []])
    expect(error).toMatchObject({
      code: 'not-stable',
      message: expect.stringContaining('no two of 3 attempts in a row'),
    })
    const stable = await run({ a: finished('success') }, policy)
    expect(stable.result.attempts.map((attempt) => 'errors' in attempt)).toEqual([false, false])
  })
})

describe('a time limit', () => {
  afterEach(() => {
    vi.useRealTimers()
  })

  function limitOf(timeoutMs: number, more: { defaultMs?: number; spent?: number } = {}) {
    vi.useFakeTimers({ now: 10_000 })
    const controller = new AbortController()
    const limit = timeLimit({ timeoutMs }, () => controller.abort(), more)
    const over = (): readonly boolean[] => [limit.over(), controller.signal.aborted]
    return { limit, over }
  }

  it('ends a step that takes longer, and not earlier', () => {
    const { limit, over } = limitOf(2000)
    expect(limit.seconds).toBe(2)
    vi.advanceTimersByTime(1999)
    expect(over()).toEqual([false, false])
    vi.advanceTimersByTime(1)
    expect(over()).toEqual([true, true])
  })

  it('ends nothing after it is cleared, or if there is no limit', () => {
    const { limit, over } = limitOf(2000)
    limit.clear()
    vi.advanceTimersByTime(5000)
    expect(over()).toEqual([false, false])
    const none = limitOf(0)
    vi.advanceTimersByTime(4_000_000_000)
    expect([none.limit.seconds, ...none.over()]).toEqual([0, false, false])
  })

  it('has a default and the maximum of a timer', () => {
    expect(limitOf(0, { defaultMs: 3000 }).limit.seconds).toBe(3)
    expect(limitOf(1000, { defaultMs: 3000 }).limit.seconds).toBe(1)
    expect(limitOf(3_000_000_000).limit.seconds).toBe(2_147_483.647)
  })

  it('includes the time that has already passed', () => {
    expect(limitOf(4000, { spent: 4000 }).over()).toEqual([true, true])
    const { over } = limitOf(4000, { spent: 3000 })
    vi.advanceTimersByTime(999)
    expect(over()).toEqual([false, false])
    vi.advanceTimersByTime(1)
    expect(over()).toEqual([true, true])
  })

  it('reports its length, and whether the check was running', () => {
    expect(overdue({ seconds: 3 })).toMatchObject({
      status: 'failure',
      errors: [{ code: 'timeout', message: 'it took longer than 3 s and was stopped' }],
    })
    expect(overdue({ seconds: 3 }, true).errors[0]?.message).toBe(
      'it took longer than 3 s and was stopped while its check ran',
    )
  })
})

/** The parts of a value that a test is about. */
// oxlint-disable-next-line no-unnecessary-type-parameters
function part<T>(value: object): T {
  // oxlint-disable-next-line no-unsafe-type-assertion
  return value as T
}

type ShownStep = ReturnType<typeof whileRunning>['attempts'][number]['steps'][number]

it('shows the step that a process executes now as running', () => {
  const at = '2026-01-01T00:00:00.000Z'
  const step = (name: string, more: Partial<StepResult>): StepResult => ({
    step: name,
    skill: name,
    status: 'cancelled',
    result: '',
    errors: [],
    metrics: {},
    evidence: null,
    startedAt: null,
    durationMs: 0,
    reason: 'was cut',
    ...more,
  })
  const steps = [
    step('done', { status: 'success', startedAt: at }),
    step('ended', { startedAt: at }),
    step('runs', { startedAt: at }),
    step('later', {}),
    step('group', { steps: [step('inner', { startedAt: at }), step('idle', {})] }),
  ]
  const attempt = {
    attempt: 1,
    status: 'cancelled' as const,
    steps,
    chain_state: { previous_outputs: [], accumulated_errors: [] },
  }
  const result = part<RunResult>({
    runId: 'r',
    skill: 's',
    status: 'cancelled',
    attempts: [attempt, { ...attempt, attempt: 2 }],
  })
  const journal = part<RunJournal>({ done: new Map([['2:ended', {}]]) })
  const shown = whileRunning(journal, result, Date.parse(at) + 1500)
  const outline = (one: ShownStep): unknown => [
    one.step,
    one.status,
    one.durationMs,
    one.reason,
    ...(one.steps ?? []).map(outline),
  ]
  expect(shown.status).toBe('running')
  expect(shown.attempts.map(({ status }) => status)).toEqual(['cancelled', 'running'])
  expect(shown.attempts[0]?.steps).toEqual(steps)
  expect(shown.attempts[1]?.steps.map(outline)).toEqual([
    ['done', 'success', 0, 'was cut'],
    ['ended', 'cancelled', 0, 'was cut'],
    ['runs', 'running', 1500, undefined],
    ['later', 'not_run', 0, 'has not started'],
    [
      'group',
      'running',
      0,
      undefined,
      ['inner', 'running', 1500, undefined],
      ['idle', 'not_run', 0, 'has not started'],
    ],
  ])
})
