import { chmodSync, lstatSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { systemCode } from '../base/index.ts'

/**
 * Deletes a directory with everything in it, also where a step has taken away the right to do so, as
 * those do that keep what they have downloaded read-only. Links are not followed.
 * @throws the system error where something of it stays.
 */
export function removeTree(directory: string): void {
  try {
    rmSync(directory, { recursive: true, force: true })
  } catch (error) {
    const code = systemCode(error)
    if (code !== 'EACCES' && code !== 'EPERM') throw error
    openDirectories(directory)
    rmSync(directory, { recursive: true, force: true })
  }
}

/** What a link leads to is somebody else's. */
function openDirectories(directory: string): void {
  const stats = lstatSync(directory)
  if (!stats.isDirectory()) return
  const mode = stats.mode & 0o7777
  if ((mode & 0o700) !== 0o700) chmodSync(directory, mode | 0o700)
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    if (entry.isDirectory()) openDirectories(join(directory, entry.name))
  }
}
