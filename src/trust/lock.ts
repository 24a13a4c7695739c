import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type * as Jsonc from 'jsonc-parser'
import { byText, compareText, type Diagnostic, StateFileError } from '#core/errors'
import { hexDigest, indentedJson, isObject, objectOf, parseJson, tooDeepAt } from '#core/json'
import { isInside, readRegularFile, realPathOf } from '#core/read-files'
import {
  entryStats,
  isDigest,
  lockedPath,
  lockPath,
  type SkillFile,
  type SkillTree,
  skillTree,
  treeDigest,
} from './skill-files.ts'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { withFileLock } from '#core/file-lock'
import { type Runtime, userDirectories } from '#core/runtime'
import { makePrivateDirectory, writeFileAtomic } from '#core/write-files'
import { KeptTexts } from './store.ts'

interface LockedSkill {
  path: string
  /** Only for the reader: what is compared is the tree. */
  name: string
  digest: string
  /** Digest of each file by its path in the skill: `sha256:…`, of a link `link-sha256:…`. */
  files: ReadonlyMap<string, string>
  /** Files that may be executed; undefined in a lock of version 1, or one written on Windows. */
  executable: ReadonlySet<string> | undefined
}

type LockedSkills = ReadonlyMap<string, LockedSkill>

export interface CurrentSkill {
  path: string
  name: string
  tree: SkillTree
}

export type LockReading =
  | { state: 'none'; path: string }
  | { state: 'read'; path: string; skills: LockedSkills }
  | { state: 'unreadable'; path: string; diagnostics: readonly Diagnostic[] }

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
  path: string
  locked?: string | undefined
  /** Whether it may be executed now, where that is not as locked; `true` of an added one that may. */
  executable?: boolean | undefined
  file?: SkillFile | undefined
}

export const maxLockBytes: number = 32 * 1024 * 1024

/**
 * Reads the lock of a project, `.skillrail/skills.lock.json`. Never throws. A link, a file that goes
 * away meanwhile and a file in the place of its directory count as a lock that cannot be read.
 * @param workspace real path.
 */
export function readLock(workspace: string): LockReading {
  const path = join(workspace, lockPath)
  const unreadable = (code: string, message: string): LockReading => {
    const hint = hints[code] ?? unreadableHint
    const diagnostic = { code, severity: 'error', message, path, hint } as const
    return { state: 'unreadable', path, diagnostics: [diagnostic] }
  }
  const { stats: directory } = entryStats(dirname(path))
  const entry = entryStats(path)
  if (!entry.stats && entry.problem === undefined) {
    if (!directory || directory.isDirectory() || directory.isSymbolicLink())
      return { state: 'none', path }
    const message = `${dirname(path)} is not a directory, so there can be no lock file in it`
    return unreadable('lock-directory', message)
  }
  if (entry.stats?.isSymbolicLink() || (realPathOf(path) ?? path) !== path) {
    return unreadable('lock-file-link', `${path} is reached through a link`)
  }
  const file = readRegularFile(path, { maxBytes: maxLockBytes, followSymlinks: false })
  if (!file.ok) return unreadable('lock-file-unreadable', file.message)
  const parsed = parseLock(file.text)
  if (parsed.ok) return { state: 'read', path, skills: parsed.skills }
  const { problem, newer } = parsed
  const code = newer ? 'lock-file-newer' : 'lock-file-corrupt'
  return unreadable(code, `the lock file ${problem}`)
}

const unreadableHint =
  'Fix it or take it from version control again; skillrail trust --unlock removes it.'

const hints: Readonly<Record<string, string>> = {
  'lock-file-newer': 'Use the newer Skillrail; the file was not touched.',
  'lock-directory': 'Remove it, or put a directory in its place.',
}

/** Since 2 a skill may say which of its files may be executed. */
const version = 2

/** `problem`: as in "the lock file …". */
type LockText = { ok: true; skills: LockedSkills } | { ok: false; newer: boolean; problem: string }

const maxDepth = 16

export function serializeLock(skills: readonly LockedSkill[]): string {
  const sorted = skills.toSorted(byText('path'))
  requireUnique(sorted.map(({ path }) => path))
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
  return indentedJson(value)
}

/**
 * Of two things at one path a lock could hold only one.
 * @param paths sorted.
 * @throws {StateFileError} `lock-path-twice`.
 */
export function requireUnique(paths: readonly string[]): void {
  const twice = paths.find((path, index) => path === paths[index - 1])
  if (twice === undefined) return
  const message = `${twice} is there twice, so nothing was locked`
  const hint = 'Rename one of them, then lock the skills again.'
  throw new StateFileError({ code: 'lock-path-twice', message, hint })
}

/** Reads a lock. One invalid value makes all of it invalid. */
export function parseLock(text: string): LockText {
  const refuse = (problem: string, newer = false): LockText => ({ ok: false, newer, problem })
  if (tooDeepAt(text, maxDepth) !== undefined) return refuse(`is nested too deep`)
  const value = parseJson(text)
  if (value === undefined) return refuse('is not JSON')
  if (hasKeyTwice(text)) return refuse('has a key twice in one object')
  const { version: found, skills: list } = objectOf(value)
  if (typeof found === 'number' && found > version) {
    return refuse(`has version ${found}; this Skillrail knows ${version}`, true)
  }
  if (found !== 1 && found !== version) return refuse('must have the version 1 or 2')
  if (!Array.isArray(list)) return refuse('must have a list of skills')
  const skills = new Map<string, LockedSkill>()
  for (const [index, item] of list.entries()) {
    const skill = readSkill(item, found === version)
    const number = index + 1
    if (!skill) {
      return refuse(
        `has invalid paths, digests or executable files, or no name, in skill ${number}`,
      )
    }
    const { path, digest, files, executable } = skill
    if (skills.has(path)) return refuse(`has the path of skill ${number} twice`)
    if (digest !== treeDigest([...files], executable)) {
      return refuse(`has a digest that is not that of the files in skill ${number}`)
    }
    skills.set(path, skill)
  }
  return { ok: true, skills }
}

/** Of a key that is there twice, `JSON.parse` gives the last, and other readers may take the first. */
function hasKeyTwice(text: string): boolean {
  const jsonc: typeof Jsonc = createRequire(import.meta.url)('jsonc-parser')
  const open: Set<string>[] = []
  let found = false
  jsonc.visit(text, {
    onObjectBegin: () => void open.push(new Set()),
    onObjectEnd: () => void open.pop(),
    onObjectProperty(name) {
      found ||= open.at(-1)?.has(name) === true
      open.at(-1)?.add(name)
    },
  })
  return found
}

/** Checked by hand: the hook reads locks too, and has no schema library. */
function readSkill(item: unknown, hasBits: boolean): LockedSkill | undefined {
  if (!isObject(item)) return undefined
  const { path, name, digest, files } = item
  if (typeof path !== 'string' || !(path === '.' || isPlainPath(path))) return undefined
  if (typeof name !== 'string' || !isDigest(digest) || !isObject(files)) return undefined
  const digests = new Map<string, string>()
  for (const [file, fileDigest] of Object.entries(files)) {
    if (!isPlainPath(file) || !isDigest(fileDigest)) return undefined
    digests.set(file, fileDigest)
  }
  const list = hasBits ? item['executable'] : undefined
  const skill = { path, name, digest, files: digests, executable: undefined }
  if (list === undefined) return skill
  if (!Array.isArray(list)) return undefined
  const executable = new Set(list.filter((each) => typeof each === 'string' && digests.has(each)))
  return executable.size === list.length ? { ...skill, executable } : undefined
}

/** A path that stays below what it starts from, spelled in one way only. */
function isPlainPath(path: string): boolean {
  if (path.includes('\0')) return false
  return path.split('/').every((part) => part !== '' && part !== '.' && part !== '..')
}

/** Skills as they are now, each once and in the order of their paths; those outside are left out. */
export function currentSkills(
  workspace: string,
  skills: readonly { name: string; realDirectory: string }[],
): CurrentSkill[] {
  const inside = skills.filter(({ realDirectory }) => isInside(workspace, realDirectory))
  const unique = new Map(inside.map((skill) => [skill.realDirectory, skill.name]))
  return Array.from(unique, ([directory, name]) => {
    return { path: lockedPath(workspace, directory), name, tree: skillTree(workspace, directory) }
  }).toSorted(byText('path'))
}

/** What differs from a lock, by path. A locked skill that is not among `current` is read where it should be. */
export function lockDrift(
  workspace: string,
  locked: LockedSkills,
  current: readonly CurrentSkill[],
): LockChange[] {
  const known = new Set(current.map(({ path }) => path))
  const here = current.flatMap((skill) => compareSkill(locked.get(skill.path), skill) ?? [])
  const elsewhere = [...locked.values()]
    .filter(({ path }) => !known.has(path))
    .flatMap((skill) => changeWhereItWas(workspace, skill) ?? [])
  return [...here, ...elsewhere].toSorted(byText('path'))
}

function changeWhereItWas(workspace: string, locked: LockedSkill): LockChange | undefined {
  const { path, name } = locked
  const directory = path === '.' ? workspace : join(workspace, path)
  const real = realPathOf(directory)
  if (real === undefined) return { change: 'removed', path, name, files: [] }
  if (real !== directory) {
    return { change: 'changed', path, name, problem: 'is reached through a link', files: [] }
  }
  return compareSkill(locked, { path, name, tree: skillTree(workspace, real) })
}

function compareSkill(
  locked: LockedSkill | undefined,
  { path, name, tree }: CurrentSkill,
): LockChange | undefined {
  const files = compareFiles(locked, tree)
  if (!locked) return { change: 'added', path, name, files }
  const isSame = tree.digest !== undefined && tree.files.length === locked.files.size
  if (isSame && files.length === 0) return undefined
  return { change: 'changed', path, name, files }
}

/** What may be executed counts only where both sides know. */
function compareFiles(locked: LockedSkill | undefined, tree: SkillTree): LockFileChange[] {
  const now = new Set(tree.files.map(({ path }) => path))
  const changes = [...(locked?.files ?? [])].flatMap(([path, digest]): LockFileChange[] =>
    now.has(path) ? [] : [{ change: 'removed', path, locked: digest }],
  )
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
  return changes.toSorted(byText('path'))
}

/** The lock that a workspace is held to: its own, else the nearest one above it, whatever `.git` is between. */
export function nearestLock(workspace: string) {
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

/**
 * What a skill is by the lock of its project; undefined where there is no lock, or it is as locked.
 * @param lock of that workspace.
 */
export function lockStateOf(
  workspace: string,
  directory: string,
  { place, reading } = nearestLock(workspace),
): 'drifted' | 'unreadable' | undefined {
  if (!isInside(workspace, directory) || reading.state === 'none') return undefined
  if (reading.state === 'unreadable') return 'unreadable'
  const locked = reading.skills.get(lockedPath(place, directory))
  if (!locked) return 'drifted'
  const tree = skillTree(place, directory)
  return compareSkill(locked, { ...locked, tree }) ? 'drifted' : undefined
}

export class LockStore {
  readonly path: string
  readonly texts: KeptTexts
  private readonly workspace: string
  private readonly directory: string
  /** A file that says that the project had a lock. */
  private readonly mark: string

  constructor(runtime: Runtime, workspace: string) {
    const name = hexDigest(workspace, 32)
    this.workspace = workspace
    this.path = join(workspace, lockPath)
    this.directory = join(userDirectories(runtime).state, 'trust-lock', name)
    this.texts = new KeptTexts(this.directory)
    this.mark = `${this.directory}.locked`
  }

  /** Whether the project had a lock when it was last looked at here, and nobody removed it here. */
  wasLocked(): boolean {
    return existsSync(this.mark)
  }

  /** Locks skills as they are. @throws {StateFileError} as {@link lockText}. */
  async write(skills: readonly CurrentSkill[]): Promise<void> {
    const text = lockText(skills, this.path)
    await this.alone(async () => {
      const reading = readLock(this.workspace)
      if (reading.state === 'unreadable') {
        const message = `the lock was not touched: ${reading.diagnostics[0]?.message ?? this.path}`
        throw new StateFileError({ code: 'lock-file-unreadable', message, hint: unreadableHint })
      }
      requireOwnDirectory(this.workspace)
      await writeFileAtomic(this.path, text)
      this.keepAll(skills)
    })
  }

  /** Keeps the texts of skills that are as locked, so that a later change can be shown. */
  async keep(skills: readonly CurrentSkill[]): Promise<void> {
    await this.alone(async () => this.keepAll(skills))
  }

  remove(): Promise<boolean> {
    return this.alone(async () => {
      requireOwnDirectory(this.workspace)
      this.texts.keep([], [])
      rmSync(this.mark, { force: true })
      const { stats, problem } = entryStats(this.path)
      const isThere = stats !== undefined || problem !== undefined
      if (isThere) rmSync(this.path)
      return isThere
    })
  }

  private alone<T>(work: () => Promise<T>): Promise<T> {
    return withFileLock(this.directory, work, { waitMs: 60_000 })
  }

  private keepAll(skills: readonly CurrentSkill[]): void {
    makePrivateDirectory(dirname(this.mark))
    writeFileSync(this.mark, `${this.workspace}\n`, { mode: 0o600 })
    const files = skills.flatMap(({ tree }) => tree.files)
    const digests = files.map(({ digest }) => digest)
    this.texts.keep(files, digests)
  }
}

export function lockText(skills: readonly CurrentSkill[], lockFile: string): string {
  const text = serializeLock(
    skills.map(({ path, name, tree }) => {
      const { digest, files, executable } = tree
      if (digest === undefined) {
        const bad = files.find(({ problem }) => problem !== undefined)
        const file = bad ? `${path}/${bad.path}` : path
        const message = `${file} ${bad?.problem ?? 'cannot be read'}, so the skill cannot be locked`
        const hint = 'Remove it, make it readable, or put a copy in the place of a link.'
        throw new StateFileError({ code: 'lock-skill-unreadable', message, hint })
      }
      requireUnique(files.map((file) => `${path}/${file.path}`))
      const digests = new Map(files.map((file) => [file.path, file.digest]))
      return { path, name, digest, files: digests, executable }
    }),
  )
  if (Buffer.byteLength(text) <= maxLockBytes) return text
  const message = `the lock was not written: ${lockFile} would be larger than ${maxLockBytes} bytes`
  const hint = 'Move what no skill needs out of the directories of the skills.'
  throw new StateFileError({ code: 'lock-too-large', message, hint })
}

/** A link in the place of `.skillrail` would have the lock written anywhere. */
function requireOwnDirectory(workspace: string): void {
  const directory = join(workspace, '.skillrail')
  const real = realPathOf(directory)
  if (real === undefined || real === directory) return
  const message = `the lock was not touched: ${directory} is a link to ${real}`
  const hint = 'Put a directory in the place of the link.'
  throw new StateFileError({ code: 'lock-file-link', message, hint })
}
