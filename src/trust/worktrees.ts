import { join, resolve } from 'node:path'
import { isDirectory, readRegularFile, realPathOf } from '#core/read-files'
import type { Acceptance } from './model.ts'

/** Returns the acceptances of other working trees of the same repository, the main tree included. */
export function acceptedWorktrees(
  workspace: string,
  acceptances: readonly Acceptance[],
): readonly Acceptance[] {
  const repository = repositoryOf(workspace)
  if (repository === undefined) return []
  return acceptances.filter(
    (other) =>
      other.workspace !== workspace &&
      other.skills === undefined &&
      repositoryOf(other.workspace) === repository,
  )
}

/**
 * Returns the directory that all working trees of a repository share. A linked tree belongs to a
 * repository only if the repository names it too: anybody can write a `.git` file.
 */
export function repositoryOf(workspace: string): string | undefined {
  const entry = join(workspace, '.git')
  if (isDirectory(entry)) return realPathOf(entry)
  const target = lineOf(entry)?.replace(/^gitdir: /, '')
  if (target === undefined) return undefined
  const data = resolve(workspace, target)
  const gitFile = lineOf(join(data, 'gitdir'))
  const sharedDirectory = lineOf(join(data, 'commondir'))
  if (gitFile === undefined || sharedDirectory === undefined) return undefined
  const isRegistered = realPathOf(resolve(data, gitFile)) === realPathOf(entry)
  return isRegistered ? realPathOf(resolve(data, sharedDirectory)) : undefined
}

function lineOf(path: string): string | undefined {
  const file = readRegularFile(path, { maxBytes: 4096, followSymlinks: false })
  return file.ok ? file.text.trimEnd() : undefined
}
