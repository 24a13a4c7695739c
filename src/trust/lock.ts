import { dirname, join } from 'node:path'
import {
  compareText,
  type Diagnostic,
  isInside,
  readRegularFile,
  realPathOf,
} from '../base/index.ts'
import { type EntryStats, entryStats } from './_entry-stats.ts'
import { type LockText, parseLock } from './_lock-text.ts'
import { lockedPath, lockPath, skillTree } from './_skill-tree.ts'
import type {
  CurrentSkill,
  LockChange,
  LockedSkill,
  LockFileChange,
  LockReading,
  SkillTree,
} from './lock-model.ts'

/** Enough for 200,000 files. */
export const maxLockBytes: number = 32 * 1024 * 1024

/**
 * Reads the lock of a project, `.skillrail/skills.lock.json`. Never throws. A link in its place is
 * no lock that the project has, so it counts as one that cannot be read, and so do one that goes away
 * meanwhile and what lies where its directory should.
 *
 * @param workspace real path.
 */
export function readLock(workspace: string): LockReading {
  const path = join(workspace, lockPath)
  const directory = entryStats(dirname(path))
  if (directory.kind === 'missing') return { state: 'none', path }
  const entry = entryStats(path)
  if (entry.kind === 'missing') return withoutLock(path, directory)
  const isLink = entry.kind === 'there' && entry.stats.isSymbolicLink()
  if (isLink || (realPathOf(path) ?? path) !== path) {
    return unreadable(path, {
      code: 'lock-file-link',
      message: `${path} is reached through a link`,
    })
  }
  const file = readRegularFile(path, { maxBytes: maxLockBytes, followSymlinks: false })
  if (!file.ok) return unreadable(path, { code: 'lock-file-unreadable', message: file.message })
  const parsed = parsedOnce(file.text)
  if (parsed.ok) return { state: 'read', path, skills: parsed.skills }
  const { line, column, message } = parsed.problem
  const code = parsed.newer ? 'lock-file-newer' : 'lock-file-corrupt'
  return unreadable(path, { code, message: `the lock file ${message}`, line, column })
}

function withoutLock(path: string, directory: EntryStats): LockReading {
  const is = directory.kind === 'there' ? directory.stats : undefined
  if (is !== undefined && !is.isDirectory() && !is.isSymbolicLink()) {
    const message = `${dirname(path)} is no directory, so there can be no lock file in it`
    return unreadable(path, { code: 'lock-directory', message })
  }
  return { state: 'none', path }
}

/** A chain asks for each of its steps: the same text is not read twice. */
let latest: { text: string; parsed: LockText } | undefined
function parsedOnce(text: string): LockText {
  if (latest?.text !== text) latest = { text, parsed: parseLock(text) }
  return latest.parsed
}

function unreadable(
  path: string,
  facts: Pick<Diagnostic, 'code' | 'message' | 'line' | 'column'>,
): LockReading {
  const hint =
    hints[facts.code] ??
    'Mend it or take it from version control again; skillrail trust --unlock removes it. Until then no skill of the project is trusted.'
  return { state: 'unreadable', path, diagnostics: [{ severity: 'error', path, hint, ...facts }] }
}

const hints: Readonly<Record<string, string>> = {
  'lock-file-newer': 'Use the newer Skillrail; the file was not touched.',
  'lock-directory':
    'Remove it, or put a directory in its place. Until then no skill of the project is trusted.',
}

/** Skills as they are now, each once and in the order of their paths; those outside are left out. */
export function currentSkills(
  workspace: string,
  skills: readonly { name: string; realDirectory: string }[],
): CurrentSkill[] {
  const inside = skills.filter(({ realDirectory }) => isInside(workspace, realDirectory))
  const unique = new Map(inside.map((skill) => [skill.realDirectory, skill.name]))
  return [...unique]
    .map(([directory, name]) => ({
      path: lockedPath(workspace, directory),
      name,
      tree: skillTree(workspace, directory),
    }))
    .toSorted((a, b) => compareText(a.path, b.path))
}

/**
 * What differs from a lock, in the order of paths. A locked skill that is not among `current`, since
 * it is broken or was not looked for, is read where it should be.
 */
export function lockDrift(
  workspace: string,
  locked: ReadonlyMap<string, LockedSkill>,
  current: readonly CurrentSkill[],
): LockChange[] {
  const known = new Set(current.map(({ path }) => path))
  const here = current.flatMap((skill) => compareSkill(locked.get(skill.path), skill) ?? [])
  const elsewhere = [...locked.values()]
    .filter(({ path }) => !known.has(path))
    .flatMap((skill) => changeWhereItWas(workspace, skill) ?? [])
  return [...here, ...elsewhere].toSorted((a, b) => compareText(a.path, b.path))
}

/**
 * The lock that a workspace is held to: its own, else the nearest one above. A `.git` in a folder makes
 * that a workspace, and whoever can write a skill can write that too.
 */
export function nearestLock(workspace: string): { place: string; reading: LockReading } {
  for (let place = workspace; ; place = dirname(place)) {
    const reading = readLock(place)
    if (reading.state !== 'none' || dirname(place) === place) return { place, reading }
  }
}

export type NearestLock = ReturnType<typeof nearestLock>

/** {@link nearestLock}, looked for when it is first asked for and then kept: for all skills of a plan. */
export function lockReadOnce(workspace: string): () => NearestLock {
  let lock: NearestLock | undefined
  return () => (lock ??= nearestLock(workspace))
}

/** The lock that holds a workspace without one of its own, by its path; undefined where none does. */
export function lockAbove(workspace: string): string | undefined {
  const { place, reading } = nearestLock(workspace)
  return place === workspace || reading.state === 'none' ? undefined : reading.path
}

/**
 * What a skill is by the lock of its project; undefined where there is no lock, or it is as locked.
 *
 * @param lock of that workspace.
 */
export function lockStateOf(
  workspace: string,
  directory: string,
  { place, reading } = nearestLock(workspace),
): 'drifted' | 'unreadable' | undefined {
  if (!isInside(workspace, directory) || reading.state === 'none') return undefined
  if (reading.state === 'unreadable') return 'unreadable'
  return driftOf(place, directory, reading.skills)
}

function driftOf(
  workspace: string,
  directory: string,
  skills: ReadonlyMap<string, LockedSkill>,
): 'drifted' | undefined {
  const locked = skills.get(lockedPath(workspace, directory))
  if (locked === undefined) return 'drifted'
  const tree = skillTree(workspace, directory)
  return compareSkill(locked, { ...locked, tree }) === undefined ? undefined : 'drifted'
}

function changeWhereItWas(workspace: string, locked: LockedSkill): LockChange | undefined {
  const { path, name } = locked
  const directory = join(workspace, path)
  const real = realPathOf(directory)
  if (real === undefined) return { change: 'removed', path, name, files: [] }
  if (real !== (path === '.' ? workspace : directory)) {
    const problem = 'is reached through a link'
    return { change: 'changed', path, name, problem, files: [] }
  }
  return compareSkill(locked, { path, name, tree: skillTree(workspace, real) })
}

function compareSkill(
  locked: LockedSkill | undefined,
  { path, name, tree }: CurrentSkill,
): LockChange | undefined {
  const files = compareFiles(locked, tree)
  if (locked === undefined) return { change: 'added', path, name, files }
  const isSame = tree.digest !== undefined && tree.files.length === locked.files.size
  if (isSame && files.length === 0) return undefined
  return { change: 'changed', path, name, files }
}

/** What may be executed counts only where both sides know. */
function compareFiles(locked: LockedSkill | undefined, tree: SkillTree): LockFileChange[] {
  const now = new Set(tree.files.map(({ path }) => path))
  const changes: LockFileChange[] = [...(locked?.files ?? [])]
    .filter(([path]) => !now.has(path))
    .map(([path, digest]) => ({ change: 'removed', path, locked: digest }))
  for (const file of tree.files) {
    const { path, digest } = file
    const before = locked?.files.get(path)
    if (before === undefined) {
      changes.push({ change: 'added', path, file, executable: file.executable })
      continue
    }
    const is = tree.executable?.has(path)
    const was = locked?.executable?.has(path)
    const executable = is === undefined || was === undefined || is === was ? undefined : is
    if (before === digest && executable === undefined) continue
    changes.push({ change: 'changed', path, locked: before, file, executable })
  }
  return changes.toSorted((a, b) => compareText(a.path, b.path))
}
