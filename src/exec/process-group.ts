import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { poll } from '#core/poll'
import { processStat } from '#core/process-stat'
import { windowsProgram } from '#core/find-program'

const killAfterMs = 2000

/** Ends a process group: TERM, then KILL after 2 s. Resolves when the group is gone or KILL was sent. */
export async function endGroup(
  leader: number,
  isGone: () => boolean = () => groupIsGone(leader),
): Promise<void> {
  signalGroup(leader, 'SIGTERM')
  const hasEnded = await poll(isGone, { everyMs: 20, patienceMs: killAfterMs })
  if (!hasEnded) signalGroup(leader, 'SIGKILL')
}

/**
 * Whether no process of the group is alive. A zombie does not count as alive, although signals still
 * reach it: in a container its parent may never wait for it. Windows has no groups: always true.
 */
export function groupIsGone(leader: number): boolean {
  if (process.platform === 'win32') return true
  if (!resultOr(false, () => process.kill(-leader, 0))) return true
  if (process.platform !== 'linux') return false
  const ids = processIds()
  return ids.length > 0 && ids.every((pid) => groupOf(pid) !== leader)
}

/** The process group of a process of Linux; undefined for one that has ended, noticed or not. */
export function groupOf(pid: number): number | undefined {
  const { state, group } = processStat(pid)
  return state === undefined || state === 'Z' || state === 'X' ? undefined : Number(group)
}

function signalGroup(leader: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (process.platform !== 'win32') return void resultOr(false, () => process.kill(-leader, signal))
  const args = ['/pid', String(leader), '/T', ...(signal === 'SIGKILL' ? ['/F'] : [])]
  const taskkill = windowsProgram('taskkill.exe', { env: process.env, cwd: process.cwd() })
  spawn(taskkill, args, { stdio: 'ignore' }).on('error', () => undefined)
}

/** Returns the result of `look`, or `otherwise` if it throws: a process or file may be gone already. */
export function resultOr<T>(otherwise: T, look: () => T): T {
  try {
    return look()
  } catch {
    return otherwise
  }
}

/**
 * Ends the processes that remain from an interrupted execution and its verification: they must not run
 * beside the repetition. The idempotency key in their environment identifies them, even if they left
 * their group. Linux only.
 * @returns the number of ended processes.
 */
export function endOrphans(idempotencyKeys: ReadonlySet<string>): number {
  if (process.platform !== 'linux' || idempotencyKeys.size === 0) return 0
  const keys = new Set([...idempotencyKeys].flatMap((key) => [key, verificationKey(key)]))
  const endedPids = processIds().filter((pid) => {
    const key = idempotencyKeyOf(pid)
    if (key === undefined || !keys.has(key) || pid === process.pid) return false
    return resultOr(false, () => process.kill(pid, 'SIGKILL'))
  })
  return endedPids.length
}

/** Ends processes that left the process group of an execution, when Skillrail kills it. */
export function endEscaped(environment: Readonly<Record<string, string>>): void {
  const key = environment[variable]
  if (key !== undefined && key !== '') endOrphans(new Set([key]))
}

/** Returns the idempotency key of `scripts/verify` for an execution with the key. */
export function verificationKey(key: string): string {
  return `${key}/verify`
}

function processIds(): number[] {
  const names = resultOr([], () => readdirSync('/proc'))
  return names.flatMap((name) => (/^\d+$/.test(name) ? Number(name) : []))
}

const variable = 'SKILLRAIL_IDEMPOTENCY_KEY'
const prefix = `${variable}=`

/** Also undefined for a process of another account. */
function idempotencyKeyOf(pid: number): string | undefined {
  const environment = resultOr('', () => readFileSync(`/proc/${pid}/environ`, 'utf8'))
  const entry = environment.split('\0').find((text) => text.startsWith(prefix))
  return entry?.slice(prefix.length)
}

const running = new Map<number, Readonly<Record<string, string>>>()

/**
 * Kills a program's process group, and the processes that left it, if this process exits first: after a
 * second Ctrl-C nothing waits any more. Has no effect if this process is killed.
 * @returns a function to call when the program has ended.
 */
export function endWithUs(pid: number, environment: Readonly<Record<string, string>>): () => void {
  if (running.size === 0) process.on('exit', endAll)
  running.set(pid, environment)
  return () => {
    running.delete(pid)
    if (running.size === 0) process.off('exit', endAll)
  }
}

function endAll(): void {
  for (const [pid, environment] of running) {
    signalGroup(pid, 'SIGKILL')
    endEscaped(environment)
  }
}
