import { readFileSync, type Stats, statSync } from 'node:fs'
import { join } from 'node:path'
import { type Runtime, sha256, userDirectories, writeFileAtomicSync } from '../base/index.ts'
import {
  decodeColumns,
  type DirectoryRecord,
  encodeColumns,
  type IndexColumns,
} from './_index-columns.ts'
import type { Listing } from './_listing.ts'
import type { Metadata } from './_metadata.ts'
import { type DirectoryReading, readDirectory, type Recall } from './_read-directory.ts'
import { keyOf, type Position } from './walk.ts'

/**
 * Reads the directories of one location, with what is known of them from earlier searches.
 * Everything is compared with the disk before it is believed: an index can save reading, never
 * change an answer.
 */
export interface LocationIndex {
  read(directory: string, at: Position): DirectoryReading
  /** Writes what was learned, if anything; a cache that cannot be written is not an error. */
  save(): void
}

/** Below this number of directories reading them is as fast as reading an index. */
const worthwhile = 32
/** The coarsest clock of a file system (FAT): a second change within it can look like none. */
const clockGrainMs = 2000

/** Opens the index of the location `root`. A broken one, or one of another version, is empty. */
export function openLocationIndex(runtime: Runtime, root: string): LocationIndex {
  const path = indexPath(runtime, root)
  const identity = { root, engine: engineVersion(), scannedAtMs: runtime.now() }
  const known = readIndex(path, identity)
  const settledBefore = (known?.scannedAtMs ?? 0) - clockGrainMs
  /** Rows of the index that still hold, and what was read because there was none. */
  const kept: number[] = []
  const learned: [key: string, record: DirectoryRecord][] = []

  /** The row of the directory that is being read. */
  let row: number | undefined
  const memory: Recall = { metadata: recallMetadata, listing: recallListing }

  return {
    read(directory, at) {
      row = known?.find(at)
      const reading = readDirectory(directory, memory)
      if (!reading.recalled || row === undefined) return learn(keyOf(at), reading)
      kept.push(row)
      return reading
    },

    save() {
      const count = kept.length + learned.length
      const same = learned.length === 0 && count === known?.size
      if (same || count < worthwhile) return
      try {
        const old = kept.flatMap((row): typeof learned =>
          known === undefined ? [] : [[known.key(row), known.record(row)]],
        )
        writeFileAtomicSync(path, encodeColumns(identity, [...old, ...learned]), { mode: 0o600 })
      } catch {
        // Read-only or full: the next search reads the files again.
      }
    },
  }

  function learn(key: string, reading: DirectoryReading): DirectoryReading {
    const { listing, metadata, directory } = reading
    const isSure = metadata === undefined || metadata.identity !== undefined
    if (listing.problem === undefined && isSure) {
      learned.push([key, { ...directory, listing, metadata }])
    }
    return reading
  }

  function recallListing(stats: Stats): Listing | undefined {
    if (known === undefined || row === undefined || stats.ctimeMs >= settledBefore) return undefined
    return known.isDirectory(row, stats) ? recalled(known.listing, row) : undefined
  }

  function recallMetadata(file: string): Metadata | undefined {
    if (known === undefined || row === undefined) return undefined
    const stats = recalledStats(file)
    if (stats === undefined || stats.ctimeMs >= settledBefore) return undefined
    return known.isFile(row, stats) ? recalled(known.metadata, row) : undefined
  }
}

/** Undefined also where it cannot be looked at: reading it says why. */
function recalledStats(file: string): Stats | undefined {
  try {
    return statSync(file, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

/** A column that holds something else than was written is one more reason to read the file. */
function recalled<T>(read: (row: number) => T, row: number): T | undefined {
  try {
    return read(row)
  } catch {
    return undefined
  }
}

function indexPath(runtime: Runtime, root: string): string {
  const name = sha256(root).slice('sha256:'.length, 'sha256:'.length + 32)
  return join(userDirectories(runtime).cache, 'library', `${name}.json`)
}

function readIndex(
  path: string,
  expected: { root: string; engine: string },
): IndexColumns | undefined {
  try {
    return decodeColumns(readFileSync(path, 'utf8'), expected)
  } catch {
    return undefined // Missing, broken or of another version: all of them mean reading the files.
  }
}

/** The version of this package: another one may read the same frontmatter differently. */
function engineVersion(): string {
  try {
    const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
    return /"version":\s*"([^"]*)"/.exec(manifest)?.[1] ?? ''
  } catch {
    return '' // Bundled into a program of its own, which has no manifest beside it.
  }
}
