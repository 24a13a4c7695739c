import { linkSync, readFileSync, renameSync, unlinkSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname } from 'node:path'
import { hexDigest, isObject, parseJson } from './json.ts'
import { reasonOf, StateFileError, systemCode } from './errors.ts'
import { readRegularFile } from './read-files.ts'
import { randomText } from './runtime.ts'
import { makePrivateDirectory, removeIfThere } from './write-files.ts'

export type LockAttempt = { ok: true; release(): void } | { ok: false; holder: ProcessIdentity }

/**
 * Takes the lock beside a file (`PATH.lock`) or names who holds it. The lock of a dead process is
 * taken over. Throws {@link StateFileError} `lock-foreign` for a lock file that something else
 * made, and `lock-disk-full` or `lock-unwritable` where it cannot be made.
 */
export function acquireFileLock(path: string): LockAttempt {
  const lockPath = `${path}.lock`
  const mine = JSON.stringify({ ...ownIdentity(), token: randomText(16) })
  makePrivateDirectory(dirname(lockPath))
  for (;;) {
    if (create(lockPath, mine)) return held(lockPath, mine)
    const content = readIfThere(lockPath)
    if (content === undefined) continue
    const holder = parseHolder(content, lockPath)
    if (isAlive(holder)) return { ok: false, holder }
    const rival = takeOver(lockPath, content, mine)
    if (rival === 'won') return held(lockPath, mine)
    if (rival !== 'retry') return { ok: false, holder: rival }
  }
}

/**
 * Who holds the lock beside a file; undefined where nobody alive does, or the lock file is none of
 * ours. Only looks: it works where nothing can be written, and is in nobody's way.
 */
export function lockHolder(path: string): ProcessIdentity | undefined {
  const lockPath = `${path}.lock`
  try {
    const content = readIfThere(lockPath)
    const holder = content === undefined ? undefined : parseHolder(content, lockPath)
    return holder && isAlive(holder) ? holder : undefined
  } catch {
    return undefined
  }
}

function held(lockPath: string, mine: string): LockAttempt {
  return { ok: true, release: () => release(lockPath, mine) }
}

/**
 * Runs `work` while this process alone holds the lock beside `path`.
 * @param options `waitMs`: how long to wait for another process; default 10,000 ms.
 */
export async function withFileLock<T>(
  path: string,
  work: () => Promise<T>,
  options: { waitMs?: number } = {},
): Promise<T> {
  const lock = await waitForLock(path, options.waitMs ?? 10_000)
  try {
    return await work()
  } finally {
    lock.release()
  }
}

async function waitForLock(path: string, waitMs: number) {
  const deadline = performance.now() + waitMs
  for (let pause = 1; ; pause = Math.min(pause * 2, 50)) {
    const attempt = acquireFileLock(path)
    if (attempt.ok) return attempt
    if (performance.now() >= deadline) {
      const { pid, host } = attempt.holder
      const message = `${path} is in use by process ${pid} on ${host}; waited ${waitMs} ms`
      const hint = 'Wait for that process to end, or end it.'
      throw new StateFileError({ code: 'lock-timeout', message, hint })
    }
    await new Promise((resolve) => setTimeout(resolve, pause * (0.5 + Math.random())))
  }
}

function create(lockPath: string, content: string): boolean {
  const draft = writeDraft(lockPath, content)
  try {
    linkSync(draft, lockPath)
    return true
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false
    throw error
  } finally {
    unlinkSync(draft)
  }
}

/**
 * Replaces the lock of a dead holder. Several processes may try at once: only the one that creates
 * the claim for this very holder may replace the lock. A claim left by a dead process is claimed in
 * turn.
 */
function takeOver(lockPath: string, stale: string, mine: string) {
  const claims: string[] = []
  for (let contested = stale; ;) {
    const claim = `${lockPath}.${hexDigest(contested, 16)}`
    if (create(claim, mine)) {
      claims.push(claim)
      break
    }
    const content = readIfThere(claim)
    if (content === undefined) return 'retry'
    const claimer = parseHolder(content, claim)
    if (isAlive(claimer)) return claimer
    claims.push(claim)
    contested = content
  }
  // A slow process may have claimed what was taken over, and cleaned up, long ago.
  const won = readIfThere(lockPath) === stale
  if (won) renameSync(writeDraft(lockPath, mine), lockPath)
  for (const claim of claims) removeIfThere(claim)
  return won ? 'won' : 'retry'
}

/** Leaves nothing behind where it cannot be written. */
function writeDraft(lockPath: string, content: string): string {
  const draft = `${lockPath}.${randomText(10)}`
  try {
    writeFileSync(draft, content, { flag: 'wx', mode: 0o600 })
    return draft
  } catch (error) {
    removeIfThere(draft)
    const code = systemCode(error) === 'ENOSPC' ? 'lock-disk-full' : 'lock-unwritable'
    const message = `the lock ${lockPath} could not be written: ${reasonOf(error)}`
    const hint = 'Check the permissions of the directory and the space on the disk.'
    throw new StateFileError({ code, message, hint, cause: error })
  }
}

/** A lock that cannot be removed is taken over once this process has ended. */
function release(lockPath: string, mine: string): void {
  try {
    if (readIfThere(lockPath) === mine) unlinkSync(lockPath)
  } catch {} // The work under the lock is done; its result is what counts.
}

/** The file may be foreign, or a pipe that never ends. */
function readIfThere(path: string): string | undefined {
  const reading = readRegularFile(path, { maxBytes: maxLockBytes })
  if (reading.ok) return reading.text
  if (reading.code === 'file-missing') return undefined
  if (reading.code !== 'file-unreadable') throw foreign(path, reading.message)
  const hint = 'Check the permissions of the directory.'
  throw new StateFileError({
    code: 'lock-unreadable',
    message: `the lock ${reading.message}`,
    hint,
  })
}

const maxLockBytes = 4096

function parseHolder(content: string, lockPath: string): ProcessIdentity {
  const value = parseJson(content)
  if (isIdentity(value)) return value
  throw foreign(lockPath)
}

function foreign(lockPath: string, reason?: string): StateFileError {
  const why = reason === undefined ? '' : `: ${reason}`
  const message = `${lockPath} is not a lock file of skillrail${why}`
  const hint = 'Delete it if no other program uses it.'
  return new StateFileError({ code: 'lock-foreign', message, hint })
}

function isIdentity(value: unknown): value is ProcessIdentity {
  if (!isObject(value) || typeof value['host'] !== 'string') return false
  const { pid } = value
  // A signal to any other number reaches whole groups, or everything.
  return typeof pid === 'number' && Number.isSafeInteger(pid) && pid > 0 && pid < 2 ** 31
}

/** Names one process, so that a lock left by a dead one is told from a live holder's. */
export interface ProcessIdentity {
  pid: number
  /** Start time in clock ticks since boot where the platform tells (Linux), else undefined. */
  startedAt?: string | undefined
  host: string
}

export function ownIdentity(): ProcessIdentity {
  return { pid: process.pid, startedAt: processStat(process.pid).ticks, host: hostname() }
}

/** Whether it still runs. One of another host counts as alive, a zombie or reused ID as dead. */
export function isAlive(identity: ProcessIdentity): boolean {
  if (identity.host !== hostname()) return true
  try {
    process.kill(identity.pid, 0)
  } catch (error) {
    if (systemCode(error) === 'ESRCH') return false
  }
  const { state, ticks } = processStat(identity.pid)
  if (state === 'Z' || state === 'X') return false
  return identity.startedAt === undefined || ticks === identity.startedAt
}

/** Fields 3 and 22 of proc_pid_stat(5); the command in field 2 may contain spaces and parentheses. */
function processStat(pid: number): { state?: string | undefined; ticks?: string | undefined } {
  if (process.platform !== 'linux') return {}
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return { state: fields[0], ticks: fields[19] }
  } catch {
    return {}
  }
}
