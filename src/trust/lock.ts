import { dirname, join } from 'node:path'
import { compareText, type Diagnostic } from '../core/diagnostic.ts'
import { isInside, readRegularFile, realPathOf } from '../core/read-files.ts'
import { isObject } from '../core/json.ts'
import { StateFileError } from '../core/errors.ts'
import {
  type EntryStats,
  entryStats,
  isDigest,
  lockedPath,
  lockPath,
  type SkillFile,
  skillTree,
  type SkillTree,
  treeDigest,
} from './skill-files.ts'
import { type JsonPlace, type JsonProblem, parseProjectJson, problemAt } from './project-json.ts'

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
    const message = `${dirname(path)} is not a directory, so there can be no lock file in it`
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
    'Fix it or take it from version control again; skillrail trust --unlock removes it. Until then no skill of the project is trusted.'
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

/** A skill as the lock file of a project has it. */
export interface LockedSkill {
  /** Its directory, relative to the workspace with `/` on every platform; `.` for the workspace. */
  path: string
  /** Only for the reader: what is compared is the tree. */
  name: string
  /** Of the whole tree, `sha256:…`. */
  digest: string
  /** Digest of each file by its path in the skill: `sha256:…`, of a link `link-sha256:…`. */
  files: ReadonlyMap<string, string>
  /**
   * Paths of the files that may be executed; undefined where the lock does not say: it is of version 1,
   * or was written on Windows.
   */
  executable: ReadonlySet<string> | undefined
}

/** A skill as it is now. */
export interface CurrentSkill {
  /** As in {@link LockedSkill}. */
  path: string
  name: string
  tree: SkillTree
}

/** `unreadable`: there is one, and nothing that it might say is believed. */
export type LockReading =
  | { state: 'none'; path: string }
  | { state: 'read'; path: string; skills: ReadonlyMap<string, LockedSkill> }
  | { state: 'unreadable'; path: string; diagnostics: readonly Diagnostic[] }

/** One skill that is not as it was locked. */
export interface LockChange {
  change: 'added' | 'removed' | 'changed'
  path: string
  name: string
  /** What is wrong with the skill as a whole, as in "PATH …": `is reached through a link`. */
  problem?: string | undefined
  files: readonly LockFileChange[]
}

export interface LockFileChange {
  change: 'added' | 'removed' | 'changed'
  /** Relative to the skill. */
  path: string
  /** The digest in the lock. */
  locked?: string | undefined
  /** Whether it may be executed now, where that is not as locked; `true` of an added one that may. */
  executable?: boolean | undefined
  /** The file as it is now. */
  file?: SkillFile | undefined
}

/** Since 2 a skill may say which of its files may be executed. */
const version = 2
const versions: readonly unknown[] = [1, 2]

type LockText =
  | { ok: true; skills: ReadonlyMap<string, LockedSkill> }
  | { ok: false; newer: boolean; problem: JsonProblem }

/**
 * The lock as text: the same skills always give the same bytes.
 *
 * @throws {StateFileError} `lock-path-twice`.
 */
export function serializeLock(skills: readonly LockedSkill[]): string {
  const sorted = skills.toSorted((a, b) => compareText(a.path, b.path))
  const twice = sorted.find(({ path }, index) => path === sorted[index - 1]?.path)
  if (twice !== undefined) throw pathTwice(twice.path)
  const value = {
    version,
    skills: sorted.map(({ path, name, digest, files, executable }) => ({
      path,
      name,
      digest,
      executable: executable && [...executable].toSorted(compareText),
      files: Object.fromEntries([...files].toSorted(([a], [b]) => compareText(a, b))),
    })),
  }
  return `${JSON.stringify(value, undefined, 2)}\n`
}

/**
 * Reads a lock. Every value is checked and copied, and what is not ours is refused as a whole: of
 * half a lock nobody could say what it still holds.
 */
export function parseLock(text: string): LockText {
  const parsed = parseProjectJson(text)
  if (!parsed.ok) return { ok: false, newer: false, problem: parsed.problem }
  try {
    return { ok: true, skills: readLockValue(parsed.value) }
  } catch (error) {
    if (!(error instanceof WrongValue)) throw error
    const { place, message, newer } = error
    return { ok: false, newer, problem: problemAt(text, place, message) }
  }
}

function readLockValue(value: unknown): ReadonlyMap<string, LockedSkill> {
  if (!isObject(value)) throw new WrongValue([], 'must be an object')
  const found = value['version']
  if (typeof found === 'number' && found > version) {
    throw new WrongValue(['version'], `has version ${found}; this Skillrail knows ${version}`, true)
  }
  if (!versions.includes(found)) {
    throw new WrongValue(['version'], `must have the version ${versions.join(' or ')}`)
  }
  const list = value['skills']
  if (!Array.isArray(list)) throw new WrongValue(['skills'], 'must have a list of skills')
  const skills = new Map<string, LockedSkill>()
  for (const [index, item] of list.entries()) {
    const skill = readSkill(item, ['skills', index], found === version)
    if (skills.has(skill.path)) {
      throw new WrongValue(['skills', index, 'path'], 'has this path twice')
    }
    skills.set(skill.path, skill)
  }
  return skills
}

function readSkill(item: unknown, place: JsonPlace, hasBits: boolean): LockedSkill {
  if (!isObject(item)) throw new WrongValue(place, 'must have an object for a skill')
  const { path, name, digest, files } = item
  if (typeof path !== 'string' || !(path === '.' || isPlainPath(path))) {
    throw new WrongValue([...place, 'path'], 'must have a relative path without . and .. here')
  }
  if (typeof name !== 'string') throw new WrongValue([...place, 'name'], 'must have a name here')
  if (!isObject(files)) throw new WrongValue([...place, 'files'], 'must have files by path here')
  const digests = new Map<string, string>()
  for (const [file, fileDigest] of Object.entries(files)) {
    const filePlace = [...place, 'files', file]
    if (!isPlainPath(file)) {
      throw new WrongValue(filePlace, 'must have a relative path without . and .. here')
    }
    if (!isDigest(fileDigest)) throw new WrongValue(filePlace, 'must have a SHA-256 digest here')
    digests.set(file, fileDigest)
  }
  const executable = hasBits ? readExecutable(item['executable'], digests, place) : undefined
  if (!isDigest(digest) || digest !== treeDigest([...digests], executable)) {
    throw new WrongValue([...place, 'digest'], 'has a digest here that is not that of the files')
  }
  return { path, name, digest, files: digests, executable }
}

function readExecutable(
  list: unknown,
  files: ReadonlyMap<string, string>,
  place: JsonPlace,
): ReadonlySet<string> | undefined {
  if (list === undefined) return undefined
  const paths = Array.isArray(list) ? list : [undefined]
  const executable = new Set<string>()
  for (const path of paths) {
    if (typeof path !== 'string' || !files.has(path) || executable.has(path)) {
      throw new WrongValue([...place, 'executable'], 'must have paths of files, each once, here')
    }
    executable.add(path)
  }
  return executable
}

/** Of two things at one path a lock could hold only one. */
export function pathTwice(path: string): StateFileError {
  return new StateFileError({
    code: 'lock-path-twice',
    message: `${path} is there twice, so nothing was locked`,
    hint: 'Rename one of them, then lock the skills again.',
  })
}

/** A path that stays below what it starts from, spelled in one way only. */
function isPlainPath(path: string): boolean {
  if (path.includes('\0')) return false
  return path.split('/').every((part) => part !== '' && part !== '.' && part !== '..')
}

/** Carries a problem out of nested readers; never leaves this file. */
class WrongValue extends Error {
  readonly place: JsonPlace
  readonly newer: boolean

  constructor(place: JsonPlace, message: string, newer = false) {
    super(message)
    this.place = place
    this.newer = newer
  }
}
