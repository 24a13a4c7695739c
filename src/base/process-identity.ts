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
 * at from here. A process id that was given to another program since does not, nor a process that
 * has ended and that nobody waits for, as happens in containers without an init.
 */
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

function startTicks(pid: number): string | undefined {
  return processStat(pid).ticks
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
