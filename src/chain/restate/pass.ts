import type { JsonValue } from '../../skill/index.ts'
import type { CancelledStep, Engine, Outcome, Running } from '../engine.ts'

/**
 * What the interpreter was answered on its way through a chain, as JSON. With it the chain is gone
 * through again after a pause, up to where it stood, without asking the engine below.
 */
export interface Pass {
  /** By key, in the order in which they were answered. */
  answered: [key: string, outcome: Outcome][]
  left: Record<string, CancelledStep>
  decided: Record<string, JsonValue>
}

export function emptyPass(): Pass {
  return { answered: [], left: {}, decided: {} }
}

/** The engine, answering what it was asked before as it answered then; the pass grows by the rest. */
export function remembering(engine: Engine, pass: Pass): Engine {
  const answered = new Map(pass.answered)
  const isNew = ({ key }: Running): boolean => !answered.has(key) && !(key in pass.left)

  return {
    task: (call) => (isNew(call) ? engine.task(call) : { key: call.key }),
    chain: (call, body) => (isNew(call) ? engine.chain(call, body) : { key: call.key }),
    async firstOf(running) {
      const keys = new Set(running.map(({ key }) => key))
      for (const [key, outcome] of answered) if (keys.has(key)) return { key, outcome }
      const ended = await engine.firstOf(running.filter((handle) => isNew(handle)))
      if (ended.outcome.kind !== 'suspended') {
        answered.set(ended.key, ended.outcome)
        pass.answered.push([ended.key, ended.outcome])
      }
      return ended
    },
    async cancel(running) {
      const fresh = running.filter((handle) => isNew(handle))
      const left = fresh.length === 0 ? [] : await engine.cancel(fresh)
      for (const [index, { key }] of fresh.entries()) pass.left[key] = left[index] ?? {}
      return running.map(({ key }) => pass.left[key] ?? {})
    },
    async record(key, decide) {
      const known = pass.decided[key]
      const value = decide()
      if (known !== undefined && known === value) return value
      const recorded = await engine.record(key, () => value)
      pass.decided[key] = recorded
      return recorded
    },
  }
}
