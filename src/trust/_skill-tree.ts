import { compareText, sha256 } from '../base/index.ts'
import { workspaceRelative } from './_relative.ts'
import { skillFiles } from './_skill-files.ts'
import { unreadableDigest } from './assess.ts'
import type { SkillTree } from './lock-model.ts'

/** Where the lock of a project lies, relative to the workspace. */
export const lockPath = '.skillrail/skills.lock.json'

/**
 * Everything in a skill, text and code alike, by the rules for what acts. In a workspace that is a
 * skill itself, `.git` and `.skillrail` are not of the skill: there lie its history, the lock and what
 * every run leaves behind. A link that leads out of the skill is refused: what lies there could be
 * exchanged unseen.
 *
 * @param directory real path.
 */
export function skillTree(workspace: string, directory: string): SkillTree {
  const isWorkspace = directory === workspace
  const files = skillFiles(directory, { text: true, isWorkspace, linksOut: 'refused' }).toSorted(
    (a, b) => compareText(a.path, b.path),
  )
  const whole = files.every(({ digest }) => digest !== unreadableDigest)
  const executable = executableIn(files)
  const digests = files.map(({ path, digest }): [string, string] => [path, digest])
  return { digest: whole ? treeDigest(digests, executable) : undefined, executable, files }
}

/** Windows keeps no bit that says so. */
function executableIn(files: SkillTree['files']): ReadonlySet<string> | undefined {
  if (process.platform === 'win32') return undefined
  return new Set(files.filter((file) => file.executable === true).map(({ path }) => path))
}

/**
 * One digest for the files of a tree, whatever their order, and for which of them may be executed,
 * where that is known. No path holds the NUL that ends it.
 */
export function treeDigest(
  files: readonly (readonly [path: string, digest: string])[],
  executable: Iterable<string> = [],
): string {
  const lines = files.map(([path, digest]) => `${digest} ${path}\0`)
  const bits = [...executable].map((path) => `executable ${path}\0`)
  return sha256([...lines, ...bits].toSorted(compareText).join(''))
}

/** The directory of a skill as a lock has it. */
export function lockedPath(workspace: string, directory: string): string {
  return workspaceRelative(workspace, directory) || '.'
}
