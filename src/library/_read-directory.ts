import { type Stats, statSync } from 'node:fs'
import { sep } from 'node:path'
import { type Listing, readListing } from './_listing.ts'
import { type Metadata, readMetadata } from './_metadata.ts'

/** Change time and inode of a directory; zeros where nobody had to look. */
export interface DirectoryIdentity {
  ctimeMs: number
  ino: number
}

export interface DirectoryReading {
  directory: DirectoryIdentity
  listing: Listing
  /** Path of the skill file, if there is one. */
  file: string
  /** Of the skill file, if there is one. */
  metadata: Metadata | undefined
  /** Whether all of it was known before and still holds. */
  recalled: boolean
}

/** What an index knows about the directory. Undefined: not known, or not true any more. */
export interface Recall {
  metadata(file: string): Metadata | undefined
  listing(stats: Stats): Listing | undefined
}

/**
 * Reads one directory of a location. Most of them are skills in which no others are looked for:
 * there the `SKILL.md` answers everything, and the directory itself is not read at all.
 */
export function readDirectory(path: string, recall: Recall = nothing): DirectoryReading {
  const file = `${path}${sep}SKILL.md`
  const known = recall.metadata(file)
  const metadata = known ?? readMetadata(file)
  const recalled = known !== undefined
  // A file that is broken may be a chain: the directory is looked at as well.
  if (metadata.head?.isChain === false)
    return { directory: unread, listing: leaf, file, metadata, recalled }
  const stats = statsOf(path)
  const knownListing = stats === undefined ? undefined : recall.listing(stats)
  const listing = knownListing ?? readListing(path)
  return {
    directory: stats === undefined ? unread : { ctimeMs: stats.ctimeMs, ino: stats.ino },
    listing,
    file: listing.skillFile === 'skill.md' ? `${path}${sep}skill.md` : file,
    metadata: ofSkillFile(path, listing, metadata),
    recalled: knownListing !== undefined && (recalled || listing.skillFile === undefined),
  }
}

/** Undefined also where it cannot be looked at: reading it says why. */
function statsOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

const nothing: Recall = { metadata: () => undefined, listing: () => undefined }
const unread: DirectoryIdentity = { ctimeMs: 0, ino: 0 }
const leaf: Listing = { skillFile: 'SKILL.md', directories: [], links: [], problem: undefined }

function ofSkillFile(path: string, listing: Listing, metadata: Metadata): Metadata | undefined {
  if (listing.skillFile === undefined) return undefined
  if (listing.skillFile === 'SKILL.md' && !isMissing(metadata)) return metadata
  return readMetadata(`${path}${sep}${listing.skillFile}`)
}

function isMissing({ diagnostics }: Metadata): boolean {
  return diagnostics.some(({ code }) => code === 'file-missing')
}
