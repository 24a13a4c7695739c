/** What a program in a sandbox may use up. */
export interface SandboxLimits {
  /** Seconds of processor time of each process. */
  cpuSeconds: number
  /** Bytes of data that each process may map; and, on Linux, that all of them hold in memory. */
  memoryBytes: number
  /** Bytes of the temporary directory, which is memory too; on Linux. */
  diskBytes: number
  /** Bytes of a single file. */
  fileBytes: number
  /** Open descriptors of each process. */
  openFiles: number
  /** Processes and threads together; on Linux. */
  tasks: number
  /** Bytes that it may print, kept or not. */
  printedBytes: number
}

export const defaultLimits: SandboxLimits = {
  cpuSeconds: 600,
  memoryBytes: 2 * 1024 ** 3,
  diskBytes: 256 * 1024 ** 2,
  fileBytes: 128 * 1024 ** 2,
  openFiles: 1024,
  tasks: 256,
  printedBytes: 64 * 1024 ** 2,
}

/** Behind everything else, so that whoever ends a program that takes all it can gets to run. */
const priority = 15

/**
 * A shell program that lowers its limits and becomes its arguments. A limit that cannot be set is
 * lower already; whether they hold is looked at by the probe. Shells do not agree on the letter for
 * processes: `p` is what dash and busybox call `u`.
 */
export function limitingProgram(limits: SandboxLimits, countsTasks: boolean): string {
  const kilobytes = Math.ceil(limits.memoryBytes / 1024)
  const lines = [
    'ulimit -c 0',
    `ulimit -t ${limits.cpuSeconds}`,
    `ulimit -d ${kilobytes}`,
    `ulimit -f ${Math.ceil(limits.fileBytes / 512)}`,
    `ulimit -n ${limits.openFiles}`,
    ...(countsTasks ? [`ulimit -u ${limits.tasks} || ulimit -p ${limits.tasks}`] : []),
  ]
  return `{ ${lines.join('; ')}; } 2>/dev/null; exec nice -n ${priority} "$@"`
}
