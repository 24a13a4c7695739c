import { type Dirent, readdirSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { compareText } from '../../base/index.ts'

/** What no search looks into unless it begins there. */
const skipped: ReadonlySet<string> = new Set(['.git', 'node_modules'])

/** How many entries a walk looks at before it gives up. */
const walkLimit = 50_000

/** What a tool says after the results of a walk that gave up. */
export const walkStopped: string = `[Stopped after ${walkLimit} entries: name a directory.]`

export interface WalkedFile {
  /** Absolute. */
  path: string
  /** From where the walk began, with `/`. */
  relative: string
}

/**
 * All regular files below a directory, or the file itself, in code-point order of every directory.
 * Links are not followed: what they lead to is found where it lies, if it is here. `stopped` is
 * called when there is more than the walk looks at.
 */
export function* walkFiles(start: string, stopped: () => void): Generator<WalkedFile> {
  if (statSync(start).isFile()) {
    yield { path: start, relative: basename(start) }
    return
  }
  const left = { entries: walkLimit }
  yield* walkDirectory(start, '', left)
  if (left.entries < 0) stopped()
}

function* walkDirectory(
  directory: string,
  beginning: string,
  left: { entries: number },
): Generator<WalkedFile> {
  for (const entry of sortedEntries(directory)) {
    if (left.entries-- <= 0) return
    const path = join(directory, entry.name)
    const relative = `${beginning}${entry.name}`
    if (entry.isFile()) yield { path, relative }
    else if (entry.isDirectory() && !skipped.has(entry.name)) {
      yield* walkDirectory(path, `${relative}/`, left)
    }
  }
}

/** Empty for a directory that cannot be read. */
export function sortedEntries(directory: string): Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true }).toSorted((a, b) =>
      compareText(a.name, b.name),
    )
  } catch {
    return []
  }
}
