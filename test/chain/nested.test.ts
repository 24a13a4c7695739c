import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { PlannedStep } from '../../src/chain/plan-model.ts'
import { runChain } from '../../src/chain/attempt.ts'
import type { StepResult } from '../../src/chain/engine.ts'
import type { ChainPolicy } from '../../src/skill/model.ts'
import { type ModelRun, modelRun } from './_model.ts'
import { chain, task } from './_plans.ts'
import { policies, status } from './_policies.ts'
import { simulate, type SimulatedStep } from './_simulated-engine.ts'

/** A chain of chains; a step without `steps` is a skill of its own. */
interface Tree {
  policy: ChainPolicy
  steps: readonly (Tree | undefined)[]
}

const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.record({
    policy: policies.map((policy) => ({ ...policy, retryCount: Math.min(policy.retryCount, 2) })),
    steps: fc.array(
      fc.oneof(
        { depthSize: 'small', maxDepth: 2, withCrossShrink: true },
        fc.constant(undefined),
        tie('tree'),
      ),
      { maxLength: 4 },
    ),
  }),
}))

const table = fc.array(fc.record({ status, duration: fc.integer({ min: 1, max: 5 }) }), {
  minLength: 1,
  maxLength: 40,
})

it('a tree of chains does what the model predicts for each level, for any policies', async () => {
  await fc.assert(
    fc.asyncProperty(tree, table, async (root, outcomes) => {
      const behaviour = (key: string): SimulatedStep =>
        outcomes[hash(key) % outcomes.length] ?? { status: 'success', duration: 1 }
      const { engine, started } = simulate(behaviour)
      const result = await runChain(planOf(root, ''), engine)
      const model = modelOf(root, '', behaviour)
      expect(result.status).toBe(model.run.status)
      expect(result.attempts.map(({ steps }) => steps.map(outline))).toEqual(model.attempts)
      expect(new Set(started)).toEqual(new Set(model.started))
    }),
    { numRuns: 300 },
  )
})

type Outline = string | [string, Outline[]]

interface TreeModel {
  run: ModelRun
  /** Of each attempt the steps, those of nested chains with their last attempt. */
  attempts: Outline[][]
  /** What the attempt that decided says: the result is that of the last step that was executed. */
  told: { result: string; errors: string[] }
  started: string[]
}

/** The model of one level, in which a nested chain is a step with the status of its own model. */
function modelOf(tree: Tree, prefix: string, behaviour: (key: string) => SimulatedStep): TreeModel {
  const names = tree.steps.map((_step, index) => `s${index}`)
  const below = new Map<string, TreeModel>()
  const run = modelRun(names, tree.policy, (attempt, name) => {
    const key = `${prefix}${attempt}:${name}`
    const nested = tree.steps[names.indexOf(name)]
    if (nested === undefined) return behaviour(key)
    const model = below.get(key) ?? modelOf(nested, `${key}/`, behaviour)
    below.set(key, model)
    // Its parent compares its errors too, and not having become stable is one, at whatever depth.
    const { unstable, attempts, status } = model.run
    const told = [model.told, attempts.at(-1)?.details, unstable]
    const detail = JSON.stringify([model.attempts.at(-1), told])
    return { status, duration: behaviour(key).duration, detail }
  })
  const ran = new Set<string>()
  const attempts = run.attempts.map(({ steps, outputs }, index) =>
    steps.map((said, position): Outline => {
      const name = names[position] ?? ''
      const key = `${prefix}${index + 1}:${name}`
      const model = outputs.includes(name) ? below.get(key) : undefined
      if (model === undefined) return said
      ran.add(key)
      return [said, model.attempts.at(-1) ?? []]
    }),
  )
  // What all attempts had to pass failed in the last one that ended so.
  const last = run.attempts.length - 1
  const decided =
    tree.policy.retryUntil === 'none'
      ? run.attempts.findLastIndex((attempt) => attempt.status === run.status)
      : last
  const statuses = run.attempts[decided]?.steps ?? []
  let result = ''
  const errors = statuses.flatMap((said, position): string[] => {
    const model = below.get(`${prefix}${decided + 1}:${names[position] ?? ''}`)
    if (said === 'success' || said === 'failure' || said === 'critical') {
      result = model?.told.result ?? `${said} result`
      return model?.told.errors ?? (said === 'success' ? [] : ['e'])
    }
    return []
  })
  const told = {
    result,
    errors: [...errors, ...(run.unstable ? ['not-stable'] : [])],
  }
  const own = run.started.map((key) => `${prefix}${key}`).filter((key) => !below.has(key))
  const inner = [...ran].flatMap((key) => below.get(key)?.started ?? [])
  return { run, attempts, told, started: [...own, ...inner] }
}

function planOf(tree: Tree, step: string): ReturnType<typeof chain> {
  const steps = tree.steps.map((nested, index): PlannedStep => {
    const id = step === '' ? `s${index}` : `${step}/s${index}`
    return nested === undefined ? task(id) : planOf(nested, id)
  })
  return chain(steps, tree.policy, step)
}

function outline(result: StepResult): Outline {
  return result.steps === undefined ? result.status : [result.status, result.steps.map(outline)]
}

function hash(text: string): number {
  let sum = 7
  for (let at = 0; at < text.length; at++) sum = (sum * 31 + text.charCodeAt(at)) % 1_000_003
  return sum
}
