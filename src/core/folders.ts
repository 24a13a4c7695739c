import { readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { compareText } from './errors.ts'

/** Returns the folders and links in a folder, in code-point order; none if it cannot be read. */
export function foldersIn(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true })
    const folders = entries.filter((entry) => entry.isDirectory() || entry.isSymbolicLink())
    const names = folders.map(({ name }) => name).toSorted(compareText)
    return names.map((name) => join(folder, name))
  } catch {
    return []
  }
}

/** Returns a folder and the folders above it, up to and including a root. */
export function upTo(from: string, root: string): string[] {
  const parent = dirname(from)
  return from === root || parent === from ? [from] : [from, ...upTo(parent, root)]
}
