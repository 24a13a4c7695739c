import { expect, it } from 'vitest'
import type { Engine, Outcome } from '../../../src/chain/engine.ts'
import { remembering } from '../../../src/chain/restate/engine.ts'
import { emptyPass } from '../../../src/chain/restate/protocol.ts'
import { emptyState } from '../../../src/chain/step-result.ts'
import { failedOutput } from '../../../src/exec/output-protocol.ts'

const done: Outcome = {
  kind: 'finished',
  output: failedOutput('x', 'x'),
  startedAt: 1,
  durationMs: 1,
}

/** Finishes what it is asked about last first, except the steps that wait. */
function engineThat(waits: readonly string[], asked: string[]): Engine {
  return {
    task: ({ key }) => {
      asked.push(`task ${key}`)
      return { key }
    },
    chain: ({ key }) => ({ key }),
    firstOf: async (running) => {
      const going = running.filter(({ key }) => !waits.includes(key))
      const key = going.at(-1)?.key
      if (key !== undefined) return { key, outcome: done }
      return { key: running[0]?.key ?? '', outcome: { kind: 'suspended', why: 'approval' } }
    },
    isOpen: () => true,
    cancel: async (running) => {
      asked.push(...running.map(({ key }) => `cancel ${key}`))
      return running.map(() => ({ startedAt: 5 }))
    },
    record: async (key, decide) => {
      asked.push(`record ${key}`)
      return decide()
    },
  }
}

const call = (key: string): Parameters<Engine['task']>[0] => ({
  key,
  attempt: 1,
  state: emptyState,
  timeoutMs: 0,
  step: {
    step: key,
    skill: key,
    path: '',
    trust: 'trusted',
    digest: '',
    tokens: 0,
    executor: 'script',
  },
})

it('repeats a chain from its pass, and asks the engine only for new answers', async () => {
  const pass = emptyPass()
  async function go(waits: readonly string[], asked: string[]): Promise<string[]> {
    const engine = remembering(engineThat(waits, asked), pass)
    const group = ['a', 'b', 'c', 'gate'].map((key) => engine.task(call(key)))
    const order: string[] = []
    const lost = engine.task(call('lost'))
    expect(await engine.cancel([lost])).toEqual([{ startedAt: 5 }])
    expect(await engine.record('winner', () => 'c')).toBe('c')
    while (group.length > 0) {
      const { key, outcome } = await engine.firstOf(group)
      order.push(`${key} ${outcome.kind}`)
      group.splice(
        group.findIndex((handle) => handle.key === key),
        1,
      )
    }
    return order
  }
  const first: string[] = []
  const before = ['c finished', 'b finished', 'a finished']
  expect(await go(['gate'], first)).toEqual([...before, 'gate suspended'])
  expect(first).toContain('cancel lost')
  // As JSON it has come from another worker.
  const copy = structuredClone(pass)
  Object.assign(pass, copy)
  const second: string[] = []
  expect(await go([], second)).toEqual([...before, 'gate finished'])
  expect(second).toEqual(['task gate'])
})
