import { resolve, sep } from 'node:path'
import { makeDirectory } from './make-directory.ts'

/** Holds what a project shares beside what is private, so that others may look into it. */
const sharedDirectory = '.skillrail'

/**
 * Makes a directory for files that only the user may read, and what is missing above it, mode 0700
 * whatever the umask is, as the XDG Base Directory Specification asks. Directories that exist stay
 * as they are.
 */
export function makePrivateDirectory(path: string): void {
  const parts = resolve(path).split(sep)
  const shared = parts.lastIndexOf(sharedDirectory)
  if (shared >= 0) makeDirectory(parts.slice(0, shared + 1).join(sep))
  makeDirectory(path, 0o700)
}
