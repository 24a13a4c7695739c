import { endEscaped } from './orphans.ts'
import { killGroup } from './_process-group.ts'

const running = new Map<number, Readonly<Record<string, string>>>()

/**
 * Has the process group of a program, and what has left it, get KILL when this process ends before
 * it: nobody waits any more at a second Ctrl-C. Not when we are killed ourselves.
 *
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
    killGroup(pid)
    endEscaped(environment)
  }
}
