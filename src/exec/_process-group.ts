import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

/** How long a group may go on after TERM before it gets KILL. */
export const killAfterMs = 2000

export interface EndingGroup {
  /** Whether KILL was sent: nothing of the group can still be alive, only unreaped. */
  killed(): boolean
  stop(): void
}

/**
 * Sends TERM to the process group of `leader`, and KILL to what is left of it after 2 s. `onChange`
 * is called while the group dies, so that the caller can look again.
 */
export function endGroup(leader: number, onChange: () => void): EndingGroup {
  let killed = false
  signalGroup(leader, 'SIGTERM')
  const killer = setTimeout(() => {
    killed = true
    signalGroup(leader, 'SIGKILL')
    onChange()
  }, killAfterMs)
  const poll = setInterval(onChange, 20)
  return {
    killed: () => killed,
    stop() {
      clearTimeout(killer)
      clearInterval(poll)
    },
  }
}

/** Ends everything in the process group of `leader`, at once. */
export function killGroup(leader: number): void {
  signalGroup(leader, 'SIGKILL')
}

/**
 * Whether no process of the group is alive. One that has ended and waits for its parent to notice is
 * not alive, although signals still reach it: in a container nobody may ever notice. On Windows there
 * are no groups: always true.
 */
export function groupIsGone(leader: number): boolean {
  if (process.platform === 'win32') return true
  try {
    process.kill(-leader, 0)
  } catch {
    return true
  }
  return process.platform === 'linux' && onlyZombies(leader)
}

function onlyZombies(leader: number): boolean {
  try {
    return readdirSync('/proc').every((name) => !/^\d+$/.test(name) || !isAlive(name, leader))
  } catch {
    return false
  }
}

function isAlive(pid: string, group: number): boolean {
  try {
    // After the name, which may contain anything but is the last in parentheses: state, parent, group.
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const [state = '', , member] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return Number(member) === group && state !== 'Z' && state !== 'X'
  } catch {
    return false
  }
}

function signalGroup(leader: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (process.platform === 'win32') {
    const force = signal === 'SIGKILL' ? ['/F'] : []
    spawn('taskkill', ['/pid', String(leader), '/T', ...force], { stdio: 'ignore' }).on(
      'error',
      () => undefined,
    )
    return
  }
  try {
    process.kill(-leader, signal)
  } catch {
    // The group ended by itself in the meantime.
  }
}
