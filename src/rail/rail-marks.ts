import { closeSync, existsSync, openSync, readdirSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { sessionFolders } from '#core/client-folders'
import { systemCode } from '#core/errors'
import { fingerprint, fingerprintLength } from '#core/fingerprint'
import { isInside, realPathOf } from '#core/read-files'
import type { Runtime } from '#core/runtime'
import { makePrivateDirectory, removeIfThere } from '#core/write-files'
import { railsDirectory } from './place.ts'

// The name of an empty file beside the state of a rail says in which project the rail matters to other sessions.
// So the hook of a session elsewhere need not read the state. A state without such a mark matters everywhere.

/** What a rail means for other sessions of its project: an open one denies calls, a failed one can be given up. */
export type Reach = 'open' | 'failed' | 'ended'

/** The rails that the hook of any session reads in its project. */
export const openRails: ReadonlySet<Reach> = new Set<Reach>(['open'])

/** The rails that a user can give up. */
export const unendedRails: ReadonlySet<Reach> = new Set<Reach>(['open', 'failed'])

/**
 * Writes the state of a rail, with a correct mark at each moment, also after a crash: the new mark is written
 * before the state, and earlier marks are removed after it. The caller must hold the lock of the state.
 *
 * @throws the system error if the mark or the state cannot be written; the state is then unchanged
 */
export function writeMarked(
  statePath: string,
  { workspace, reach }: { workspace: string; reach: Reach },
  write: () => void,
): void {
  const mark = `${stem(statePath)}.${reach}.${fingerprint(workspace)}`
  const isNew = !existsSync(mark)
  if (isNew) {
    makePrivateDirectory(dirname(mark))
    closeSync(openSync(mark, 'a', 0o600))
  }
  write()
  if (isNew) removeMarks(statePath, mark)
}

/** Removes the marks of a state, except for one. A mark that is left behind only costs time. */
export function removeMarks(statePath: string, except?: string): void {
  const directory = dirname(statePath)
  const prefix = `${basename(stem(statePath))}.`
  for (const name of namesIn(directory) ?? []) {
    const path = resolve(directory, name)
    if (name.startsWith(prefix) && markIn(name) && path !== except) removeIfThere(path)
  }
}

/**
 * Returns the names of the state files that can matter to a session here. Undefined if the folder cannot be listed,
 * because guards may be there.
 */
export function statesHere(runtime: Runtime, reaches: ReadonlySet<Reach>): string[] | undefined {
  const names = namesIn(railsDirectory(runtime))
  const states = names?.filter((name) => name.endsWith('.json'))
  if (names === undefined || states === undefined || states.length === 0) return states
  const here = new Set(workspacesHere(runtime).map(fingerprint))
  const marked = new Set<string>()
  const needed = new Set<string>()
  for (const name of names) {
    const mark = markIn(name)
    if (mark === undefined) continue
    marked.add(mark.state)
    if (reaches.has(mark.reach) && here.has(mark.place)) needed.add(mark.state)
  }
  return states.filter((state) => needed.has(state) || !marked.has(state))
}

/**
 * Returns the real paths of every project in which the agent works or was started, also those around a repository
 * inside of them.
 */
export function workspacesHere(runtime: Runtime): string[] {
  const home = realPathOf(runtime.home) ?? runtime.home
  return [runtime.cwd, ...sessionFolders(runtime)].flatMap((folder) => {
    const place = realPathOf(folder) ?? resolve(folder)
    // A home with a rail does not include every project in it.
    return [place, ...foldersAbove(place).filter((one) => !isInside(one, home))]
  })
}

function foldersAbove(path: string): string[] {
  const parent = dirname(path)
  return parent === path ? [] : [parent, ...foldersAbove(parent)]
}

interface Mark {
  /** The name of the state file. */
  state: string
  reach: Reach
  /** The fingerprint of the workspace. */
  place: string
}

/** Reads `ID.REACH.PLACE` by its positions: splitting hundreds of names would take longer than the rest. */
function markIn(name: string): Mark | undefined {
  const reach = name.slice(fingerprintLength + 1, -fingerprintLength - 1)
  if (!isReach(reach)) return undefined
  const state = `${name.slice(0, fingerprintLength)}.json`
  return { state, reach, place: name.slice(-fingerprintLength) }
}

function isReach(text: string): text is Reach {
  return text === 'open' || text === 'failed' || text === 'ended'
}

function stem(statePath: string): string {
  return statePath.replace(/\.json$/, '')
}

/** No names if the folder is missing; undefined if it cannot be listed. */
function namesIn(directory: string): string[] | undefined {
  try {
    return readdirSync(directory)
  } catch (error) {
    return systemCode(error) === 'ENOENT' ? [] : undefined
  }
}
