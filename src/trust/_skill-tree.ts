import { compareText, sha256 } from '../base/index.ts'
import { workspaceRelative } from './_relative.ts'
import { skillFiles } from './_skill-files.ts'
import { unreadableDigest } from './assess.ts'
import type { SkillTree } from './lock-model.ts'

/** Where the lock of a project lies, relative to the workspace. */
export const lockPath = '.skillrail/skills.lock.json'

/**
 * Everything in a skill, text and code alike, by the rules for what acts: links by where they lead. In
 * a workspace that is a skill itself, `.git` and `.skillrail` are not of the skill: there lie its
 * history, the lock and what every run leaves behind.
 *
 * @param directory real path.
 */
export function skillTree(workspace: string, directory: string): SkillTree {
  const leftOut = directory === workspace ? ['.git', '.skillrail'] : []
  const files = skillFiles(directory, { text: true, leftOut }).toSorted((a, b) =>
    compareText(a.path, b.path),
  )
  const whole = files.every(({ digest }) => digest !== unreadableDigest)
  return {
    digest: whole ? treeDigest(files.map(({ path, digest }) => [path, digest])) : undefined,
    files,
  }
}

/** One digest for the files of a tree, whatever their order. No path holds the NUL that ends it. */
export function treeDigest(files: readonly (readonly [path: string, digest: string])[]): string {
  const lines = files.map(([path, digest]) => `${digest} ${path}\0`)
  return sha256(lines.toSorted(compareText).join(''))
}

/** The directory of a skill as a lock has it. */
export function lockedPath(workspace: string, directory: string): string {
  return workspaceRelative(workspace, directory) || '.'
}
