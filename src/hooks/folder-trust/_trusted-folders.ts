import { dirname } from 'node:path'

/** What Gemini CLI and Qwen Code, which began as a copy of it, have in common. */
export const folderTrustKeys: readonly string[] = ['security', 'folderTrust', 'enabled']

/** The levels of `trustedFolders.json` that trust; the other is `DO_NOT_TRUST`. */
export const trustLevels: ReadonlySet<unknown> = new Set(['TRUST_FOLDER', 'TRUST_PARENT'])

/** The folder that a rule is about. */
export function placeOf(place: string, level: unknown): string {
  return level === 'TRUST_PARENT' ? dirname(place) : place
}
