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

// The guards of chains with `guards: always`, as a user accepted them last. They are stored apart from
// the chains: whoever edits or deletes a chain takes none of them away.

/** A chain whose guards apply without a rail. */
export interface GuardedChain {
  name: string
  /** Its `SKILL.md`, relative to the workspace where it lies inside; absolute for the user's own. */
  path: string
  /** Of everything that decides when its guards open: a chain that differs now does not start. */
  digest: string
  guards: readonly { step: string; calls: string }[]
}

/** What was accepted in one place. */
export interface AcceptedGuards {
  /** The project's real path; absent for the user's own chains, which apply in every project. */
  workspace?: string | undefined
  chains: readonly GuardedChain[]
}

interface Stored extends AcceptedGuards {
  version: number
}

export type GuardsReading =
  | ({ kind: 'read' } & AcceptedGuards)
  /** Nobody knows what it guards: what could be guarded is denied. */
  | { kind: 'unreadable'; path: string; reason: string }

const storedGuards: Schema<Stored> = object({
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
  const file = readStateFile(path, storedGuards)
  if (file === undefined) return { kind: 'read', workspace, chains: [] }
  const reading = guardsOf(file)
  if (reading.kind === 'unreadable' || reading.workspace === workspace) return reading
  return { kind: 'unreadable', path, reason: 'it belongs to another project' }
}

/**
 * Everything that guards calls made in these places: records of the projects that they are in, those of
 * the user's own chains, and for a working tree without a record those of its repository. A record that
 * cannot be read may be about any of them.
 */
export function guardsIn(runtime: Runtime, places: readonly string[]): GuardsReading[] {
  const all = readAll(runtime)
  if (all.length === 0) return []
  const real = [...new Set(places)].map((place) => realPathOf(place) ?? place)
  const trees = real.map((place) => findWorkspace(place, runtime))
  const isRecorded = (tree: string): boolean =>
    all.some((one) => one.kind === 'read' && one.workspace === tree)
  const repositories = trees.flatMap((tree) => (isRecorded(tree) ? [] : (repositoryOf(tree) ?? [])))
  return all.filter((reading) => {
    if (reading.kind === 'unreadable') return true
    const { workspace } = reading
    if (workspace === undefined || real.some((place) => isInside(workspace, place))) return true
    return repositories.length > 0 && repositories.includes(repositoryOf(workspace) ?? '')
  })
}

/** The guards that always apply in a folder, as they are listed for a user. */
export interface AppliedGuards {
  chains: readonly {
    name: string
    path: string
    /** In words, such as `git push`. */
    calls: readonly string[]
    /** Whether it is one of the user's own chains. */
    isOwn: boolean
  }[]
  /** Records that cannot be read: until they can, commands and MCP tools are denied. */
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

/** Whether anything is guarded anywhere, as far as that can be read. */
export function hasAcceptedGuards(runtime: Runtime): boolean {
  return readAll(runtime).some((one) => one.kind === 'unreadable' || one.chains.length > 0)
}

function readAll(runtime: Runtime): GuardsReading[] {
  return readStateFolder(guardsDirectory(runtime), storedGuards).map(guardsOf)
}

function guardsOf(file: StateFile<Stored>): GuardsReading {
  if (file.kind === 'unreadable') return file
  const { workspace, chains } = file.value
  return { kind: 'read', workspace, chains }
}

/** Replaces what was accepted. @throws where the state cannot be written: then what was there applies. */
export function acceptGuards(runtime: Runtime, { workspace, chains }: AcceptedGuards): void {
  const path = guardsPath(runtime, workspace)
  const others = readAll(runtime).filter((one) => !isOf(one, workspace, path))
  // A record without chains keeps a working tree from those that its repository has elsewhere.
  const isNeeded = chains.length > 0 || (workspace !== undefined && others.length > 0)
  if (!isNeeded) {
    removeGuards(runtime, workspace)
    return
  }
  makePrivateDirectory(dirname(path))
  const stored: Stored = { version: 1, ...(workspace === undefined ? {} : { workspace }), chains }
  writeFileAtomicSync(path, `${JSON.stringify(stored)}\n`, { mode: 0o600 })
}

/** Removes what was accepted for a workspace; false if there was nothing. */
export function removeGuards(runtime: Runtime, workspace: string | undefined): boolean {
  const had = readStateFile(guardsPath(runtime, workspace), storedGuards) !== undefined
  removeIfThere(guardsPath(runtime, workspace))
  const rest = readAll(runtime)
  const isEmpty = rest.every((one) => one.kind === 'read' && one.chains.length === 0)
  if (!isEmpty) return had
  for (const one of rest) if (one.kind === 'read') removeIfThere(guardsPath(runtime, one.workspace))
  try {
    rmdirSync(guardsDirectory(runtime))
  } catch {
    // It is not there, or has a file of someone else: the hook looks once more than it must.
  }
  return had
}

function isOf(reading: GuardsReading, workspace: string | undefined, path: string): boolean {
  return reading.kind === 'unreadable' ? reading.path === path : reading.workspace === workspace
}

/** Whether a record is about the chain that another path names, seen from its own workspace. */
export function isSameChain(
  accepted: { workspace: string | undefined; path: string },
  other: { workspace: string; path: string },
): boolean {
  // The user's own chains are stored with absolute paths.
  if (accepted.workspace === undefined) {
    return accepted.path === resolve(other.workspace, other.path)
  }
  if (accepted.path !== other.path) return false
  if (accepted.workspace === other.workspace) return true
  const repository = repositoryOf(accepted.workspace)
  return repository !== undefined && repository === repositoryOf(other.workspace)
}
