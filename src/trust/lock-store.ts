import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { StateFileError } from '../core/errors.ts'
import { withFileLock } from '../core/file-lock.ts'
import { sha256 } from '../core/json.ts'
import { realPathOf } from '../core/read-files.ts'
import { type Runtime, userDirectories } from '../core/runtime.ts'
import { makePrivateDirectory, writeFileAtomic } from '../core/write-files.ts'
import { KeptTexts } from './store.ts'
import { type CurrentSkill, maxLockBytes, readLock, requireUnique, serializeLock } from './lock.ts'
import { entryStats, lockPath } from './skill-files.ts'

export class LockStore {
  readonly path: string
  readonly texts: KeptTexts
  private readonly workspace: string
  private readonly directory: string
  /** A file that says that the project had a lock. */
  private readonly mark: string

  constructor(runtime: Runtime, workspace: string) {
    const name = sha256(workspace).slice('sha256:'.length, 'sha256:'.length + 32)
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

  /**
   * Locks skills as they are, in place of what was locked.
   * @throws {StateFileError} as {@link lockText}, and for a lock that cannot be read.
   */
  async write(skills: readonly CurrentSkill[]): Promise<void> {
    const text = lockText(skills, this.path)
    await this.alone(async () => {
      const reading = readLock(this.workspace)
      if (reading.state === 'unreadable') {
        const message = `the lock was not touched: ${reading.diagnostics[0]?.message ?? this.path}`
        const hint =
          'Fix it or take it from version control again; skillrail trust --unlock removes it.'
        throw new StateFileError({ code: 'lock-file-unreadable', message, hint })
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

/** The text of the lock for skills as they are. */
export function lockText(skills: readonly CurrentSkill[], lockFile: string): string {
  const text = serializeLock(
    skills.map(({ path, name, tree }) => {
      const { digest, files, executable } = tree
      if (digest === undefined) {
        const bad = files.find(({ problem }) => problem !== undefined)
        const file = bad ? `${path}/${bad.path}` : path
        const message = `${file} ${bad?.problem ?? 'cannot be read'}, so the skill cannot be locked`
        const hint =
          'Remove it, make it readable, or put a copy in the place of a link; then lock the skills again.'
        throw new StateFileError({ code: 'lock-skill-unreadable', message, hint })
      }
      requireUnique(files.map((file) => `${path}/${file.path}`))
      const digests = new Map(files.map((file) => [file.path, file.digest]))
      return { path, name, digest, files: digests, executable }
    }),
  )
  if (Buffer.byteLength(text) <= maxLockBytes) return text
  const message = `the lock was not written: ${lockFile} would be larger than ${maxLockBytes} bytes`
  const hint =
    'Move what no skill needs, such as node_modules, out of the directories of the skills.'
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
