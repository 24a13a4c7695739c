/**
 * Folders at the top of a skill that are none of it, such as where a whole project is one skill: its
 * history, and what Skillrail keeps. They change with every commit and run.
 */
export const foldersOutsideSkill: readonly string[] = ['.git', '.skillrail']

/**
 * Names of files that file managers and editors leave behind: `.DS_Store`, `Thumbs.db`, `desktop.ini`
 * and the swap files of vim. No digest of a skill has such a file, so none may be run, read or offered.
 */
export function isLeftBehind(name: string): boolean {
  return leftBehind.test(name)
}

/** In any spelling: some disks find `.DS_Store` for `.ds_store`. */
const leftBehind = /^(?:\.ds_store|thumbs\.db|desktop\.ini|\..+\.sw[op])$/i

/**
 * Why a file is none of a skill, as in "PATH …", or undefined where it is.
 *
 * @param way of the real file from the real directory of the skill, in any spelling.
 */
export function outsideSkill(way: string): string | undefined {
  const names = way.split(/[/\\]/)
  const top = names[0]?.toLowerCase() ?? ''
  if (foldersOutsideSkill.includes(top)) return `lies in ${top}, which is no part of a skill`
  if (!isLeftBehind(names.at(-1) ?? '')) return undefined
  return 'has a name that file managers and editors use, and is no part of a skill'
}
