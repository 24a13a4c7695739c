import { readdirSync, readFileSync } from 'node:fs'

/**
 * Ends what an interrupted execution left behind: a `kill -9` of ours leaves its script alive, and
 * it must not run beside its repetition; nor must its verification. Found by the idempotency key in
 * the environment, so that a process that forked away is found too. Linux only; elsewhere the answer
 * is 0.
 *
 * @returns how many processes were ended.
 */
export function endOrphans(idempotencyKeys: ReadonlySet<string>): number {
  if (process.platform !== 'linux' || idempotencyKeys.size === 0) return 0
  const keys = new Set([...idempotencyKeys].flatMap((key) => [key, verificationKey(key)]))
  let ended = 0
  for (const name of processIds()) {
    const key = idempotencyKeyOf(name)
    if (key === undefined || !keys.has(key) || Number(name) === process.pid) continue
    try {
      process.kill(Number(name), 'SIGKILL')
      ended++
    } catch {
      // It ended by itself.
    }
  }
  return ended
}

/**
 * Ends what has left the process group of an execution that we end by force: {@link endOrphans} by
 * the key that its environment gave it, if any.
 */
export function endEscaped(environment: Readonly<Record<string, string>>): void {
  const key = environment[variable]
  if (key !== undefined && key !== '') endOrphans(new Set([key]))
}

/** The idempotency key of `scripts/verify` after an execution with this one. */
export function verificationKey(key: string): string {
  return `${key}/verify`
}

function processIds(): string[] {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  } catch {
    return []
  }
}

const variable = 'SKILLRAIL_IDEMPOTENCY_KEY'
const beginning = `${variable}=`

function idempotencyKeyOf(pid: string): string | undefined {
  try {
    const environment = readFileSync(`/proc/${pid}/environ`, 'utf8')
    const entry = environment.split('\0').find((text) => text.startsWith(beginning))
    return entry?.slice(beginning.length)
  } catch {
    // A process of somebody else, or one that has just ended.
    return undefined
  }
}
