import { existsSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { readRegularFile } from '../../base/index.ts'

/** The folder and everything above it, the nearest first. */
export function withParents(folder: string): string[] {
  const folders = [folder]
  for (let at = folder; dirname(at) !== at; at = dirname(at)) folders.push(dirname(at))
  return folders
}

/**
 * The root of the repository that a folder is in; of a linked work tree the root of its main one,
 * which is what the clients ask about. Undefined outside a repository.
 */
export function repositoryRoot(folder: string): string | undefined {
  const root = withParents(folder).find((candidate) => existsSync(join(candidate, '.git')))
  if (root === undefined) return undefined
  const link = readRegularFile(join(root, '.git'), { maxBytes: 65_536 })
  const main = link.ok
    ? /^gitdir: (.+)[/\\]\.git[/\\]worktrees[/\\][^/\\]+$/.exec(link.text)?.[1]
    : undefined
  return main ?? root
}

export function realPathOf(path: string): string {
  try {
    return realpathSync.native(path)
  } catch {
    return path
  }
}
