import { readdirSync, readFileSync } from 'node:fs'

/**
 * Ends what an interrupted execution left behind: a `kill -9` of ours leaves its script alive, and
 * it must not run beside its repetition. Found by the idempotency key in the environment, so that a
 * process that forked away is found too. Linux only; elsewhere the answer is 0.
 *
 * @returns how many processes were ended.
 */
export function endOrphans(idempotencyKeys: ReadonlySet<string>): number {
  if (process.platform !== 'linux' || idempotencyKeys.size === 0) return 0
  let ended = 0
  for (const name of processIds()) {
    const key = idempotencyKeyOf(name)
    if (key === undefined || !idempotencyKeys.has(key) || Number(name) === process.pid) continue
    try {
      process.kill(Number(name), 'SIGKILL')
      ended++
    } catch {
      // It ended by itself.
    }
  }
  return ended
}

function processIds(): string[] {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  } catch {
    return []
  }
}

const variable = 'SKILLRAIL_IDEMPOTENCY_KEY='

function idempotencyKeyOf(pid: string): string | undefined {
  try {
    const environment = readFileSync(`/proc/${pid}/environ`, 'utf8')
    const entry = environment.split('\0').find((text) => text.startsWith(variable))
    return entry?.slice(variable.length)
  } catch {
    // A process of somebody else, or one that has just ended.
    return undefined
  }
}
