import { readFileSync, statSync } from 'node:fs'
import { isAlive, isIdentity, isOnThisMachine, type ProcessIdentity } from '#core/file-lock'
import { objectOf, parseJson } from '#core/json'
import type { Runtime } from '#core/runtime'
import { makePrivateDirectory, removeIfThere, writeFileAtomicSync } from '#core/write-files'
import { railsDirectory, startingPath } from './place.ts'

/** Notes that a process starts a rail. Until the rail has its state, nobody knows its guards. */
export function noteStart(
  runtime: Runtime,
  session: string,
  start: { process: ProcessIdentity; chain: string },
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
  const path = startingPath(runtime, session)
  const { process, chain } = objectOf(parseJson(readText(path)))
  return isIdentity(process) && stillStarts(process, path, runtime) ? String(chain) : undefined
}

/** A rail has its state long before this time is over. */
const longestStartMs = 10 * 60_000

/** After a restart of the machine, or on another one, a different process may have the same ID. */
function stillStarts(starter: ProcessIdentity, path: string, runtime: Runtime): boolean {
  if (!isAlive(starter)) return false
  if (starter.startedAt !== undefined && isOnThisMachine(starter)) return true
  const writtenAt = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
  return Math.abs(runtime.now() - writtenAt) < longestStartMs
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
