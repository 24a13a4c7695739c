import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { systemRuntime } from '../../src/core/runtime.ts'
import { runChain } from '../../src/chain/attempt.ts'
import type {
  AttemptResult,
  ChainResult,
  Engine,
  Outcome,
  StepAnswer,
  TaskCall,
} from '../../src/chain/engine.ts'
import { createJournalEngine } from '../../src/chain/journal-engine.ts'
import type { Plan } from '../../src/chain/plan-model.ts'
import { remembering } from '../../src/chain/restate/engine.ts'
import { emptyPass, type Pass } from '../../src/chain/restate/protocol.ts'
import { voidKeys } from '../../src/chain/rework.ts'
import {
  type ChainRecord,
  type GateFacts,
  gateOf,
  isAbout,
  isChainRecord,
  journalVersion,
  passGate,
  type RunJournal,
  runJournalOf,
} from '../../src/chain/run-journal.ts'
import { chainOutput, executionsOf, walkResult } from '../../src/chain/step-result.ts'
import { StepRunner } from '../../src/chain/step-runner.ts'
import type { StepOutput } from '../../src/exec/output-protocol.ts'
import { loadConfiguration } from '../../src/core/configuration.ts'
import { drafts, type Drafts, modelStory, planOf, type Story } from './_rework-model.ts'
import { chain, task } from './_plans.ts'

const runtime = systemRuntime({ home: '/nowhere', cwd: '/', env: {} })

/** Decides and fails by a number that a key has. */
interface Choices {
  isRejected(key: string): string | undefined
  fails(key: string): boolean
}

const choices: fc.Arbitrary<Choices> = fc
  .record({ seed: fc.nat(), rejects: fc.constantFrom(0, 3, 5, 8), fails: fc.nat(3) })
  .map(({ seed, rejects, fails }) => ({
    isRejected: (key) => (hash(`${seed} ${key}`) % 10 < rejects ? `why ${key}` : undefined),
    fails: (key) => hash(`fails ${seed} ${key}`) % 10 < fails,
  }))

function hash(text: string): number {
  let sum = 7
  for (let at = 0; at < text.length; at++) sum = (sum * 31 + text.charCodeAt(at)) % 1_000_003
  return sum
}

const outputFor = (fails: boolean): StepOutput => ({
  status: fails ? 'failure' : 'success',
  result: '',
  errors: [],
  metrics: {},
  evidence: 'exit-code',
})

/** What an engine was seen to do. */
class Witness {
  readonly story: Pick<Story, 'asked' | 'executed'> = { asked: [], executed: [] }
  readonly #choices: Choices
  readonly #grouped: ReadonlySet<string>

  constructor(chosen: Choices, grouped: ReadonlySet<string>) {
    this.#choices = chosen
    this.#grouped = grouped
  }

  execute({ key, state, step }: TaskCall): StepOutput {
    // After a crash a step without a recorded result is executed again.
    if (!this.story.executed.some(([one]) => one === key)) {
      this.story.executed.push([key, state.feedback])
    }
    return outputFor(this.#choices.fails(key) && !this.#grouped.has(step.step))
  }

  decide(gate: GateFacts): ChainRecord & { type: 'approval' } {
    if (!this.story.asked.includes(gate.key)) this.story.asked.push(gate.key)
    const reason = this.#choices.isRejected(gate.key)
    const approved = reason === undefined
    return { type: 'approval', ...gate, approved, by: 'person', reason, at: isoNow() }
  }
}

const isoNow = (): string => new Date(runtime.now()).toISOString()

class ScriptedRunner extends StepRunner {
  readonly #witness: Witness

  constructor(witness: Witness) {
    super({
      runId: 'r',
      workspace: '/',
      files: { scratch: '', steps: '', logs: '' },
      sharesFiles: true,
      arguments: [],
      requireVerified: false,
      runtime,
      settings: loadConfiguration(runtime).settings.run,
      executors: [],
      confinement: undefined,
      refusalOf: undefined,
    })
    this.#witness = witness
  }

  override async run(call: TaskCall): Promise<StepAnswer> {
    return { kind: 'output', output: this.#witness.execute(call) }
  }
}

function headerFor(plan: Plan): ChainRecord {
  return {
    type: 'run',
    version: journalVersion,
    runId: 'r',
    skill: plan.skill,
    at: isoNow(),
    mode: 'run',
    arguments: [],
    argumentsDigest: '',
    requireVerified: false,
    request: { directory: '', set: [] },
    plan,
  }
}

class Crash extends Error {}

/** Runs on the journal engine; each process dies after it wrote a few records, if `dies` is set. */
async function onJournal(
  plan: Plan,
  witness: Witness,
  dies?: number,
): Promise<{ result: ChainResult; journal: RunJournal }> {
  const records: ChainRecord[] = [headerFor(plan)]
  for (let processes = 0; processes < 2000; processes++) {
    const journal = runJournalOf('', 'r', records)
    let left = dies === undefined ? Number.POSITIVE_INFINITY : dies + (processes % 8)
    const append = (...more: readonly ChainRecord[]): void => {
      for (const record of more) {
        if (left-- <= 0) throw new Crash()
        records.push(record)
      }
    }
    const writer = {
      append,
      defer(record: ChainRecord, ended: { written(): void; failed(error: unknown): void }) {
        try {
          append(record)
          ended.written()
        } catch (error) {
          ended.failed(error)
        }
      },
    }
    const runner = new ScriptedRunner(witness)
    const engine = createJournalEngine({ journal, writer, runner, clock: runtime })
    try {
      const result = await runChain(plan.root, engine)
      if (result.ended !== 'suspended') {
        const foreign = records.find((one) => !isChainRecord(JSON.parse(JSON.stringify(one))))
        if (foreign) throw new Error(`no record: ${JSON.stringify(foreign)}`)
        return { result, journal: runJournalOf('', 'r', records) }
      }
      const waiting = walkResult({ runId: '', skill: '', ...result }).find(
        ({ key, leaf, step }) => leaf && step.status === 'waiting' && journal.gates.has(key),
      )
      const gate = journal.gates.get(waiting?.key ?? '')
      if (!gate) throw new Error('nothing waits')
      const { key, planDigest, stateDigest } = gate
      records.push(witness.decide({ key, planDigest, stateDigest }))
    } catch (error) {
      if (!(error instanceof Crash)) throw error
    } finally {
      await engine.idle()
    }
  }
  throw new Error('the run does not end')
}

/** Runs as a server does: again from what was answered before, whenever somebody has decided. */
async function onPass(plan: Plan, witness: Witness): Promise<ChainResult> {
  const approvals: (ChainRecord & { type: 'approval' })[] = []
  let pass: Pass = emptyPass()
  for (let parts = 0; parts < 2000; parts++) {
    const open: GateFacts[] = []
    const result = await runChain(plan.root, level(open))
    pass = JSON.parse(JSON.stringify(pass))
    if (result.ended !== 'suspended') return result
    const [gate] = open
    if (!gate) throw new Error('nothing waits')
    approvals.push(witness.decide(gate))
  }
  throw new Error('the run does not end')

  function level(open: GateFacts[]): Engine {
    const outcomes = new Map<string, () => Promise<Outcome>>()
    const decisionOf = (gate: GateFacts) => approvals.findLast((one) => isAbout(gate, one))
    const announce = (call: Parameters<Engine['isOpen']>[0], body: () => Promise<Outcome>) => {
      const gate = gateOf(call, plan.digest)
      const closed = call.step.gate ? passGate(gate, call.step, decisionOf(gate), 0) : undefined
      if (closed?.kind === 'suspended') open.push(gate)
      outcomes.set(call.key, async () => closed ?? (await body()))
      return { key: call.key }
    }
    const finished = (output: StepOutput, more: object = {}): Outcome => {
      return { kind: 'finished', output, startedAt: 0, durationMs: 0, ...more }
    }
    const engine: Engine = {
      task: (call) => announce(call, async () => finished(witness.execute(call))),
      chain: (call, body) =>
        announce(call, async () => {
          const inner = await body(level(open))
          if (inner.ended === 'suspended')
            return { kind: 'suspended', why: 'approval', chain: inner }
          const rejected = inner.ended === 'rejected' ? { rejected: true } : {}
          return finished(chainOutput(inner), { chain: inner, ...rejected })
        }),
      async firstOf(running) {
        const answers: { key: string; outcome: Outcome }[] = []
        for (const { key } of running) {
          const outcome = await outcomes.get(key)?.()
          if (outcome && outcome.kind !== 'suspended') return { key, outcome }
          if (outcome) answers.push({ key, outcome })
        }
        const [first] = answers
        if (!first) throw new Error('nothing runs')
        return first
      },
      isOpen: (call) => {
        const gate = gateOf(call, plan.digest)
        return passGate(gate, call.step, decisionOf(gate), 0) === undefined
      },
      async cancel(running) {
        const isEnded = ({ key }: GateFacts) =>
          running.some((one) => `${key}/`.startsWith(`${one.key}/`))
        open.splice(0, open.length, ...open.filter((gate) => !isEnded(gate)))
        return running.map(() => ({}))
      },
      record: async (_key, decide) => decide(),
    }
    return remembering(engine, pass)
  }
}

/** The rejections that led back, those of nested chains where they happened. */
function ledBack({ steps, reworks = [] }: AttemptResult): string[] {
  const own = [
    ...reworks.map((one) => ({ voided: one.steps, one })),
    { voided: steps, one: undefined },
  ]
  return own.flatMap(({ voided, one }) => [
    ...voided.flatMap(({ attempts = [] }) => attempts.flatMap(ledBack)),
    ...(one ? [`${one.step} → ${one.to}`] : []),
  ])
}

function storyOf(result: ChainResult, { story }: Witness): Story {
  return {
    ...story,
    led: result.attempts.flatMap(ledBack).toSorted(),
    rejectedEnd: result.ended === 'rejected',
    failed: result.status !== 'success',
  }
}

function planFor(drafted: Drafts): { plan: Plan; grouped: ReadonlySet<string> } {
  const root = planOf(drafted)
  const grouped = root.steps.filter(({ group }) => group !== undefined).map(({ step }) => step)
  const alone = new Set(drafted.continueOnError ? [] : grouped)
  return { plan: { skill: 'main', digest: 'sha256:plan', root }, grouped: alone }
}

describe('a chain whose rejections lead back', () => {
  it('does what an independent model predicts, on the journal and from the pass of a server', async () => {
    let led = 0
    await fc.assert(
      fc.asyncProperty(drafts, choices, async (drafted, chosen) => {
        const expected = modelStory(drafted, chosen.isRejected, chosen.fails)
        led += expected.led.length
        const { plan, grouped } = planFor(drafted)
        const here = new Witness(chosen, grouped)
        const { result } = await onJournal(plan, here)
        expect(storyOf(result, here)).toEqual(expected)
        const keys = executionsOf({ runId: '', skill: '', ...result }).map(({ key }) => key)
        expect(keys).toEqual(expect.arrayContaining(expected.executed.map(([key]) => key)))
        const there = new Witness(chosen, grouped)
        expect(storyOf(await onPass(plan, there), there)).toEqual(expected)
      }),
      { numRuns: 1500 },
    )
    expect(led).toBeGreaterThan(100)
  })

  it('ends as without a crash if its process dies after any record', async () => {
    await fc.assert(
      fc.asyncProperty(
        drafts,
        choices,
        fc.integer({ min: 1, max: 5 }),
        async (drafted, chosen, dies) => {
          const { plan, grouped } = planFor(drafted)
          const expected = modelStory(drafted, chosen.isRejected, chosen.fails)
          const witness = new Witness(chosen, grouped)
          const { result } = await onJournal(plan, witness, dies)
          expect(storyOf(result, witness)).toEqual(expected)
        },
      ),
      { numRuns: 150 },
    )
  })

  it('counts as void exactly the recorded results that the result of the run has as void', async () => {
    await fc.assert(
      fc.asyncProperty(drafts, choices, async (drafted, chosen) => {
        const { plan, grouped } = planFor(drafted)
        const { result, journal } = await onJournal(plan, new Witness(chosen, grouped))
        const current = new Set(
          walkResult({ runId: '', skill: '', ...result }).map(({ key }) => key),
        )
        const expected = [...journal.done.keys()].filter((key) => !current.has(key))
        expect([...voidKeys(journal)].toSorted()).toEqual(expected.toSorted())
      }),
      { numRuns: 150 },
    )
  })
})

describe('a rejection that leads back', () => {
  const steps = [task('plan'), task('work'), task('publish', { gate: true, rework: 'work' })]
  const rejectedTimes = (count: number): Choices => {
    let left = count
    return { isRejected: () => (left-- > 0 ? 'tests are missing' : undefined), fails: () => false }
  }
  const run = async (count: number, root = chain(steps)) => {
    const witness = new Witness(rejectedTimes(count), new Set())
    const plan = { skill: 'main', digest: 'sha256:plan', root }
    return { ...(await onJournal(plan, witness)), ...witness.story }
  }

  it('repeats the steps from the named one with the reason, and asks again', async () => {
    const { result, executed, asked } = await run(1)
    expect(executed).toEqual([
      ['1:plan', undefined],
      ['1:work', undefined],
      ['1.1.2:work', 'tests are missing'],
      ['1.1.2:publish', 'tests are missing'],
    ])
    expect(asked).toEqual(['1:publish', '1.1.2:publish'])
    expect(result.status).toBe('success')
    expect(result.attempts[0]?.chain_state.previous_outputs.map(({ step }) => step)).toEqual([
      'plan',
      'work',
      'publish',
    ])
    expect(result.attempts[0]?.reworks).toMatchObject([
      {
        step: 'publish',
        to: 'work',
        reason: 'tests are missing',
        steps: [{}, { step: 'publish' }],
      },
    ])
  })

  it.each([
    [3, 'success', undefined],
    [4, 'failure', 'rejected'],
  ])('happens three times at most: %d rejections end as %s', async (count, status, ended) => {
    const { result } = await run(count)
    expect([result.status, result.ended]).toEqual([status, ended])
    expect(result.attempts[0]?.reworks).toHaveLength(3)
  })

  it('ends the run if the named step is left out', async () => {
    const left = [task('plan'), task('work', { excluded: true }), ...steps.slice(2)]
    const { result, executed } = await run(1, chain(left))
    expect([result.ended, executed]).toEqual(['rejected', [['1:plan', undefined]]])
  })

  it('gives the reason to the steps of a chain without `pass_state` too', async () => {
    const { executed } = await run(1, chain(steps, { passState: false }))
    expect(executed.at(-1)).toEqual(['1.1.2:publish', 'tests are missing'])
  })

  it('repeats a step that has attempts of its own with new ones', async () => {
    const flaky = [task('work', { retry: 2 }), ...steps.slice(2)]
    const failing = {
      ...rejectedTimes(1),
      fails: (key: string) => !/^1\.2.*:work/.test(key) && key.includes('work'),
    }
    const witness = new Witness(failing, new Set())
    const plan = { skill: 'main', digest: 'sha256:plan', root: chain(flaky) }
    const { result } = await onJournal(plan, witness)
    expect(witness.story.executed.map(([key]) => key)).toEqual([
      '1:work',
      '1.2:work',
      '1.1.2:work',
      '1.2.2:work',
      '1.1.2:publish',
    ])
    expect(result.attempts[0]?.steps[0]).toMatchObject({ round: 2, tries: [{ status: 'failure' }] })
  })
})
