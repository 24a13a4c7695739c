import {
  closeSync,
  linkSync,
  openSync,
  readFileSync,
  readlinkSync,
  renameSync,
  statSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { hostname } from 'node:os'
import { dirname } from 'node:path'
import { hexDigest, isObject, parseJson } from './json.ts'
import { processStat } from './process-stat.ts'
import { reasonOf, StateFileError, systemCode } from './errors.ts'
import { readRegularFile } from './read-files.ts'
import { uniqueText } from './runtime.ts'
import { makePrivateDirectory, removeIfThere } from './write-files.ts'

export type LockAttempt = { ok: true; release(): void } | { ok: false; holder: Holder }

/**
 * How often a process writes its lock file again. A process on another machine or in another container
 * cannot be inspected, so another process takes over the lock after {@link takeOverMs} without a write.
 */
const refreshMs = 5000
export const takeOverMs: number = 30_000

/** Earlier versions did not write their lock files again. */
const earlierTakeOverMs = 24 * 60 * 60 * 1000

/**
 * Acquires the lock beside a file (`PATH.lock`), or returns its holder. Takes over the lock of a dead
 * process, and of a process elsewhere that no longer writes its lock file. Throws {@link StateFileError}:
 * `lock-foreign` for a lock file of another program, `lock-disk-full` or `lock-unwritable` if the file
 * cannot be created.
 */
export function acquireFileLock(path: string): LockAttempt {
  const attempt = takeFileLock(path)
  if (!attempt.ok) return attempt
  const { lockPath, lockText } = attempt
  const timer = setInterval(() => refresh(lockPath, lockText), refreshMs)
  timer.unref()
  return {
    ok: true,
    release() {
      clearInterval(timer)
      release(lockPath, lockText)
    },
  }
}

/** A lock that nothing writes again. `lockText`: the content of the lock file at `lockPath`. */
type TakenLock = { ok: true; lockPath: string; lockText: string } | { ok: false; holder: Holder }

function takeFileLock(path: string): TakenLock {
  const lockPath = `${path}.lock`
  const lockText = JSON.stringify({ ...ownIdentity(), refreshed: true, token: uniqueText(16) })
  makePrivateDirectory(dirname(lockPath))
  for (;;) {
    if (create(lockPath, lockText)) return { ok: true, lockPath, lockText }
    const content = readIfThere(lockPath)
    if (content === undefined) continue
    const holder = parseHolder(content, lockPath)
    if (isHolder(holder, lockPath, () => fileSystemTime(lockPath, lockText)))
      return { ok: false, holder }
    const rival = takeOver(lockPath, content, lockText)
    if (rival === 'won') return { ok: true, lockPath, lockText }
    if (rival !== 'retry') return { ok: false, holder: rival }
  }
}

/**
 * Returns the holder of the lock beside a file; undefined if no live process holds the lock, or another
 * program wrote the lock file. Only reads, so it works on a read-only disk and blocks no other process.
 */
export function lockHolder(path: string): ProcessIdentity | undefined {
  const lockPath = `${path}.lock`
  try {
    const content = readIfThere(lockPath)
    const holder = content === undefined ? undefined : parseHolder(content, lockPath)
    return holder && isHolder(holder, lockPath, Date.now) ? holder : undefined
  } catch {
    return undefined
  }
}

/** Returns a hint about the lock if its holder is on another machine, else undefined. */
export function elsewhereHint(path: string, holder: Holder): string | undefined {
  if (isOnThisMachine(holder)) return undefined
  const limit = holder.refreshed ? `${takeOverMs / 1000} seconds` : '24 hours'
  return `Its lock is taken over ${limit} after that process last wrote it. If it has ended, delete ${path}.lock instead.`
}

/**
 * Writes the first byte again, which is the same in every lock. This sets the file's time by the disk's
 * clock, which is the same for every machine.
 */
function refresh(lockPath: string, lockText: string): void {
  try {
    if (readIfThere(lockPath) !== lockText) return
    const descriptor = openSync(lockPath, 'r+')
    try {
      writeSync(descriptor, lockText.slice(0, 1), 0)
    } finally {
      closeSync(descriptor)
    }
  } catch {} // The next refresh may succeed. On this machine, other processes inspect the process itself.
}

/** Returns the current time by the clock of the lock's file system. */
function fileSystemTime(lockPath: string, content: string): number {
  const draft = writeDraft(lockPath, content)
  try {
    return statSync(draft).mtimeMs
  } finally {
    unlinkSync(draft)
  }
}

/** Whether the process that created a lock file, or a claim on one, still holds the lock. */
function isHolder(holder: Holder, path: string, now: () => number): boolean {
  if (isOnThisMachine(holder)) return isAlive(holder)
  const modifiedAt = statSync(path, { throwIfNoEntry: false })?.mtimeMs
  if (modifiedAt === undefined) return false
  const limit = holder.refreshed ? takeOverMs : earlierTakeOverMs
  // If the clock was set back, an abandoned lock has a time in the future.
  return Math.abs(now() - modifiedAt) < limit
}

/**
 * Runs `work` while this process holds the lock beside `path`.
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

/** {@link withFileLock} for work that takes milliseconds; the process blocks while it waits and works. */
export function withFileLockSync<T>(path: string, work: () => T, waitMs: number): T {
  const { lockPath, lockText } = waitForLockSync(path, waitMs)
  try {
    return work()
  } finally {
    release(lockPath, lockText)
  }
}

async function waitForLock(path: string, waitMs: number) {
  const deadline = performance.now() + waitMs
  for (let pause = 1; ; pause = Math.min(pause * 2, 50)) {
    const attempt = acquireFileLock(path)
    if (attempt.ok) return attempt
    if (performance.now() >= deadline) throw tookTooLong(path, attempt.holder, waitMs)
    await new Promise((resolve) => setTimeout(resolve, pause * (0.5 + Math.random())))
  }
}

function waitForLockSync(path: string, waitMs: number) {
  const deadline = Date.now() + waitMs
  // The holder needs only milliseconds: during a longer pause, others would get the lock first.
  for (let pause = 1; ; pause = Math.min(pause * 2, 8)) {
    const attempt = takeFileLock(path)
    if (attempt.ok) return attempt
    if (Date.now() >= deadline) throw tookTooLong(path, attempt.holder, waitMs)
    const cell = new Int32Array(new SharedArrayBuffer(4))
    Atomics.wait(cell, 0, 0, pause * (0.5 + Math.random()))
  }
}

function tookTooLong(path: string, holder: Holder, waitMs: number): StateFileError {
  const message = `${path} is in use by process ${holder.pid} on ${holder.host}; waited ${waitMs} ms`
  const hint = elsewhereHint(path, holder) ?? 'Wait for that process to end, or end it.'
  return new StateFileError({ code: 'lock-timeout', message, hint })
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
 * Replaces the lock of a dead holder. Several processes may try at once: only the process that creates
 * the claim for this holder replaces the lock. The claim of a dead process is claimed in the same way.
 */
function takeOver(lockPath: string, stale: string, lockText: string) {
  const claims: string[] = []
  for (let claimedText = stale; ;) {
    const claim = `${lockPath}.${hexDigest(claimedText, 16)}`
    if (create(claim, lockText)) {
      claims.push(claim)
      break
    }
    const content = readIfThere(claim)
    if (content === undefined) return 'retry'
    const claimer = parseHolder(content, claim)
    if (isHolder(claimer, claim, () => fileSystemTime(lockPath, lockText))) return claimer
    claims.push(claim)
    claimedText = content
  }
  // A slow process may have claimed a lock that another process has already taken over.
  const isWon = readIfThere(lockPath) === stale
  if (isWon) renameSync(writeDraft(lockPath, lockText), lockPath)
  for (const claim of claims) removeIfThere(claim)
  return isWon ? 'won' : 'retry'
}

/** Writes a temporary file; removes it if the write fails. */
function writeDraft(lockPath: string, content: string): string {
  const draft = `${lockPath}.${uniqueText(10)}`
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

/** If the lock cannot be removed, another process takes it over after this process has ended. */
function release(lockPath: string, lockText: string): void {
  try {
    if (readIfThere(lockPath) === lockText) unlinkSync(lockPath)
  } catch {} // The work under the lock is done, and its result counts.
}

/** The file may belong to another program, or be a pipe that never ends. */
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

/** `refreshed`: whether the process writes its lock file again while it holds the lock. */
interface Holder extends ProcessIdentity {
  refreshed?: boolean | undefined
}

function parseHolder(content: string, lockPath: string): Holder {
  const value = parseJson(content)
  if (isIdentity(value)) return value
  throw foreign(lockPath)
}

function foreign(lockPath: string, reason?: string): StateFileError {
  const suffix = reason === undefined ? '' : `: ${reason}`
  const message = `${lockPath} is not a lock file of skillrail${suffix}`
  const hint = 'Delete it if no other program uses it.'
  return new StateFileError({ code: 'lock-foreign', message, hint })
}

export function isIdentity(value: unknown): value is ProcessIdentity {
  if (!isObject(value) || typeof value['host'] !== 'string') return false
  const { pid } = value
  // A signal to any other number goes to a whole group, or to every process.
  return typeof pid === 'number' && Number.isSafeInteger(pid) && pid > 0 && pid < 2 ** 31
}

/** Identifies one process, to distinguish the lock of a dead process from that of a live one. */
export interface ProcessIdentity {
  pid: number
  /** Start time in clock ticks since boot on Linux, else undefined. */
  startedAt?: string | undefined
  host: string
  /** On Linux, one value for each boot of a machine and each namespace of process IDs on it. */
  place?: string | undefined
}

export function ownIdentity(): ProcessIdentity {
  return identityOf(process.pid)
}

/** Identifies a process of this machine that runs now. */
export function identityOf(pid: number): ProcessIdentity {
  return { pid, startedAt: processStat(pid).ticks, host: hostname(), place: ownPlace() }
}

/**
 * Whether the identity's process ID means the same process here. Two containers may have the same host
 * name and process IDs, and a machine may change its name.
 */
export function isOnThisMachine({ host, place }: ProcessIdentity): boolean {
  const currentPlace = ownPlace()
  return place === undefined || currentPlace === undefined
    ? host === hostname()
    : place === currentPlace
}

/**
 * Whether a process still runs. A process on another host counts as alive. A zombie, a reused ID and a
 * process from before a restart of this host count as dead.
 */
export function isAlive(identity: ProcessIdentity): boolean {
  if (!isOnThisMachine(identity)) return identity.host !== hostname()
  try {
    process.kill(identity.pid, 0)
  } catch (error) {
    if (systemCode(error) === 'ESRCH') return false
  }
  const { state, ticks } = processStat(identity.pid)
  if (state === 'Z' || state === 'X') return false
  return identity.startedAt === undefined || ticks === identity.startedAt
}

let cachedPlace: { value: string | undefined } | undefined

function ownPlace(): string | undefined {
  cachedPlace ??= { value: readPlace() }
  return cachedPlace.value
}

function readPlace(): string | undefined {
  if (process.platform !== 'linux') return undefined
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    return `${boot} ${readlinkSync('/proc/self/ns/pid')}`
  } catch {
    return undefined
  }
}
