import { dirname, join } from 'node:path'
import { byText } from '#core/errors'
import { isInside, realPathOf } from '#core/read-files'
import { type LockedSkill, type LockedSkills, type LockReading, readLock } from './lock-file.ts'
import { lockedPath, type SkillFile, type SkillTree, skillTree } from './skill-files.ts'

export interface NearestLock {
  /** The folder that contains the lock, or the root of the disk if there is no lock. */
  place: string
  reading: LockReading
}

/** Finds the lock that applies to a workspace: its own, else the nearest one above, across `.git` folders. */
export function nearestLock(workspace: string): NearestLock {
  for (let place = workspace; ; place = dirname(place)) {
    const reading = readLock(place)
    if (reading.state !== 'none' || dirname(place) === place) return { place, reading }
  }
}

/** Returns {@link nearestLock} as a function that reads the disk once, when it is first called. */
export function lockReadOnce(workspace: string): () => NearestLock {
  let lock: NearestLock | undefined
  return () => (lock ??= nearestLock(workspace))
}

/**
 * Compares a skill with the lock that applies to its workspace. Undefined means that there is no lock,
 * or that the skill matches it.
 * @param lock that applies to the workspace.
 */
export function lockStateOf(
  workspace: string,
  directory: string,
  { place, reading } = nearestLock(workspace),
): 'drifted' | 'unreadable' | undefined {
  if (!isInside(workspace, directory) || reading.state === 'none') return undefined
  if (reading.state === 'unreadable') return 'unreadable'
  const lockedSkill = reading.skills.get(lockedPath(place, directory))
  if (!lockedSkill) return 'drifted'
  const tree = skillTree(place, directory)
  return compareSkill(lockedSkill, { ...lockedSkill, tree }) ? 'drifted' : undefined
}

export interface CurrentSkill {
  path: string
  name: string
  tree: SkillTree
}

/** Reads skills as they are now, each once and sorted by path. Leaves out those outside the workspace. */
export function currentSkills(
  workspace: string,
  skills: readonly { name: string; realDirectory: string }[],
): CurrentSkill[] {
  const insideSkills = skills.filter(({ realDirectory }) => isInside(workspace, realDirectory))
  const unique = new Map(insideSkills.map((skill) => [skill.realDirectory, skill.name]))
  return Array.from(unique, ([directory, name]) => {
    return { path: lockedPath(workspace, directory), name, tree: skillTree(workspace, directory) }
  }).toSorted(byText('path'))
}

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
  /** Whether the file may be executed now, if the lock differs; `true` for an added executable file. */
  executable?: boolean | undefined
  file?: SkillFile | undefined
}

/** Lists the differences from a lock, sorted by path. A locked skill missing from `current` is read at its locked path. */
export function lockDrift(
  workspace: string,
  lockedSkills: LockedSkills,
  current: readonly CurrentSkill[],
): LockChange[] {
  const currentPaths = new Set(current.map(({ path }) => path))
  const changes = current.flatMap(
    (skill) => compareSkill(lockedSkills.get(skill.path), skill) ?? [],
  )
  const changesElsewhere = [...lockedSkills.values()]
    .filter(({ path }) => !currentPaths.has(path))
    .flatMap((skill) => compareAtLockedPath(workspace, skill) ?? [])
  return [...changes, ...changesElsewhere].toSorted(byText('path'))
}

function compareAtLockedPath(workspace: string, lockedSkill: LockedSkill): LockChange | undefined {
  const { path, name } = lockedSkill
  const directory = path === '.' ? workspace : join(workspace, path)
  const realDirectory = realPathOf(directory)
  if (realDirectory === undefined) return { change: 'removed', path, name, files: [] }
  if (realDirectory !== directory) {
    return { change: 'changed', path, name, problem: 'is reached through a link', files: [] }
  }
  return compareSkill(lockedSkill, { path, name, tree: skillTree(workspace, realDirectory) })
}

function compareSkill(
  lockedSkill: LockedSkill | undefined,
  { path, name, tree }: CurrentSkill,
): LockChange | undefined {
  const files = compareFiles(lockedSkill, tree)
  if (!lockedSkill) return { change: 'added', path, name, files }
  const isSame = tree.digest !== undefined && tree.files.length === lockedSkill.files.size
  if (isSame && files.length === 0) return undefined
  return { change: 'changed', path, name, files }
}

/** Executable bits are compared only if both the lock and this platform record them. */
function compareFiles(lockedSkill: LockedSkill | undefined, tree: SkillTree): LockFileChange[] {
  const currentPaths = new Set(tree.files.map(({ path }) => path))
  const changes = [...(lockedSkill?.files ?? [])].flatMap(([path, digest]): LockFileChange[] =>
    currentPaths.has(path) ? [] : [{ change: 'removed', path, locked: digest }],
  )
  for (const file of tree.files) {
    const { path, digest } = file
    const lockedDigest = lockedSkill?.files.get(path)
    if (lockedDigest === undefined) {
      changes.push({ change: 'added', path, file, executable: file.executable })
      continue
    }
    const isExecutable = tree.executable?.has(path)
    const wasExecutable = lockedSkill?.executable?.has(path)
    const isComparable = isExecutable !== undefined && wasExecutable !== undefined
    const executable = isComparable && isExecutable !== wasExecutable ? isExecutable : undefined
    if (lockedDigest === digest && executable === undefined) continue
    changes.push({ change: 'changed', path, locked: lockedDigest, file, executable })
  }
  return changes.toSorted(byText('path'))
}
