import { compareText, StateFileError, isObject } from '../base/index.ts'
import type { JsonPlace } from './_json-offset.ts'
import { isDigest } from './_link.ts'
import { type JsonProblem, parseProjectJson, problemAt } from './_project-json.ts'
import { treeDigest } from './_skill-tree.ts'
import type { LockedSkill } from './lock-model.ts'

/** Since 2 a skill may say which of its files may be executed. */
const version = 2
const versions: readonly unknown[] = [1, 2]

export type LockText =
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
