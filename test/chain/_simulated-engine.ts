import type { ChainResult, Engine, Outcome, Running } from '../../src/chain/engine.ts'
import { chainOutput } from '../../src/chain/step-result.ts'
import type { StepStatus } from '../../src/exec/output-protocol.ts'

export interface SimulatedStep {
  status: StepStatus
  /** How long it takes in simulated time. */
  duration: number
}

export interface Simulation {
  engine: Engine
  /** Keys in the order in which steps started. */
  started: string[]
  /** What each started step saw of those before it. */
  seen: Map<string, string[]>
}

/** An engine without durability or processes: time is a number, outcomes come from a table. */
export function simulate(behaviour: (key: string) => SimulatedStep): Simulation {
  const started: string[] = []
  const seen = new Map<string, string[]>()

  function level(): Engine {
    let now = 0
    const open = new Map<string, { ends: number; outcome: () => Promise<Outcome> }>()
    const finished = (output: { status: StepStatus }, chain?: ChainResult): Outcome => ({
      kind: 'finished',
      output: {
        result: `${output.status} result`,
        errors: output.status === 'success' ? [] : [{ code: 'e', message: 'm' }],
        metrics: { n: 1 },
        evidence: 'exit-code',
        ...output,
      },
      startedAt: now,
      durationMs: 1,
      ...(chain === undefined ? {} : { chain }),
    })
    return {
      task(call) {
        const { status, duration } = behaviour(call.key)
        started.push(call.key)
        seen.set(
          call.key,
          call.state.previous_outputs.map((output) => output.step),
        )
        open.set(call.key, { ends: now + duration, outcome: async () => finished({ status }) })
        return { key: call.key }
      },
      chain(call, body) {
        const { duration } = behaviour(call.key)
        open.set(call.key, {
          ends: now + duration,
          outcome: async () => {
            const result = await body(level())
            return finished(chainOutput(result), result)
          },
        })
        return { key: call.key }
      },
      async firstOf(running: readonly Running[]) {
        let first: { key: string; ends: number } | undefined
        for (const { key } of running) {
          const ends = open.get(key)?.ends ?? Number.POSITIVE_INFINITY
          if (first === undefined || ends < first.ends) first = { key, ends }
        }
        const step = first === undefined ? undefined : open.get(first.key)
        if (first === undefined || step === undefined) throw new Error('nothing runs')
        now = first.ends
        open.delete(first.key)
        return { key: first.key, outcome: await step.outcome() }
      },
      isOpen: () => true,
      async cancel(running) {
        return running.map(() => ({ startedAt: 0, durationMs: 1 }))
      },
      async record(_key, decide) {
        return decide()
      },
    }
  }

  return { engine: level(), started, seen }
}
