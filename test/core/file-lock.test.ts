import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  acquireFileLock,
  isOnThisMachine,
  lockHolder,
  ownIdentity,
  takeOverMs,
  withFileLock,
} from '../../src/core/file-lock.ts'
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
  'takes over a lock whose process ID now belongs to another program',
  () => {
    writeLock({ pid: process.pid, startedAt: '1', host: hostname(), token: 'x' })
    expect(acquireFileLock(file).ok).toBe(true)
  },
)

it('takes over from a process that died during its own take-over', () => {
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

describe('the lock of a process on another machine or in another container', () => {
  const elsewhere = {
    ...ownIdentity(),
    host: `${hostname()}-other`,
    place: 'another boot pid:[1]',
    refreshed: true,
    token: 'x',
  }
  const writtenBefore = (ms: number): void => {
    const time = (Date.now() - ms) / 1000
    utimesSync(`${file}.lock`, time, time)
  }

  it('stays locked while that process renews it', () => {
    writeLock(elsewhere)
    writtenBefore(takeOverMs - 10_000)
    expect(acquireFileLock(file)).toMatchObject({ ok: false, holder: { pid: process.pid } })
    expect(lockHolder(file)).toMatchObject({ host: elsewhere.host })
  })

  it.each([
    ['was not written again', takeOverMs + 5000],
    ['was written by a clock that is set back now', -10 * 365 * 24 * 3600 * 1000],
  ])('is taken over if it %s', (_, age) => {
    writeLock(elsewhere)
    writtenBefore(age)
    expect(lockHolder(file)).toBe(undefined)
    const attempt = acquireFileLock(file)
    expect(attempt.ok).toBe(true)
    if (attempt.ok) attempt.release()
    expect(readdirSync(directory)).toEqual(['counter'])
  })

  it('is taken over after a restart of the same host, whatever runs under its process ID now', () => {
    writeLock({ ...elsewhere, host: hostname() })
    writtenBefore(takeOverMs + 5000)
    expect(acquireFileLock(file).ok).toBe(true)
  })

  it('is judged by its process if only the host name has changed', () => {
    writeLock({ ...ownIdentity(), host: 'an-earlier-name', refreshed: true, token: 'x' })
    writtenBefore(takeOverMs + 5000)
    expect(acquireFileLock(file).ok).toBe(process.platform !== 'linux')
  })

  it('is kept for a day if an earlier version created it, which never renews a lock', () => {
    writeLock({ pid: 1, host: elsewhere.host, token: 'x' })
    writtenBefore(20 * 3600 * 1000)
    expect(acquireFileLock(file).ok).toBe(false)
    writtenBefore(25 * 3600 * 1000)
    expect(acquireFileLock(file).ok).toBe(true)
  })

  it('is named with its file in the error after the wait', async () => {
    writeLock(elsewhere)
    const waiting = withFileLock(file, () => Promise.resolve(), { waitMs: 20 })
    await expect(waiting).rejects.toMatchObject({
      code: 'lock-timeout',
      hint: expect.stringContaining(`${file}.lock`),
    })
  })

  it('is taken over after its process was killed', async () => {
    const child = start(100_000)
    while (!existsSync(`${file}.log`)) await new Promise((resolve) => setTimeout(resolve, 20))
    do {
      child.kill('SIGSTOP')
      if (existsSync(`${file}.lock`)) break
      child.kill('SIGCONT')
    } while (await new Promise((resolve) => setTimeout(() => resolve(true), 1)))
    const content = readFileSync(`${file}.lock`, 'utf8')
    child.kill('SIGKILL')
    await once(child, 'exit')
    const before = Number(readFileSync(file, 'utf8'))
    writeLock({ ...JSON.parse(content), host: elsewhere.host, place: elsewhere.place })
    expect(acquireFileLock(file).ok).toBe(false)
    writtenBefore(takeOverMs + 5000)
    await withFileLock(file, async () => writeFileSync(file, String(before + 1)))
    expect(Number(readFileSync(file, 'utf8'))).toBe(before + 1)
  })
})

it('renews the lock, so that other machines see that its process runs', () => {
  vi.useFakeTimers()
  try {
    const lock = acquireFileLock(file)
    const content = readFileSync(`${file}.lock`, 'utf8')
    utimesSync(`${file}.lock`, 1, 1)
    vi.advanceTimersByTime(takeOverMs / 2)
    expect(statSync(`${file}.lock`).mtimeMs).toBeGreaterThan(1000)
    expect(readFileSync(`${file}.lock`, 'utf8')).toBe(content)
    if (lock.ok) lock.release()
    expect(vi.getTimerCount()).toBe(0)
  } finally {
    vi.useRealTimers()
  }
})

it('does not confuse a process ID of another namespace with its own', () => {
  const own = ownIdentity()
  expect(isOnThisMachine(own)).toBe(true)
  const other = { ...own, place: `${own.place}1` }
  expect(isOnThisMachine(other)).toBe(own.place === undefined)
})

it('refuses a lock file that another program created', () => {
  writeFileSync(`${file}.lock`, 'hello')
  expect(() => acquireFileLock(file)).toThrow(StateFileError)
})

it.each([-1, 0, 0.5, 1e99])('refuses a lock of %d, which is not a process', (pid) => {
  writeLock({ pid, host: hostname(), token: 'x' })
  expect(() => acquireFileLock(file)).toThrow('is not a lock file of skillrail')
  expect(lockHolder(file)).toBe(undefined)
})

it.runIf(existsSync('/dev/zero'))('refuses an endless file in the place of a lock', () => {
  symlinkSync('/dev/zero', `${file}.lock`)
  expect(() => acquireFileLock(file)).toThrow('is not a lock file of skillrail')
  rmSync(`${file}.lock`)
  execFileSync('mkfifo', [`${file}.lock`])
  expect(() => acquireFileLock(file)).toThrow('is not a lock file of skillrail')
})

it('names the owner without changing the lock', () => {
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

it('ignores a lock that cannot be released any more', () => {
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

it('names the owner of the lock after the wait', async () => {
  const lock = acquireFileLock(file)
  const waiting = withFileLock(file, () => Promise.resolve(), { waitMs: 20 })
  await expect(waiting).rejects.toThrow(`in use by process ${process.pid}`)
  if (lock.ok) lock.release()
})

it('releases the lock if the work throws', async () => {
  const work = withFileLock(file, () => Promise.reject(new Error('broken')))
  await expect(work).rejects.toThrow('broken')
  expect(acquireFileLock(file).ok).toBe(true)
})

function start(rounds: number): ReturnType<typeof spawn> {
  return spawn(process.execPath, [worker, file, String(rounds)], { stdio: 'ignore' })
}

function writeLock(holder: object): void {
  writeFileSync(`${file}.lock`, JSON.stringify(holder))
}
