import { spawnSync } from 'node:child_process'
import { lstatSync, readFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { findProgram } from '#core/find-program'
import type { Runtime } from '#core/runtime'

/**
 * The folders below one that nobody means unless they name them: those that Git ignores, and working
 * trees that `git worktree` linked. Without Git, or outside a repository, only the second is known.
 */
export class IgnoredFolders {
  readonly #git: string | undefined
  readonly #environment: NodeJS.ProcessEnv
  readonly #paths = new Set<string>()
  /** Folders in which everything is ignored, though they are not themselves. */
  readonly #parents = new Set<string>()

  constructor(root: string, runtime: Pick<Runtime, 'env' | 'platform' | 'cwd'>) {
    this.#git = findProgram('git', runtime)
    // A hook of Git sets variables that would point every question at one repository.
    const others = Object.entries(runtime.env).filter(([name]) => !name.startsWith('GIT_'))
    this.#environment = Object.fromEntries(others)
    this.#addIgnored(root)
  }

  readonly has = (path: string): boolean => {
    if (this.#paths.has(path) || this.#parents.has(dirname(path))) return true
    const kind = repositoryAt(path)
    if (kind === 'worktree') return true
    // A submodule or another repository has rules of its own, and the outer one does not list them.
    if (kind === 'repository') this.#addIgnored(path)
    return false
  }

  /** Asks once for a whole repository: Git leaves out what is tracked although a rule matches it. */
  #addIgnored(directory: string): void {
    const listing = ['ls-files', '--others', '--ignored', '--exclude-standard', '--directory', '-z']
    const output = this.#ask(directory, listing)
    const entries = output?.split('\0').filter((entry) => entry !== '') ?? []
    if (!entries.includes('./')) {
      for (const entry of entries) this.#paths.add(join(directory, entry.replace(/\/$/, '')))
      return
    }
    // Whoever named a folder that is ignored means what is in it.
    const question = ['check-ignore', '--quiet', basename(directory)]
    const isIgnored = this.#ask(dirname(directory), question) !== undefined
    if (!isIgnored) this.#parents.add(directory)
  }

  /** Returns what Git prints, or undefined where it fails or is not installed. */
  #ask(directory: string, question: readonly string[]): string | undefined {
    if (this.#git === undefined) return undefined
    // A monitor is a program that the configuration of the repository could name.
    const options = ['-C', directory, '-c', 'core.fsmonitor=false', ...question]
    const { status, stdout } = spawnSync(this.#git, options, {
      env: this.#environment,
      encoding: 'utf8',
      maxBuffer: 512 * 1024 * 1024,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    return status === 0 ? stdout : undefined
  }
}

/** What the entry `.git` of a folder says that the folder is. */
function repositoryAt(directory: string): 'repository' | 'worktree' | undefined {
  const path = join(directory, '.git')
  try {
    const stats = lstatSync(path)
    if (!stats.isFile() || stats.size > 4096) return 'repository'
    const [, target] = /^gitdir: (.+)/.exec(readFileSync(path, 'utf8')) ?? []
    return target !== undefined && isLinkedData(resolve(directory, target))
      ? 'worktree'
      : 'repository'
  } catch {
    return undefined
  }
}

/** Git keeps the data of a linked working tree in a folder that names the shared repository. */
function isLinkedData(directory: string): boolean {
  const data = lstatSync(directory, { throwIfNoEntry: false })
  // The data may be gone while the working tree is still there.
  if (!data) return basename(dirname(directory)) === 'worktrees'
  return lstatSync(join(directory, 'commondir'), { throwIfNoEntry: false }) !== undefined
}
