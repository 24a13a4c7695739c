import { readdirSync, readFileSync, type StatsFs, statfsSync, statSync } from 'node:fs'
import { poll } from '#core/poll'
import type { ProcessResult } from '#exec/process'
import { groupOf, resultOr } from '#exec/process-group'
import type { SandboxRequest, SupervisedRequest } from './sandbox.ts'

export const sandboxLimits = {
  /** Seconds of CPU time for each process. */
  cpuSeconds: 600,
  /** Maximum bytes of data that each process maps and, on Linux, that all processes use in memory. */
  memoryBytes: 2 * 1024 ** 3,
  /** Maximum bytes in the temporary directory, which is memory too; on Linux. */
  diskBytes: 256 * 1024 ** 2,
  /** Maximum number of files and directories in it, which use kernel memory; on Linux. */
  temporaryFiles: 50_000,
  fileBytes: 128 * 1024 ** 2,
  openFiles: 1024,
  /** Maximum number of processes and threads together; on Linux. */
  tasks: 256,
  /** Maximum printed bytes, whether Skillrail keeps them or not. */
  printedBytes: 64 * 1024 ** 2,
}

/** Lower than everything else, so that a user can still end a program that uses the whole machine. */
const priority = 15

/**
 * Returns a shell program that lowers its limits and then executes its arguments. If a limit cannot be
 * set, it is lower already; the probe checks that the limits apply. Shells differ in the letter for
 * processes: dash and busybox use `p` for `u`.
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
 * Runs a program and stops it when it exceeds a limit. This function counts the printed bytes; the
 * backend checks the other limits and calls `stop` with a message.
 */
export async function superviseLimits(
  request: SandboxRequest,
  run: (
    supervisedRequest: SupervisedRequest,
    stop: (message: string) => void,
  ) => Promise<ProcessResult>,
): Promise<ProcessResult> {
  const { stdin, timeoutMs, outputLimit, signal, onOutput } = request
  const controller = new AbortController()
  let limitMessage: string | undefined
  let printedBytes = 0
  const stop = (message: string): void => {
    limitMessage ??= message
    controller.abort()
  }
  const supervisedRequest: SupervisedRequest = {
    stdin,
    timeoutMs,
    outputLimit,
    signal: signal ? AbortSignal.any([signal, controller.signal]) : controller.signal,
    onOutput(chunk, stream) {
      printedBytes += chunk.length
      if (printedBytes > sandboxLimits.printedBytes)
        stop(`it printed more than ${sandboxLimits.printedBytes / 1024 ** 2} MiB`)
      onOutput?.(chunk, stream)
    },
  }
  const result = await run(supervisedRequest, stop)
  const wasStopped = result.end.kind === 'aborted' && signal?.aborted !== true
  if (!wasStopped || limitMessage === undefined) return result
  return { ...result, end: { kind: 'limit', message: limitMessage } }
}

/**
 * Watches the resources that all processes of a sandbox use together: the limits of single processes do
 * not restrict these. For root, the kernel does not even restrict the number of processes.
 * @param first the ID outside of the process from which all others in the sandbox descend.
 * @returns a function that ends the watch.
 */
export function watchInhabitants(first: number, onExcess: (message: string) => void): () => void {
  const timer = setInterval(() => {
    const message = excess(first)
    if (message === undefined) return
    clearInterval(timer)
    onExcess(message)
    // The kernel ends a process namespace as soon as its first process is gone.
    resultOr(false, () => process.kill(first, 'SIGKILL'))
  }, intervalMs)
  return () => clearInterval(timer)
}

/**
 * Waits until a sandbox is empty. When its first process ends, the kernel ends all others; it may still
 * do that after bubblewrap has ended.
 */
export async function waitUntilEmpty(first: number): Promise<void> {
  await poll(() => groupOf(first) === undefined, { everyMs: 1, patienceMs })
}

const patienceMs = 2000

/** Short enough that a fork bomb has not created many processes yet. */
const intervalMs = 50

function excess(first: number): string | undefined {
  // The sandbox's process list contains only its processes, however many run outside.
  const directory = `/proc/${first}/root/proc`
  if (isOurRoot(`/proc/${first}/root`)) return undefined
  const noFiles: Pick<StatsFs, 'files' | 'ffree'> = { files: 0, ffree: 0 }
  const { files, ffree } = resultOr(noFiles, () => statfsSync(`/proc/${first}/root/tmp`))
  if (files - ffree > sandboxLimits.temporaryFiles) {
    return `it made more than ${sandboxLimits.temporaryFiles} files in /tmp`
  }
  let kilobytes = 0
  let tasks = 0
  for (const name of resultOr([], () => readdirSync(directory))) {
    if (!/^\d+$/.test(name)) continue
    const status = resultOr('', () => readFileSync(`${directory}/${name}/status`, 'latin1'))
    kilobytes += numberIn(status, /^VmRSS:\s*(\d+)/m)
    tasks += numberIn(status, /^Threads:\s*(\d+)/m)
    if (tasks > sandboxLimits.tasks)
      return `it made more than ${sandboxLimits.tasks} processes and threads`
    if (kilobytes * 1024 > sandboxLimits.memoryBytes)
      return `it used more than ${sandboxLimits.memoryBytes / 1024 ** 2} MiB of memory`
  }
  return undefined
}

/** Whether a process still has our root directory, as at its very beginning. */
function isOurRoot(path: string): boolean {
  return resultOr(true, () => {
    const [theirs, ours] = [statSync(path), statSync('/')]
    return theirs.dev === ours.dev && theirs.ino === ours.ino
  })
}

function numberIn(text: string, pattern: RegExp): number {
  return Number(pattern.exec(text)?.[1] ?? 0)
}
