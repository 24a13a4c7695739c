import { existsSync, unlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { makePrivateDirectory, writeFileAtomic } from '../core/write-files.ts'
import { realPathOf } from '../core/read-files.ts'
import { type Runtime, userDirectories } from '../core/runtime.ts'
import { sha256 } from '../core/json.ts'
import { StateFileError, systemCode } from '../core/errors.ts'
import { withFileLock } from '../core/file-lock.ts'
import { keepTexts, readKeptText, wasSecret } from './kept-texts.ts'
import {
  type CurrentSkill,
  type LockedSkill,
  maxLockBytes,
  pathTwice,
  readLock,
  serializeLock,
} from './lock.ts'
import { lockPath } from './skill-files.ts'

/** The lock of one project, and the texts that it stands for in the user's state. */
export interface LockStore {
  /** `.skillrail/skills.lock.json` in the workspace. */
  readonly path: string
  /** @throws {StateFileError} `lock-skill-unreadable` where a file of a skill cannot be vouched for. */
  requireLockable(skills: readonly CurrentSkill[]): void
  /**
   * Locks skills as they are, in place of what was locked.
   * @throws {StateFileError} as `requireLockable`, and for a lock that cannot be read, which is left
   *   as it is.
   */
  write(skills: readonly CurrentSkill[]): Promise<void>
  /** Keeps the texts of skills that are as locked, so that a later change can be shown. */
  keep(skills: readonly CurrentSkill[]): Promise<void>
  /** Removes the lock, one that cannot be read too; false where there was none. */
  remove(): Promise<boolean>
  /** Whether the project had a lock when it was last looked at here, and nobody removed it here. */
  wasLocked(): boolean
  /** The text that a digest of the lock stands for; undefined where it is not known here. */
  lockedText(digest: string): string | undefined
  /** Whether that text was not kept because it seemed to hold a secret. */
  wasSecret(digest: string): boolean
}

const waitMs = 60_000

/** @param workspace real path. Nothing is read or made until asked. */
export function openLockStore(runtime: Runtime, workspace: string): LockStore {
  const path = join(workspace, lockPath)
  const place = sha256(workspace).slice('sha256:'.length, 'sha256:'.length + 32)
  // One place for each project: what another one does not need any more may be needed here.
  const texts = join(userDirectories(runtime).state, 'trust-lock', place)
  // Beside the texts: of a lock of which no text can be kept something must be known too.
  const mark = `${texts}.locked`
  const alone = <T>(work: () => Promise<T>): Promise<T> => withFileLock(texts, work, { waitMs })
  return {
    path,
    requireLockable: (skills) => {
      lockTextOf(skills)
    },
    write: async (skills) => {
      const text = lockTextOf(skills)
      await alone(async () => {
        const reading = readLock(workspace)
        if (reading.state === 'unreadable') throw notOurs(reading.diagnostics[0]?.message ?? path)
        requireOwnDirectory(workspace)
        await writeFileAtomic(path, text)
        keepAll(skills)
      })
    },
    keep: (skills) =>
      alone(async () => {
        await Promise.resolve()
        keepAll(skills)
      }),
    remove: () =>
      alone(async () => {
        requireOwnDirectory(workspace)
        await Promise.resolve()
        keepTexts(texts, [], [])
        removed(mark)
        return removed(path)
      }),
    wasLocked: () => existsSync(mark),
    lockedText: (digest) => readKeptText(texts, digest),
    wasSecret: (digest) => wasSecret(texts, digest),
  }

  function lockTextOf(skills: readonly CurrentSkill[]): string {
    const text = serializeLock(skills.map(lockedSkill))
    if (Buffer.byteLength(text) > maxLockBytes) throw tooLarge(path)
    return text
  }

  function keepAll(skills: readonly CurrentSkill[]): void {
    makePrivateDirectory(dirname(mark))
    writeFileSync(mark, `${workspace}\n`, { mode: 0o600 })
    const files = skills.flatMap(({ tree }) => tree.files)
    keepTexts(
      texts,
      files,
      files.map(({ digest }) => digest),
    )
  }
}

/** @throws {StateFileError} `lock-skill-unreadable` or `lock-path-twice`. */
function lockedSkill({ path, name, tree }: CurrentSkill): LockedSkill {
  if (tree.digest === undefined) {
    const bad = tree.files.find(({ problem }) => problem !== undefined)
    const file = bad === undefined ? path : `${path}/${bad.path}`
    throw new StateFileError({
      code: 'lock-skill-unreadable',
      message: `${file} ${bad?.problem ?? 'cannot be read'}, so the skill cannot be locked`,
      hint: 'Remove it, make it readable, or put a copy in the place of a link; then lock the skills again.',
    })
  }
  const files = new Map(tree.files.map((file) => [file.path, file.digest]))
  // In the order of paths, so the same one twice is side by side.
  const twice = tree.files.find((file, index) => tree.files[index - 1]?.path === file.path)
  if (twice !== undefined) throw pathTwice(`${path}/${twice.path}`)
  return { path, name, digest: tree.digest, files, executable: tree.executable }
}

/** A link in the place of `.skillrail` would have the lock written anywhere. */
function requireOwnDirectory(workspace: string): void {
  const directory = join(workspace, '.skillrail')
  const real = realPathOf(directory)
  if (real !== undefined && real !== directory) {
    throw new StateFileError({
      code: 'lock-file-link',
      message: `the lock was not touched: ${directory} is a link to ${real}`,
      hint: 'Put a directory in the place of the link.',
    })
  }
}

function notOurs(message: string): StateFileError {
  return new StateFileError({
    code: 'lock-file-unreadable',
    message: `the lock was not touched: ${message}`,
    hint: 'Fix it or take it from version control again; skillrail trust --unlock removes it.',
  })
}

function tooLarge(path: string): StateFileError {
  return new StateFileError({
    code: 'lock-too-large',
    message: `the lock was not written: ${path} would be larger than ${maxLockBytes} bytes`,
    hint: 'Move what no skill needs, such as node_modules, out of the directories of the skills.',
  })
}

function removed(path: string): boolean {
  try {
    unlinkSync(path)
    return true
  } catch (error) {
    if (systemCode(error) === 'ENOENT' || systemCode(error) === 'ENOTDIR') return false
    throw error
  }
}
