import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type * as Jsonc from 'jsonc-parser'
import { byText, compareText, type Diagnostic, StateFileError } from '#core/errors'
import { indentedJson, isObject, objectOf, parseJson, tooDeepAt } from '#core/json'
import { readRegularFile, realPathOf } from '#core/read-files'
import { entryStats, isDigest, lockPath, treeDigest } from './skill-files.ts'

export interface LockedSkill {
  path: string
  /** For readers of the file. A comparison uses the files alone. */
  name: string
  digest: string
  /** Digest of each file by its path in the skill: `sha256:…`, of a link `link-sha256:…`. */
  files: ReadonlyMap<string, string>
  /** Files that may be executed; undefined in a lock of version 1, or one written on Windows. */
  executable: ReadonlySet<string> | undefined
}

export type LockedSkills = ReadonlyMap<string, LockedSkill>

export type LockReading =
  | { state: 'none'; path: string }
  | { state: 'read'; path: string; skills: LockedSkills }
  | { state: 'unreadable'; path: string; diagnostics: readonly Diagnostic[] }

export const maxLockBytes: number = 32 * 1024 * 1024

/**
 * Reads the lock of a project, `.skillrail/skills.lock.json`. Never throws. A link, a file that
 * disappears during the read, and a file in the place of `.skillrail` count as an unreadable lock.
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
  const parsing = parseLock(file.text)
  if (parsing.ok) return { state: 'read', path, skills: parsing.skills }
  const { problem, newer } = parsing
  const code = newer ? 'lock-file-newer' : 'lock-file-corrupt'
  return unreadable(code, `the lock file ${problem}`)
}

export const unreadableHint =
  'Fix it or take it from version control again; skillrail trust --unlock removes it.'

const hints: Readonly<Record<string, string>> = {
  'lock-file-newer': 'Use the newer Skillrail; the file was not touched.',
  'lock-directory': 'Remove it, or put a directory in its place.',
}

/** A lock of version 2 can list the files of a skill that may be executed. */
const version = 2

/** `problem`: as in "the lock file …". */
type LockText = { ok: true; skills: LockedSkills } | { ok: false; newer: boolean; problem: string }

const maxDepth = 16

/** Parses the text of a lock. One invalid value makes the whole lock invalid. */
export function parseLock(text: string): LockText {
  const refuse = (problem: string, newer = false): LockText => ({ ok: false, newer, problem })
  if (tooDeepAt(text, maxDepth) !== undefined) return refuse(`is nested too deep`)
  const value = parseJson(text)
  if (value === undefined) return refuse('is not JSON')
  if (hasDuplicateKey(text)) return refuse('has a key twice in one object')
  const { version: fileVersion, skills: list } = objectOf(value)
  if (typeof fileVersion === 'number' && fileVersion > version) {
    return refuse(`has version ${fileVersion}; this Skillrail knows ${version}`, true)
  }
  if (fileVersion !== 1 && fileVersion !== version) return refuse('must have the version 1 or 2')
  if (!Array.isArray(list)) return refuse('must have a list of skills')
  const skills = new Map<string, LockedSkill>()
  for (const [index, item] of list.entries()) {
    const skill = readSkill(item, fileVersion === version)
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

/** If a key occurs twice, `JSON.parse` takes the last value, and other readers may take the first. */
function hasDuplicateKey(text: string): boolean {
  const jsonc: typeof Jsonc = createRequire(import.meta.url)('jsonc-parser')
  const keysOfOpenObjects: Set<string>[] = []
  let hasDuplicate = false
  jsonc.visit(text, {
    onObjectBegin: () => void keysOfOpenObjects.push(new Set()),
    onObjectEnd: () => void keysOfOpenObjects.pop(),
    onObjectProperty(name) {
      const keys = keysOfOpenObjects.at(-1)
      hasDuplicate ||= keys?.has(name) === true
      keys?.add(name)
    },
  })
  return hasDuplicate
}

/** Checked without a schema library, because the hook reads locks too and has none. */
function readSkill(item: unknown, canListExecutables: boolean): LockedSkill | undefined {
  if (!isObject(item)) return undefined
  const { path, name, digest, files } = item
  if (typeof path !== 'string' || !(path === '.' || isPlainPath(path))) return undefined
  if (typeof name !== 'string' || !isDigest(digest) || !isObject(files)) return undefined
  const digests = new Map<string, string>()
  for (const [file, fileDigest] of Object.entries(files)) {
    if (!isPlainPath(file) || !isDigest(fileDigest)) return undefined
    digests.set(file, fileDigest)
  }
  const list = canListExecutables ? item['executable'] : undefined
  const skill = { path, name, digest, files: digests, executable: undefined }
  if (list === undefined) return skill
  if (!Array.isArray(list)) return undefined
  const executable = new Set(list.filter((each) => typeof each === 'string' && digests.has(each)))
  return executable.size === list.length ? { ...skill, executable } : undefined
}

/** Whether a path stays below its folder and has no second spelling. */
function isPlainPath(path: string): boolean {
  if (path.includes('\0')) return false
  return path.split('/').every((part) => part !== '' && part !== '.' && part !== '..')
}

export function serializeLock(skills: readonly LockedSkill[]): string {
  const sortedSkills = skills.toSorted(byText('path'))
  requireUnique(sortedSkills.map(({ path }) => path))
  const value = {
    version,
    skills: sortedSkills.map(({ path, name, digest, files, executable }) => ({
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
 * Refuses two entries with the same path: a lock could record only one of them.
 * @param paths sorted.
 * @throws {StateFileError} `lock-path-twice`.
 */
export function requireUnique(paths: readonly string[]): void {
  const duplicate = paths.find((path, index) => path === paths[index - 1])
  if (duplicate === undefined) return
  const message = `${duplicate} is there twice, so nothing was locked`
  const hint = 'Rename one of them, then lock the skills again.'
  throw new StateFileError({ code: 'lock-path-twice', message, hint })
}
