import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { systemCode } from './errors.ts'

/** Names one process, so that a lock left by a dead one is told from a live holder's. */
export interface ProcessIdentity {
  pid: number
  /** Start time in clock ticks since boot where the platform tells (Linux), else undefined. */
  startedAt?: string | undefined
  host: string
}

export function ownIdentity(): ProcessIdentity {
  return { pid: process.pid, startedAt: startTicks(process.pid), host: hostname() }
}

/**
 * Whether the process still runs. A process of another host counts as alive: it cannot be looked
 * at from here. A process id that was given to another program since does not.
 */
export function isAlive(identity: ProcessIdentity): boolean {
  if (identity.host !== hostname()) return true
  try {
    process.kill(identity.pid, 0)
  } catch (error) {
    if (systemCode(error) === 'ESRCH') return false
  }
  return identity.startedAt === undefined || startTicks(identity.pid) === identity.startedAt
}

/** Field 22 of proc_pid_stat(5); the command in field 2 may contain spaces and parentheses. */
function startTicks(pid: number): string | undefined {
  if (process.platform !== 'linux') return undefined
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
  } catch {
    return undefined
  }
}
