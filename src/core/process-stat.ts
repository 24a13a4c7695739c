import { readFileSync } from 'node:fs'

/** Fields of proc_pid_stat(5); empty if the process has ended, and on systems other than Linux. */
export interface ProcessStat {
  state?: string | undefined
  parent?: string | undefined
  group?: string | undefined
  /** When the process started, in clock ticks since the boot. */
  ticks?: string | undefined
}

export function processStat(pid: number): ProcessStat {
  if (process.platform !== 'linux') return {}
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // Fields 3, 4, 5 and 22, after the command, which may contain spaces and parentheses.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return { state: fields[0], parent: fields[1], group: fields[2], ticks: fields[19] }
  } catch {
    return {}
  }
}
