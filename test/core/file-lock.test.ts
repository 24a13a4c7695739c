import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { acquireFileLock, lockHolder, withFileLock } from '../../src/core/file-lock.ts'
import { sha256 } from '../../src/core/json.ts'
import { StateFileError } from '../../src/core/errors.ts'

const worker = new URL('../fixtures/programs/locked-counter.ts', import.meta.url).pathname
let directory: string
let file: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'skillrail-lock-'))
  file = join(directory, 'counter')
  writeFileSync(file, '0')
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

it('gives the lock to one holder at a time and names it to the others', () => {
  const first = acquireFileLock(file)
  const second = acquireFileLock(file)
  expect(first.ok).toBe(true)
  expect(second).toMatchObject({ ok: false, holder: { pid: process.pid, host: hostname() } })
  if (first.ok) first.release()
  expect(acquireFileLock(file).ok).toBe(true)
})

it('takes over the lock of a process that is dead', async () => {
  const dead = spawn(process.execPath, ['-e', '0'])
  await once(dead, 'exit')
  writeLock({ pid: dead.pid ?? 0, host: hostname(), token: 'x' })
  expect(acquireFileLock(file).ok).toBe(true)
})

it.runIf(process.platform === 'linux')(
  'takes over the lock of a process id that was given to another program',
  () => {
    writeLock({ pid: process.pid, startedAt: '1', host: hostname(), token: 'x' })
    expect(acquireFileLock(file).ok).toBe(true)
  },
)

it('takes over from a process that died while it was taking over', () => {
  const dead = { pid: 2 ** 22 - 1, host: hostname() }
  const stale = JSON.stringify({ ...dead, token: 'first' })
  writeFileSync(`${file}.lock`, stale)
  const claim = `${file}.lock.${sha256(stale).slice('sha256:'.length, 23)}`
  writeFileSync(claim, JSON.stringify({ ...dead, token: 'second' }))
  const attempt = acquireFileLock(file)
  expect(attempt.ok).toBe(true)
  if (attempt.ok) attempt.release()
  expect(readdirSync(directory)).toEqual(['counter'])
})

it('counts a process of another host as alive', () => {
  writeLock({ pid: 1, host: `${hostname()}-other`, token: 'x' })
  expect(acquireFileLock(file).ok).toBe(false)
})

it('refuses a lock file that something else made', () => {
  writeFileSync(`${file}.lock`, 'hello')
  expect(() => acquireFileLock(file)).toThrow(StateFileError)
})

it.each([-1, 0, 0.5, 1e99])('refuses a lock of %d, which is not a process', (pid) => {
  writeLock({ pid, host: hostname(), token: 'x' })
  expect(() => acquireFileLock(file)).toThrow('is not a lock file of skillrail')
  expect(lockHolder(file)).toBe(undefined)
})

it.runIf(existsSync('/dev/zero'))('refuses what could be read for ever in its place', () => {
  symlinkSync('/dev/zero', `${file}.lock`)
  expect(() => acquireFileLock(file)).toThrow('is not a lock file of skillrail')
  rmSync(`${file}.lock`)
  execFileSync('mkfifo', [`${file}.lock`])
  expect(() => acquireFileLock(file)).toThrow('is not a lock file of skillrail')
})

it('names the holder without touching anything', () => {
  expect(lockHolder(file)).toBe(undefined)
  const lock = acquireFileLock(file)
  expect(lockHolder(file)).toMatchObject({ pid: process.pid })
  if (lock.ok) lock.release()
  const stale = { pid: 2 ** 22 - 1, host: hostname(), token: 'x' }
  writeLock(stale)
  expect(lockHolder(file)).toBe(undefined)
  expect(readFileSync(`${file}.lock`, 'utf8')).toBe(JSON.stringify(stale))
  writeFileSync(`${file}.lock`, 'hello')
  expect(lockHolder(file)).toBe(undefined)
})

it('is silent about a lock that cannot be released any more', () => {
  const lock = acquireFileLock(file)
  rmSync(`${file}.lock`)
  mkdirSync(`${file}.lock`)
  if (!lock.ok) throw new Error('not locked')
  expect(() => lock.release()).not.toThrow()
})

it('names the lock that cannot be written, and leaves nothing behind', () => {
  const long = join(directory, 'x'.repeat(250))
  expect(() => acquireFileLock(long)).toThrow(StateFileError)
  expect(() => acquireFileLock(long)).toThrow(`the lock ${long}.lock could not be written`)
  expect(readdirSync(directory)).toEqual(['counter'])
})

it('says who holds the lock when the wait is over', async () => {
  const lock = acquireFileLock(file)
  const waiting = withFileLock(file, () => Promise.resolve(), { waitMs: 20 })
  await expect(waiting).rejects.toThrow(`in use by process ${process.pid}`)
  if (lock.ok) lock.release()
})

it('releases the lock when the work throws', async () => {
  const work = withFileLock(file, () => Promise.reject(new Error('broken')))
  await expect(work).rejects.toThrow('broken')
  expect(acquireFileLock(file).ok).toBe(true)
})

it('loses no update of 6 processes of which some are killed while they hold the lock', async () => {
  const rounds = 40
  const killed = Array.from({ length: 3 }, () => start(100_000))
  const workers = Array.from({ length: 3 }, () => start(rounds))
  for (const [index, child] of killed.entries()) {
    setTimeout(() => child.kill('SIGKILL'), 150 + 120 * index)
  }
  await Promise.all(workers.map((child) => once(child, 'exit')))
  const log = readFileSync(`${file}.log`, 'utf8').trimEnd().split('\n').map(Number)
  const distinct = new Set(log)
  expect(distinct.size).toBe(log.length)
  expect(log.length).toBeGreaterThanOrEqual(3 * rounds)
})

function start(rounds: number): ReturnType<typeof spawn> {
  return spawn(process.execPath, [worker, file, String(rounds)], { stdio: 'ignore' })
}

function writeLock(holder: object): void {
  writeFileSync(`${file}.lock`, JSON.stringify(holder))
}
