import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * The command lines of all processes that belong to a directory: it is in their environment (as
 * their home), in their arguments, or they work in it. Ended ones without a waiting parent do not count.
 */
export function processesOf(directory: string): { pid: number; command: string }[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((name) => {
      const command = contentOf(`/proc/${name}/cmdline`).replaceAll('\0', ' ').trim()
      const facts = [command, contentOf(`/proc/${name}/environ`), workingDirectory(name)]
      const belongs = command !== '' && facts.some((fact) => fact.includes(directory))
      return belongs ? [{ pid: Number(name), command }] : []
    })
}

/** The processes that are still there after a while: a process needs a moment to end. */
export async function processesLeft(directory: string): Promise<string[]> {
  for (let round = 0; round < 100; round++) {
    if (processesOf(directory).length === 0) return []
    await sleep(50)
  }
  return processesOf(directory).map(({ pid, command }) => `${pid} ${command}`)
}

function contentOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

function workingDirectory(pid: string): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`)
  } catch {
    return ''
  }
}
