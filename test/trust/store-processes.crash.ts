import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { TrustStore } from '../../src/trust/store.ts'
import { runtimeIn, temporaryDirectory } from './_project.ts'

const writer = new URL('../fixtures/programs/trust-writer.ts', import.meta.url).pathname

function start(home: string, name: string, count: number): ChildProcess {
  return spawn(process.execPath, [writer, home, name, String(count)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

it('loses no write of 8 processes that write 50 times each', { timeout: 120_000 }, async () => {
  const runtime = runtimeIn(temporaryDirectory())
  const writers = Array.from({ length: 8 }, (_, index) => start(runtime.home, `w${index}`, 50))
  const ends = await Promise.all(writers.map((child) => once(child, 'exit')))
  expect(ends.map(([code]: unknown[]) => code)).toEqual(Array(8).fill(0))
  const { acceptances, diagnostics } = new TrustStore(runtime).read()
  expect(diagnostics).toEqual([])
  expect(acceptances).toHaveLength(400)
})

it('stays whole and writable when writers are killed', { timeout: 120_000 }, async () => {
  const runtime = runtimeIn(temporaryDirectory())
  const store = new TrustStore(runtime)
  let known = 0
  for (let round = 0; round < 10; round++) {
    const child = start(runtime.home, `k${round}`, 100_000)
    const ended = once(child, 'exit')
    await once(child.stdout ?? child, 'data')
    await sleep(20 + round * 7)
    child.kill('SIGKILL')
    await ended
    const { acceptances, diagnostics } = store.read()
    expect(diagnostics).toEqual([])
    expect(acceptances.length).toBeGreaterThanOrEqual(known)
    known = acceptances.length
  }
  await store.accept('/workspaces/after', [])
  expect(store.read().acceptances).toHaveLength(known + 1)
})
