import { readdirSync, readFileSync, type StatsFs, statfsSync, statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ProcessResult } from '#exec/process'
import { groupOf, tried } from '#exec/process-group'
import type { SandboxRequest, Supervised } from './sandbox.ts'

export const sandboxLimits = {
  /** Seconds of processor time of each process. */
  cpuSeconds: 600,
  /** Bytes of data that each process may map; and, on Linux, that all of them hold in memory. */
  memoryBytes: 2 * 1024 ** 3,
  /** Bytes of the temporary directory, which is memory too; on Linux. */
  diskBytes: 256 * 1024 ** 2,
  /** Files and directories in it, each of which takes memory of the kernel; on Linux. */
  temporaryFiles: 50_000,
  fileBytes: 128 * 1024 ** 2,
  openFiles: 1024,
  /** Processes and threads together; on Linux. */
  tasks: 256,
  /** Bytes that it may print, kept or not. */
  printedBytes: 64 * 1024 ** 2,
}

/** Behind everything else, so that whoever ends a program that takes all it can gets to run. */
const priority = 15

/**
 * A shell program that lowers its limits and becomes its arguments. A limit that cannot be set is
 * lower already; whether they hold is looked at by the probe. Shells do not agree on the letter for
 * processes: `p` is what dash and busybox call `u`.
 */
export function limitingProgram(countsTasks: boolean): string {
  const { cpuSeconds, memoryBytes, fileBytes, openFiles, tasks } = sandboxLimits
  const lines = [
    'ulimit -c 0',
    `ulimit -t ${cpuSeconds}`,
    `ulimit -d ${Math.ceil(memoryBytes / 1024)}`,
    `ulimit -f ${Math.ceil(fileBytes / 512)}`,
    `ulimit -n ${openFiles}`,
    ...(countsTasks ? [`ulimit -u ${tasks} || ulimit -p ${tasks}`] : []),
  ]
  return `{ ${lines.join('; ')}; } 2>/dev/null; exec nice -n ${priority} "$@"`
}

/**
 * Runs something that may be stopped because it exceeds a limit: the output that it prints is
 * counted here, everything else by the backend, which calls `stop` with what was too much.
 */
export async function superviseLimits(
  request: SandboxRequest,
  run: (supervised: Supervised, stop: (message: string) => void) => Promise<ProcessResult>,
): Promise<ProcessResult> {
  const { stdin, timeoutMs, outputLimit, signal, onOutput } = request
  const controller = new AbortController()
  let exceeded: string | undefined
  let printed = 0
  const stop = (message: string): void => {
    exceeded ??= message
    controller.abort()
  }
  const supervised: Supervised = {
    stdin,
    timeoutMs,
    outputLimit,
    signal: signal ? AbortSignal.any([signal, controller.signal]) : controller.signal,
    onOutput(chunk, stream) {
      printed += chunk.length
      if (printed > sandboxLimits.printedBytes)
        stop(`it printed more than ${sandboxLimits.printedBytes / 1024 ** 2} MiB`)
      onOutput?.(chunk, stream)
    },
  }
  const result = await run(supervised, stop)
  const ended = result.end.kind === 'aborted' && signal?.aborted !== true
  if (!ended || exceeded === undefined) return result
  return { ...result, end: { kind: 'limit', message: exceeded } }
}

/**
 * Looks after what all processes of a sandbox use together, which no limit of single processes
 * bounds; for root the kernel does not even bound their number.
 * @param first the process that all others in the sandbox descend from, by its number outside.
 * @returns how to stop looking.
 */
export function watchInhabitants(first: number, exceeded: (message: string) => void): () => void {
  const timer = setInterval(() => {
    const message = excess(first)
    if (message === undefined) return
    clearInterval(timer)
    exceeded(message)
    // The kernel ends a namespace of processes at once when its first one is gone.
    tried(false, () => process.kill(first, 'SIGKILL'))
  }, intervalMs)
  return () => clearInterval(timer)
}

/**
 * Waits until a sandbox is empty. Its first process ends when the script has, and takes all others
 * with it, which the kernel may still be at when bubblewrap has ended.
 */
export async function waitUntilEmpty(first: number): Promise<void> {
  for (let waited = 0; waited < patienceMs && groupOf(first) !== undefined; waited++) await sleep(1)
}

const patienceMs = 2000

/** Short enough that a program which only makes processes has not made many. */
const intervalMs = 50

function excess(first: number): string | undefined {
  // The sandbox's own list of processes holds no others, however many there are outside.
  const directory = `/proc/${first}/root/proc`
  if (isOurRoot(`/proc/${first}/root`)) return undefined
  const noFiles: Pick<StatsFs, 'files' | 'ffree'> = { files: 0, ffree: 0 }
  const { files, ffree } = tried(noFiles, () => statfsSync(`/proc/${first}/root/tmp`))
  if (files - ffree > sandboxLimits.temporaryFiles) {
    return `it made more than ${sandboxLimits.temporaryFiles} files in /tmp`
  }
  let kilobytes = 0
  let tasks = 0
  for (const name of tried([], () => readdirSync(directory))) {
    if (!/^\d+$/.test(name)) continue
    const status = tried('', () => readFileSync(`${directory}/${name}/status`, 'latin1'))
    kilobytes += numberIn(status, /^VmRSS:\s*(\d+)/m)
    tasks += numberIn(status, /^Threads:\s*(\d+)/m)
    if (tasks > sandboxLimits.tasks)
      return `it made more than ${sandboxLimits.tasks} processes and threads`
    if (kilobytes * 1024 > sandboxLimits.memoryBytes)
      return `it used more than ${sandboxLimits.memoryBytes / 1024 ** 2} MiB of memory`
  }
  return undefined
}

/** At the very beginning it still sees what we see. */
function isOurRoot(path: string): boolean {
  return tried(true, () => {
    const [its, ours] = [statSync(path), statSync('/')]
    return its.dev === ours.dev && its.ino === ours.ino
  })
}

function numberIn(text: string, pattern: RegExp): number {
  return Number(pattern.exec(text)?.[1] ?? 0)
}
