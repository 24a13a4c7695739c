import { readFileSync } from 'node:fs'
import { systemCode } from '#core/errors'
import { objectOf, parseJson } from '#core/json'
import type { Runtime } from '#core/runtime'
import { makePrivateDirectory, removeIfThere, writeFileAtomicSync } from '#core/write-files'
import { railsDirectory, startingPath } from './place.ts'

/** Notes that a process starts a rail. Until the rail has its state, nobody knows its guards. */
export function noteStart(
  runtime: Runtime,
  session: string,
  start: { pid: number | undefined; chain: string },
): void {
  try {
    makePrivateDirectory(railsDirectory(runtime))
    writeFileAtomicSync(startingPath(runtime, session), JSON.stringify(start), { mode: 0o600 })
  } catch {
    // If this file cannot be written, the rail cannot start either.
  }
}

export function forgetStart(runtime: Runtime, session: string): void {
  try {
    removeIfThere(startingPath(runtime, session))
  } catch {
    // The process has ended by then, which counts as well.
  }
}

/** Returns the chain that is starting in the session; undefined if none is. */
export function startingChain(runtime: Runtime, session: string): string | undefined {
  const { pid, chain } = objectOf(parseJson(readText(startingPath(runtime, session))))
  return typeof pid === 'number' && isRunning(pid) ? String(chain) : undefined
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return systemCode(error) !== 'ESRCH'
  }
}
