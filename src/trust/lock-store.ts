import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { StateFileError } from '#core/errors'
import { withFileLock } from '#core/file-lock'
import { hexDigest } from '#core/json'
import { realPathOf } from '#core/read-files'
import { type Runtime, userDirectories } from '#core/runtime'
import { makePrivateDirectory, writeFileAtomic } from '#core/write-files'
import { KeptTexts } from './kept-texts.ts'
import {
  maxLockBytes,
  readLock,
  requireUnique,
  serializeLock,
  unreadableHint,
} from './lock-file.ts'
import type { CurrentSkill } from './lock.ts'
import { entryStats, lockPath } from './skill-files.ts'

/** Writes and removes a project's lock, and keeps the locked texts for later diffs. */
export class LockStore {
  readonly path: string
  readonly texts: KeptTexts
  private readonly workspace: string
  private readonly directory: string
  /** A file that exists while the project has a lock, as far as this user knows. */
  private readonly mark: string

  constructor(runtime: Runtime, workspace: string) {
    const name = hexDigest(workspace, 32)
    this.workspace = workspace
    this.path = join(workspace, lockPath)
    this.directory = join(userDirectories(runtime).state, 'trust-lock', name)
    this.texts = new KeptTexts(this.directory)
    this.mark = `${this.directory}.locked`
  }

  /** Whether the project had a lock when this user last looked, and this user did not remove the lock. */
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
      requireRealDirectory(this.workspace)
      await writeFileAtomic(this.path, text)
      this.keepAll(skills)
    })
  }

  /** Keeps the texts of skills that match the lock, so that a later change can be shown. */
  async keep(skills: readonly CurrentSkill[]): Promise<void> {
    await this.alone(async () => this.keepAll(skills))
  }

  /** Removes the lock; false if there was none. */
  remove(): Promise<boolean> {
    return this.alone(async () => {
      requireRealDirectory(this.workspace)
      this.texts.keep([], [])
      rmSync(this.mark, { force: true })
      const { stats, problem } = entryStats(this.path)
      const exists = stats !== undefined || problem !== undefined
      if (exists) rmSync(this.path)
      return exists
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

/**
 * Returns the text of a lock file for skills.
 * @throws {StateFileError} `lock-skill-unreadable`, `lock-path-twice` or `lock-too-large`.
 */
export function lockText(skills: readonly CurrentSkill[], lockFile: string): string {
  const text = serializeLock(
    skills.map(({ path, name, tree }) => {
      const { digest, files, executable } = tree
      if (digest === undefined) {
        const unreadableFile = files.find(({ problem }) => problem !== undefined)
        const file = unreadableFile ? `${path}/${unreadableFile.path}` : path
        const message = `${file} ${unreadableFile?.problem ?? 'cannot be read'}, so the skill cannot be locked`
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

/** If `.skillrail` is a link, the lock would be written wherever the link leads. */
function requireRealDirectory(workspace: string): void {
  const directory = join(workspace, '.skillrail')
  const realDirectory = realPathOf(directory)
  if (realDirectory === undefined || realDirectory === directory) return
  const message = `the lock was not touched: ${directory} is a link to ${realDirectory}`
  const hint = 'Put a directory in the place of the link.'
  throw new StateFileError({ code: 'lock-file-link', message, hint })
}
