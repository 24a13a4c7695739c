import { rmdirSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { hexDigest } from '#core/json'
import { findWorkspace, isInside, realPathOf } from '#core/read-files'
import type { Runtime } from '#core/runtime'
import { choice, list, object, optional, type Schema, text } from '#core/shapes'
import { readStateFile, readStateFolder, type StateFile } from '#core/state-folder'
import { makePrivateDirectory, removeIfThere, writeFileAtomicSync } from '#core/write-files'
import { guardedCalls } from '#skill/guard-words'
import { guardsDirectory } from './guards-place.ts'
import { repositoryOf } from './worktrees.ts'

// The guards of chains with `guards: always`, as a user accepted them last. They are stored separately from
// the chains, so that nobody can remove them by editing or deleting a chain.

/** A chain whose guards apply without a rail. */
export interface GuardedChain {
  name: string
  /**
   * Its `SKILL.md`, relative to the workspace if it is inside, else the absolute path of a user's own
   * chain.
   */
  path: string
  /** Digest of everything that decides when its guards open: a chain that differs now does not start. */
  digest: string
  guards: readonly { step: string; calls: string }[]
}

/** The guards that were accepted in one place. */
export interface AcceptedGuards {
  /** The project's real path; absent for the user's own chains, which apply in every project. */
  workspace?: string | undefined
  chains: readonly GuardedChain[]
}

interface StoredGuards extends AcceptedGuards {
  version: number
}

export type GuardsReading =
  | ({ kind: 'read' } & AcceptedGuards)
  /** Its guards are unknown, so every call that could be guarded is denied. */
  | { kind: 'unreadable'; path: string; reason: string }

const guardsSchema: Schema<StoredGuards> = object({
  version: choice(1),
  workspace: optional(text),
  chains: list(
    object({
      name: text,
      path: text,
      digest: text,
      guards: list(object({ step: text, calls: text })),
    }),
  ),
})

function guardsPath(runtime: Runtime, workspace: string | undefined): string {
  const name = workspace === undefined ? 'user' : hexDigest(workspace, 16)
  return join(guardsDirectory(runtime), `${name}.json`)
}

/** Reads the guards that were accepted for a workspace itself, or for the user's own chains. */
export function readAccepted(runtime: Runtime, workspace: string | undefined): GuardsReading {
  const path = guardsPath(runtime, workspace)
  const file = readStateFile(path, guardsSchema)
  if (file === undefined) return { kind: 'read', workspace, chains: [] }
  const reading = guardsOf(file)
  if (reading.kind === 'unreadable' || reading.workspace === workspace) return reading
  return { kind: 'unreadable', path, reason: 'it belongs to another project' }
}

/**
 * Returns the guards that apply to calls made in these places: those of the projects that the places are
 * in, those of the user's own chains, and for a working tree without a record those of its repository. A
 * record that cannot be read may apply to any of them.
 */
export function guardsIn(runtime: Runtime, places: readonly string[]): GuardsReading[] {
  const readings = readAll(runtime)
  if (readings.length === 0) return []
  const realPlaces = [...new Set(places)].map((place) => realPathOf(place) ?? place)
  const trees = realPlaces.map((place) => findWorkspace(place, runtime))
  const isRecorded = (tree: string): boolean =>
    readings.some((one) => one.kind === 'read' && one.workspace === tree)
  const repositories = trees.flatMap((tree) => (isRecorded(tree) ? [] : (repositoryOf(tree) ?? [])))
  return readings.filter((reading) => {
    if (reading.kind === 'unreadable') return true
    const { workspace } = reading
    if (workspace === undefined || realPlaces.some((place) => isInside(workspace, place)))
      return true
    return repositories.length > 0 && repositories.includes(repositoryOf(workspace) ?? '')
  })
}

/** The guards that always apply in a folder, in the form of a list for a user. */
export interface AppliedGuards {
  chains: readonly {
    name: string
    path: string
    /** In words, such as `git push`. */
    calls: readonly string[]
    /** Whether it is one of the user's own chains. */
    isOwn: boolean
  }[]
  /** Records that cannot be read: commands and MCP tools are denied until they can be read. */
  unreadable: readonly { path: string; reason: string }[]
}

export function appliedGuards(runtime: Runtime): AppliedGuards {
  const records = guardsIn(runtime, [runtime.cwd])
  const chains = records.flatMap((record) => {
    if (record.kind === 'unreadable') return []
    const isOwn = record.workspace === undefined
    return record.chains.map(({ name, path, guards }) => {
      const calls = [...new Set(guards.flatMap((guard) => guardedCalls(guard.calls)))]
      return { name, path: resolve(record.workspace ?? '/', path), calls, isOwn }
    })
  })
  const unreadable = records.flatMap((record) =>
    record.kind === 'unreadable' ? [{ path: record.path, reason: record.reason }] : [],
  )
  return { chains, unreadable }
}

/** Whether any record has a guard, as far as the records can be read. */
export function hasAcceptedGuards(runtime: Runtime): boolean {
  return readAll(runtime).some((one) => one.kind === 'unreadable' || one.chains.length > 0)
}

function readAll(runtime: Runtime): GuardsReading[] {
  return readStateFolder(guardsDirectory(runtime), guardsSchema).map(guardsOf)
}

function guardsOf(file: StateFile<StoredGuards>): GuardsReading {
  if (file.kind === 'unreadable') return file
  const { workspace, chains } = file.value
  return { kind: 'read', workspace, chains }
}

/**
 * Replaces the accepted guards. @throws if the state cannot be written: the earlier guards then still
 * apply.
 */
export function acceptGuards(runtime: Runtime, { workspace, chains }: AcceptedGuards): void {
  const path = guardsPath(runtime, workspace)
  const otherReadings = readAll(runtime).filter((one) => !isOf(one, workspace, path))
  // A record without chains prevents a working tree from using the record of its repository.
  const isNeeded = chains.length > 0 || (workspace !== undefined && otherReadings.length > 0)
  if (!isNeeded) {
    removeGuards(runtime, workspace)
    return
  }
  makePrivateDirectory(dirname(path))
  const record: StoredGuards = {
    version: 1,
    ...(workspace === undefined ? {} : { workspace }),
    chains,
  }
  writeFileAtomicSync(path, `${JSON.stringify(record)}\n`, { mode: 0o600 })
}

/** Removes the accepted guards of a workspace; false if there were none. */
export function removeGuards(runtime: Runtime, workspace: string | undefined): boolean {
  const had = readStateFile(guardsPath(runtime, workspace), guardsSchema) !== undefined
  removeIfThere(guardsPath(runtime, workspace))
  const readings = readAll(runtime)
  const isEmpty = readings.every((one) => one.kind === 'read' && one.chains.length === 0)
  if (!isEmpty) return had
  for (const one of readings)
    if (one.kind === 'read') removeIfThere(guardsPath(runtime, one.workspace))
  try {
    rmdirSync(guardsDirectory(runtime))
  } catch {
    // It is missing, or has a file of another program: the hook then looks once more than necessary.
  }
  return had
}

function isOf(reading: GuardsReading, workspace: string | undefined, path: string): boolean {
  return reading.kind === 'unreadable' ? reading.path === path : reading.workspace === workspace
}

/** Whether a record belongs to the chain at another path, seen from that chain's workspace. */
export function isSameChain(
  record: { workspace: string | undefined; path: string },
  chain: { workspace: string; path: string },
): boolean {
  // The user's own chains are stored with absolute paths.
  if (record.workspace === undefined) {
    return record.path === resolve(chain.workspace, chain.path)
  }
  if (record.path !== chain.path) return false
  if (record.workspace === chain.workspace) return true
  const repository = repositoryOf(record.workspace)
  return repository !== undefined && repository === repositoryOf(chain.workspace)
}
