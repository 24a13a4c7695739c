import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { sha256 } from '#core/json'
import { statsOf } from '#core/read-files'
import type { Runtime } from '#core/runtime'
import { IgnoredFolders } from '#project/git-ignored'

/** The time of each file's last change in a working tree, in milliseconds. */
export type TreeTimes = ReadonlyMap<string, number>

/** More files would take many seconds to read. */
const maxFiles = 300_000

/**
 * Reads the working tree without the files that Git ignores. Only names and change times are compared, which
 * no program can set. Undefined if the tree is too large or cannot be read.
 */
export function treeTimes(workspace: string, runtime: Runtime): TreeTimes | undefined {
  try {
    return readTimes(workspace, new IgnoredFolders(workspace, runtime))
  } catch {
    return undefined
  }
}

function readTimes(workspace: string, ignored: IgnoredFolders): TreeTimes | undefined {
  const times = new Map<string, number>()
  const folders = [workspace]
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name)
      if (entry.name === '.git' || entry.name === 'node_modules' || ignored.has(path)) continue
      if (entry.isDirectory()) folders.push(path)
      else times.set(path, statsOf(path)?.ctimeMs ?? -1)
      if (times.size > maxFiles) return undefined
    }
  }
  return times
}

/** Returns a digest, which is equal for equal trees. */
export function treeDigest(times: TreeTimes): string {
  return sha256(JSON.stringify([...times].toSorted(([one], [other]) => (one < other ? -1 : 1))))
}

/** Returns the files that were created, changed or removed between two readings. */
export function changedBetween(before: TreeTimes, after: TreeTimes): ReadonlySet<string> {
  const all = [...before.keys(), ...after.keys()]
  return new Set(all.filter((path) => before.get(path) !== after.get(path)))
}
