import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { LockStore } from '../../src/trust/lock-store.ts'
import { readLock } from '../../src/trust/lock-file.ts'
import { runtimeIn, temporaryDirectory, writeFiles } from './_project.ts'

const writer = new URL('../fixtures/programs/lock-writer.ts', import.meta.url).pathname
const names = ['one', 'two', 'three', 'four']

function project() {
  const root = temporaryDirectory()
  const workspace = join(root, 'project')
  for (const name of names) {
    writeFiles(join(workspace, '.claude/skills', name), { 'SKILL.md': name, 'a.txt': 'a' })
  }
  const runtime = runtimeIn(root)
  const start = (count: number): ChildProcess =>
    spawn(process.execPath, [writer, runtime.home, workspace, String(count), ...names], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
  const sizes = (): number[] => {
    const reading = readLock(workspace)
    return reading.state === 'read' ? [reading.skills.size] : []
  }
  return { workspace, store: new LockStore(runtime, workspace), start, sizes }
}

it(
  'a lock is always one whole lock while 6 processes write 25 times each',
  { timeout: 120_000 },
  async () => {
    const { start, sizes } = project()
    const children = Array.from({ length: 6 }, () => start(25))
    const ends = await Promise.all(children.map((child) => once(child, 'exit')))
    expect(ends.map(([code]: unknown[]) => code)).toEqual(Array(6).fill(0))
    expect([1, 2, 3, 4]).toContain(sizes()[0])
  },
)

it(
  'a lock is whole and can be written again when writers are killed',
  { timeout: 120_000 },
  async () => {
    const { workspace, store, start, sizes } = project()
    for (let round = 0; round < 10; round++) {
      const child = start(1_000_000)
      const ended = once(child, 'exit')
      await once(child.stdout ?? child, 'data')
      await sleep(20 + round * 7)
      child.kill('SIGKILL')
      await ended
      expect(readLock(workspace).state).not.toBe('unreadable')
    }
    await store.write([])
    expect(sizes()).toEqual([0])
  },
)
