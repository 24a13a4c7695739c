import { readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { compareText, systemCode } from '#core/errors'

/**
 * Returns the files below a directory whose names end so, by their names. None if there is no such directory;
 * links to directories are not followed.
 */
export function filesBelow(directory: string, endings: readonly string[]): string[] {
  return entriesBelow(directory)
    .filter((path) => endings.some((ending) => path.endsWith(ending)))
    .toSorted((one, other) => compareText(basename(one), basename(other)))
}

function entriesBelow(directory: string): string[] {
  try {
    const entries = readdirSync(directory, { recursive: true, withFileTypes: true })
    return entries.flatMap((entry) =>
      entry.isDirectory() ? [] : join(entry.parentPath, entry.name),
    )
  } catch (error) {
    const code = systemCode(error)
    if (code === 'ENOENT' || code === 'ENOTDIR') return []
    throw error
  }
}
