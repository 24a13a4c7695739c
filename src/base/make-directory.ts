import { mkdirSync, type Stats, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { systemCode } from './errors.ts'

/**
 * Makes a directory and what is missing above it; one that exists stays as it is. Instead of the
 * option `recursive` of Node, which never returns where a directory that exists says that it does not,
 * as /proc does.
 *
 * @param mode of each that is made, less what the umask takes away.
 * @throws the system error where one cannot be made, or is no directory.
 */
export function makeDirectory(path: string, mode = 0o777): void {
  for (const directory of missingOf(resolve(path))) {
    try {
      mkdirSync(directory, { mode })
    } catch (error) {
      // Somebody else may have made it in the meantime.
      if (systemCode(error) !== 'EEXIST' || !isDirectory(directory)) throw error
    }
  }
}

/** The path, unless it is a directory, and above it what is missing, topmost first. */
function missingOf(path: string): string[] {
  if (isDirectory(path)) return []
  const missing = [path]
  for (let above = dirname(path); look(above) === undefined; above = dirname(above)) {
    missing.unshift(above)
    if (dirname(above) === above) break
  }
  return missing
}

function isDirectory(path: string): boolean {
  return look(path)?.isDirectory() === true
}

function look(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false })
}
