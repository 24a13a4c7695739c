import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { ownIdentity, takeOverMs } from '../../src/core/file-lock.ts'

const program = (name: string): string =>
  new URL(`../fixtures/programs/${name}.ts`, import.meta.url).pathname
let directory: string
let file: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'skillrail-write-'))
  file = join(directory, 'counter')
  writeFileSync(file, '0')
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

/** Adds one to the counter so often, each time under its lock. */
function count(rounds: number): ReturnType<typeof spawn> {
  const command = [program('locked-counter'), file, String(rounds)]
  return spawn(process.execPath, command, { stdio: 'ignore' })
}

it('never leaves half a file, however often the writer is killed', async () => {
  const path = join(directory, 'file')
  for (let round = 0; round < 8; round++) {
    const child = spawn(process.execPath, [program('atomic-writer'), path], {
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    await once(child.stdout, 'data')
    await new Promise((resolve) => setTimeout(resolve, 7 * round))
    child.kill('SIGKILL')
    await once(child, 'exit')
    const content = readFileSync(path, 'utf8')
    expect(content.length).toBe(300_000)
    expect(new Set(content).size).toBe(1)
  }
})

it('takes over an abandoned lock in one of many processes, none of which loses an update', async () => {
  const elsewhere = {
    ...ownIdentity(),
    host: `${hostname()}-other`,
    place: 'another boot pid:[1]',
    refreshed: true,
    token: 'x',
  }
  writeFileSync(`${file}.lock`, JSON.stringify(elsewhere))
  const written = (Date.now() - takeOverMs - 5000) / 1000
  utimesSync(`${file}.lock`, written, written)
  const workers = Array.from({ length: 6 }, () => count(10))
  await Promise.all(workers.map((child) => once(child, 'exit')))
  expect(Number(readFileSync(file, 'utf8'))).toBe(60)
})

it('loses no update of 6 processes, some of which are killed inside the lock', async () => {
  const rounds = 40
  const killed = Array.from({ length: 3 }, () => count(100_000))
  const workers = Array.from({ length: 3 }, () => count(rounds))
  for (const [index, child] of killed.entries()) {
    setTimeout(() => child.kill('SIGKILL'), 150 + 120 * index)
  }
  await Promise.all(workers.map((child) => once(child, 'exit')))
  const log = readFileSync(`${file}.log`, 'utf8').trimEnd().split('\n').map(Number)
  const distinct = new Set(log)
  expect(distinct.size).toBe(log.length)
  expect(log.length).toBeGreaterThanOrEqual(3 * rounds)
})
