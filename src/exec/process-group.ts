import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

const killAfterMs = 2000

/** Ends a process group: TERM, KILL after 2 s. Resolves when nothing is alive or KILL was sent. */
export async function endGroup(
  leader: number,
  isGone: () => boolean = () => groupIsGone(leader),
): Promise<void> {
  signalGroup(leader, 'SIGTERM')
  const deadline = performance.now() + killAfterMs
  while (!isGone()) {
    if (performance.now() >= deadline) {
      signalGroup(leader, 'SIGKILL')
      return
    }
    await sleep(20)
  }
}

/**
 * Whether no process of the group is alive. One that has ended and waits for its parent to notice is
 * not alive, although signals still reach it: in a container nobody may ever notice. On Windows there
 * are no groups: always true.
 */
export function groupIsGone(leader: number): boolean {
  if (process.platform === 'win32') return true
  if (!tried(false, () => process.kill(-leader, 0))) return true
  if (process.platform !== 'linux') return false
  const ids = processIds()
  return ids.length > 0 && ids.every((pid) => groupOf(pid) !== leader)
}

/** The process group of a process of Linux; undefined for one that has ended, noticed or not. */
export function groupOf(pid: number): number | undefined {
  const stat = tried('', () => readFileSync(`/proc/${pid}/stat`, 'latin1'))
  // After the name, which may contain anything but is the last in parentheses: state, parent, group.
  const [state = '', , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return state === '' || state === 'Z' || state === 'X' ? undefined : Number(group)
}

function signalGroup(leader: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (process.platform !== 'win32') return void tried(false, () => process.kill(-leader, signal))
  const args = ['/pid', String(leader), '/T', ...(signal === 'SIGKILL' ? ['/F'] : [])]
  spawn('taskkill', args, { stdio: 'ignore' }).on('error', () => undefined)
}

/** What `look` returns, or `otherwise` where it throws: processes and their files may end meanwhile. */
export function tried<T>(otherwise: T, look: () => T): T {
  try {
    return look()
  } catch {
    return otherwise
  }
}

/**
 * Ends what an interrupted execution and its verification left behind, which must not run beside their
 * repetition. Found by the idempotency key in the environment, so that a process that forked away is
 * found too. Linux only.
 * @returns how many processes were ended.
 */
export function endOrphans(idempotencyKeys: ReadonlySet<string>): number {
  if (process.platform !== 'linux' || idempotencyKeys.size === 0) return 0
  const keys = new Set([...idempotencyKeys].flatMap((key) => [key, verificationKey(key)]))
  const ended = processIds().filter((pid) => {
    const key = idempotencyKeyOf(pid)
    if (key === undefined || !keys.has(key) || pid === process.pid) return false
    return tried(false, () => process.kill(pid, 'SIGKILL'))
  })
  return ended.length
}

/** Ends what has left the process group of an execution that we end by force. */
export function endEscaped(environment: Readonly<Record<string, string>>): void {
  const key = environment[variable]
  if (key !== undefined && key !== '') endOrphans(new Set([key]))
}

/** The idempotency key of `scripts/verify` after an execution with this one. */
export function verificationKey(key: string): string {
  return `${key}/verify`
}

function processIds(): number[] {
  const names = tried([], () => readdirSync('/proc'))
  return names.flatMap((name) => (/^\d+$/.test(name) ? Number(name) : []))
}

const variable = 'SKILLRAIL_IDEMPOTENCY_KEY'
const beginning = `${variable}=`

/** Undefined for a process of somebody else, too. */
function idempotencyKeyOf(pid: number): string | undefined {
  const environment = tried('', () => readFileSync(`/proc/${pid}/environ`, 'utf8'))
  const entry = environment.split('\0').find((text) => text.startsWith(beginning))
  return entry?.slice(beginning.length)
}

const running = new Map<number, Readonly<Record<string, string>>>()

/**
 * Has the process group of a program, and what has left it, get KILL when this process ends before
 * it: nobody waits any more at a second Ctrl-C. Not when we are killed ourselves.
 * @returns what is to be called when the program has ended.
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
