import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runChain } from '../../src/chain/attempt.ts'
import type { ChainResult, Engine, Outcome } from '../../src/chain/engine.ts'
import {
  allSteps,
  isChain,
  type PlannedChain,
  type PlannedStep,
  type PlannedTask,
} from '../../src/chain/plan-model.ts'
import { reachOf } from '../../src/chain/reachability.ts'
import { chainOutput } from '../../src/chain/step-result.ts'
import type { StepStatus } from '../../src/exec/output-protocol.ts'
import { chain, task } from './_plans.ts'

/** Takes one of the numbers below `count`; a run is repeated until it has taken each of them. */
type Choose = (count: number) => number

interface Observed {
  /** The steps that started in at least one run. */
  started: Set<string>
  ends: Set<string>
}

/** Runs the interpreter once for every order, result and decision; undefined where there are too many. */
async function everyRun(root: PlannedChain, most: number): Promise<Observed | undefined> {
  const observed: Observed = { started: new Set(), ends: new Set() }
  let path: { taken: number; count: number }[] = []
  for (let runs = 0; ; runs++) {
    if (runs > most) return undefined
    let depth = 0
    const choose: Choose = (count) => {
      const known = path[depth++]
      if (known) return known.taken
      path.push({ taken: 0, count })
      return 0
    }
    const result = await runChain(root, engineOf(observed.started, choose, comparesResults(root)))
    if (result.ended !== 'suspended') observed.ends.add(endOf(result))
    path = path.slice(0, depth)
    while (path.at(-1) && (path.at(-1)?.taken ?? 0) + 1 === path.at(-1)?.count) path.pop()
    const last = path.at(-1)
    if (!last) return observed
    last.taken++
  }
}

function comparesResults(root: PlannedChain): boolean {
  return [root, ...allSteps(root)]
    .filter(isChain)
    .some(({ policy: { retryUntil } }) => retryUntil === 'stable')
}

function hasGate(step: PlannedStep): boolean {
  return step.gate === true || (isChain(step) && step.steps.some(hasGate))
}

function endOf({ status, ended }: ChainResult): string {
  return `${status}${ended === 'rejected' ? ' rejected' : ''}`
}

const statuses: readonly StepStatus[] = ['success', 'failure', 'critical']
const decisions = ['approved', 'rejected', 'open'] as const

/** An engine whose results, order and approvals are taken from `choose`. */
function engineOf(started: Set<string>, choose: Choose, compares: boolean): Engine {
  const decided = new Map<string, (typeof decisions)[number]>()
  // Nobody decides about gates before they were reached, and then all of it comes again.
  let isRepeated: boolean | undefined
  const decisionOf = (key: string): (typeof decisions)[number] => {
    const decision = decided.get(key) ?? decisions[choose(3)] ?? 'open'
    decided.set(key, decision)
    return decision
  }

  function level(): Engine {
    const open = new Map<string, () => Promise<Outcome>>()

    function begin(key: string, step: PlannedStep, body: () => Promise<Outcome>) {
      const decision = step.gate ? decisionOf(key) : 'approved'
      if (decision === 'approved') started.add(step.step)
      const outcomes = {
        approved: body,
        rejected: async () => finished('failure', { rejected: true }),
        open: async (): Promise<Outcome> => ({ kind: 'suspended', why: 'approval' }),
      }
      open.set(key, outcomes[decision])
      isRepeated ??= hasGate(step) ? choose(2) === 1 : undefined
      return { key, waited: hasGate(step) && isRepeated === true }
    }

    return {
      task: ({ key, step }) =>
        begin(key, step, async () => finished(statuses[choose(3)] ?? 'success')),
      chain: ({ key, step, timeoutMs }, body) =>
        begin(key, step, async () => {
          const result = await body(level())
          if (result.ended === 'suspended') return { kind: 'suspended', why: 'approval' }
          const isRejected = result.ended === 'rejected'
          if (!isRejected && timeoutMs > 0 && choose(2) === 1) return finished('failure')
          const { status } = chainOutput(result)
          return finished(status, isRejected ? { rejected: true } : {})
        }),
      async firstOf(running) {
        const waiting = running.filter(({ key }) => decided.get(key) === 'open')
        const going = running.filter((handle) => !waiting.includes(handle))
        const list = going.length > 0 ? going : running
        const { key } = list[choose(list.length)] ?? { key: '' }
        const outcome = await open.get(key)?.()
        if (!outcome) throw new Error(`${key} does not run`)
        return { key, outcome }
      },
      isOpen: ({ key }) => decisionOf(key) === 'approved',
      // A step can be cancelled before or after its work has begun.
      cancel: async (running) => running.map(() => (choose(2) === 1 ? { startedAt: 0 } : {})),
      record: async (_key, decide) => decide(),
    }
  }

  let results = 0
  const finished = (status: StepStatus, more: { rejected?: true } = {}): Outcome => ({
    kind: 'finished',
    // Results of scripts can be equal or not.
    output: {
      status,
      result: compares && choose(2) === 1 ? `${results++}` : '',
      errors: [],
      metrics: {},
      evidence: 'exit-code',
    },
    startedAt: 0,
    durationMs: 0,
    ...more,
  })

  return level()
}

const policy = fc
  .record({
    async: fc.boolean(),
    continueOnError: fc.boolean(),
    parallelLimit: fc.integer({ min: 1, max: 3 }),
    earlyExitOn: fc.constantFrom(
      'none' as const,
      'failure' as const,
      'success' as const,
      'critical' as const,
    ),
    continueOnSuccess: fc.boolean(),
    raceMode: fc.boolean(),
    timeout: fc.constantFrom(0, 0, 5),
    retryCount: fc.constantFrom(1, 1, 1, 2),
    retryUntil: fc.constantFrom('none' as const, 'success' as const, 'stable' as const),
  })
  // Without a `retry_count`, a repetition ends after ten attempts: too many to try all of them.
  .map((one) => (one.retryCount === 1 ? { ...one, retryUntil: 'none' as const } : one))
  .map((one) => ({ ...one, raceMode: one.raceMode && one.async }))
  .map((one) => ({ ...one, continueOnSuccess: one.continueOnSuccess && !one.async }))

interface StepDraft {
  below: ChainDraft | undefined
  isJoined: boolean
  options: Pick<PlannedTask, 'allowFailure' | 'always' | 'gate' | 'retry'>
  condition: { about: number; state: string; not: boolean } | undefined
}

interface ChainDraft {
  policy: typeof policy extends fc.Arbitrary<infer Value> ? Value : never
  steps: readonly StepDraft[]
}

const chainDraft = (size: number, depth: number): fc.Arbitrary<ChainDraft> =>
  fc.record({
    policy,
    steps: fc.array(stepDraft(depth), { minLength: 1, maxLength: size }),
  })

const rarely = <Option extends object>(
  option: Option,
  weight: number,
): fc.Arbitrary<Option | object> =>
  fc.oneof({ weight, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: fc.constant(option) })

const stepDraft = (depth: number): fc.Arbitrary<StepDraft> =>
  fc.record({
    below:
      depth === 0
        ? fc.constant(undefined)
        : fc.option(chainDraft(2, depth - 1), { nil: undefined, freq: 4 }),
    isJoined: fc.boolean(),
    options: fc
      .tuple(
        rarely({ allowFailure: true } as const, 3),
        rarely({ always: true } as const, 3),
        rarely({ gate: true } as const, 6),
        rarely({ retry: 2 } as const, 6),
      )
      .map(([...options]) => Object.assign({}, ...options)),
    condition: fc.option(
      fc.record({
        about: fc.nat(4),
        state: fc.constantFrom('success', 'failure', 'skipped'),
        not: fc.boolean(),
      }),
      { nil: undefined, freq: 2 },
    ),
  })

function built({ policy: rules, steps }: ChainDraft, name = ''): PlannedChain {
  const prefix = name === '' ? '' : `${name}/`
  let group = 0
  const planned = steps.map((draft, index): PlannedStep => {
    if (!draft.isJoined) group++
    const { below, condition, options } = draft
    const earlier = index === 0 ? undefined : (condition?.about ?? 0) % index
    const when =
      condition && earlier !== undefined
        ? { when: `${condition.not ? '!' : ''}s${earlier}.${condition.state}` }
        : {}
    const more = { ...options, ...when, ...(rules.async ? {} : { group }) }
    const label = `${prefix}s${index}`
    return below ? { ...built(below, label), ...more } : { ...task(label), ...more }
  })
  return chain(planned, rules, name)
}

function startedIn(root: PlannedChain): string[] {
  const { started } = reachOf(root)
  return [...started].flatMap((step) => [step.step, ...(isChain(step) ? startedIn(step) : [])])
}

const analysed = (root: PlannedChain): Observed => ({
  started: new Set(startedIn(root)),
  ends: new Set(
    reachOf(root).ends.map(({ status, isRejected }) => `${status}${isRejected ? ' rejected' : ''}`),
  ),
})

describe('the analysis of what can start', () => {
  it('finds exactly the steps and ends that the interpreter reaches over all outcomes', async () => {
    let compared = 0
    let unreachable = 0
    await fc.assert(
      fc.asyncProperty(chainDraft(4, 1), async (draft) => {
        const root = built(draft)
        const observed = await everyRun(root, 500)
        if (!observed) return
        compared++
        const found = analysed(root)
        unreachable += allSteps(root).length - found.started.size
        expect([...found.started].toSorted()).toEqual([...observed.started].toSorted())
        expect([...found.ends].toSorted()).toEqual([...observed.ends].toSorted())
      }),
      { numRuns: 300 },
    )
    expect(compared).toBeGreaterThan(100)
    expect(unreachable).toBeGreaterThan(50)
  }, 120_000)

  it('counts a step that runs always and still waits when another gate is rejected', async () => {
    const plain = {
      async: false,
      continueOnError: false,
      parallelLimit: 1,
      earlyExitOn: 'none',
      continueOnSuccess: false,
      raceMode: false,
      timeout: 0,
      retryCount: 1,
      retryUntil: 'none',
    } as const
    const draft = (options: StepDraft['options'], below?: ChainDraft): StepDraft => {
      return { below, isJoined: false, options, condition: undefined }
    }
    const gated = (options: StepDraft['options']): ChainDraft => {
      return { policy: plain, steps: [draft({ gate: true, ...options })] }
    }
    const race = built({
      policy: { ...plain, async: true, raceMode: true },
      steps: [
        draft({ always: true }, gated({ allowFailure: true })),
        draft({ allowFailure: true, always: true }, gated({})),
      ],
    })
    const observed = await everyRun(race, 500)
    expect([...(observed?.ends ?? [])]).toContain('success rejected')
    expect(analysed(race).ends).toEqual(observed?.ends)
  })
})
