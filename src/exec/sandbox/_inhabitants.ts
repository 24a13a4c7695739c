import { readdirSync, readFileSync, statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { SandboxLimits } from './limits.ts'

/**
 * Looks after what all processes of a sandbox use together, which no limit of single processes
 * bounds; for root the kernel does not even bound their number.
 *
 * @param first the process that all others in the sandbox descend from, by its number outside.
 * @param exceeded called once, with what is too much.
 * @returns how to stop looking.
 */
export function watchInhabitants(
  first: number,
  limits: SandboxLimits,
  exceeded: (message: string) => void,
): () => void {
  const timer = setInterval(() => {
    const message = excess(first, limits)
    if (message === undefined) return
    clearInterval(timer)
    exceeded(message)
    killAll(first)
  }, intervalMs)
  return () => clearInterval(timer)
}

/**
 * Waits until a sandbox is empty. Its first process ends when the script has, and takes all others
 * with it, which the kernel may still be at when bubblewrap has ended.
 */
export async function waitUntilEmpty(first: number): Promise<void> {
  for (let waited = 0; waited < patienceMs && isAlive(first); waited++) await sleep(1)
}

const patienceMs = 2000

/** One that waits to be noticed by its parent has nothing left to take with it. */
function isAlive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2))
  } catch {
    return false
  }
}

/** Short enough that a program which only makes processes has not made many. */
const intervalMs = 50

/** The kernel ends a namespace of processes at once when its first one is gone. */
function killAll(first: number): void {
  try {
    process.kill(first, 'SIGKILL')
  } catch {
    // It has just ended.
  }
}

function excess(first: number, limits: SandboxLimits): string | undefined {
  // The sandbox's own list of processes holds no others, however many there are outside.
  const directory = `/proc/${first}/root/proc`
  if (isOurRoot(`/proc/${first}/root`)) return undefined
  let kilobytes = 0
  let tasks = 0
  for (const name of listOf(directory)) {
    if (!/^\d+$/.test(name)) continue
    const status = statusOf(`${directory}/${name}`)
    kilobytes += numberIn(status, /^VmRSS:\s*(\d+)/m)
    tasks += numberIn(status, /^Threads:\s*(\d+)/m)
    if (tasks > limits.tasks) return `it made more than ${limits.tasks} processes and threads`
    if (kilobytes * 1024 > limits.memoryBytes) {
      return `it used more than ${limits.memoryBytes / 1024 ** 2} MiB of memory`
    }
  }
  return undefined
}

/** At the very beginning it still sees what we see. */
function isOurRoot(path: string): boolean {
  try {
    const [its, ours] = [statSync(path), statSync('/')]
    return its.dev === ours.dev && its.ino === ours.ino
  } catch {
    return true
  }
}

function listOf(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch {
    // It has just ended.
    return []
  }
}

function statusOf(process: string): string {
  try {
    return readFileSync(`${process}/status`, 'latin1')
  } catch {
    return ''
  }
}

function numberIn(text: string, pattern: RegExp): number {
  return Number(pattern.exec(text)?.[1] ?? 0)
}
