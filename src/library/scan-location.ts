import { type Stats, statSync } from 'node:fs'
import { join, sep } from 'node:path'
import { cachePath, readCache, writeCache } from '../core/derived-cache.ts'
import type { Diagnostic } from '../core/diagnostic.ts'
import type { Runtime } from '../core/runtime.ts'
import { type FileIdentity, type Metadata, readMetadata } from './metadata.ts'
import type { SkillLocation } from './model.ts'
import {
  type FoundSkillFile,
  type Listing,
  readListing,
  walkDirectories,
  walkLimits,
} from './walk.ts'

export interface ScannedSkill {
  file: FoundSkillFile
  metadata: Metadata
}

interface LocationScan {
  skills: readonly ScannedSkill[]
  /** Every directory that was read, for whoever wants to watch them. */
  directories: readonly string[]
  diagnostics: readonly Diagnostic[]
}

/**
 * Finds the skills of one location and reads their metadata, shallowest first and then in code-point
 * order of their directories. Inside a skill more skills are looked for only where it is a chain: its
 * steps may lie there, and anywhere else a `SKILL.md` inside a skill is a sample or a template. A
 * location that does not exist is empty; that is reported only where a user named it.
 */
export function scanLocation(
  { directory: root, explicit }: SkillLocation,
  { runtime, useIndex }: { runtime: Runtime; useIndex: boolean },
): LocationScan {
  const skills: ScannedSkill[] = []
  const directories: string[] = []
  const diagnostics: Diagnostic[] = []
  if (!explicit && isAbsent(root)) return { skills, directories, diagnostics }
  const reader = new DirectoryReader(useIndex ? runtime : undefined, root)
  const childless = new Set<string>()
  let reading: DirectoryReading | undefined
  const walk = walkDirectories(root, {
    limits: explicit ? undefined : walkLimits,
    report: (diagnostic) => diagnostics.push(diagnostic),
    list: (directory, key) => {
      reading = reader.read(directory, key)
      return reading.listing
    },
  })
  for (const { path, real, depth, skillFile } of walk) {
    directories.push(path)
    if (skillFile !== undefined && reading?.metadata !== undefined) {
      const file = { path: join(path, skillFile), directory: path, realDirectory: real }
      skills.push({ file, metadata: reading.metadata })
      if (childless.size > 0) childless.delete(childOf(root, path))
    } else if (depth === 1 && reading?.listing.problem === undefined) childless.add(path)
  }
  reader.save()
  const missing = explicit ? [] : [...childless].filter(isExpected).map(withoutSkill)
  return { skills, directories, diagnostics: [...diagnostics, ...missing] }
}

/** What cannot be looked at is not absent: the walk says why. */
function isAbsent(root: string): boolean {
  try {
    return statSync(root, { throwIfNoEntry: false })?.isDirectory() !== true
  } catch {
    return false
  }
}

/** The directory directly below `root` on the way to `path`. */
function childOf(root: string, path: string): string {
  const end = path.indexOf(sep, root.length + 1)
  return end === -1 ? path : path.slice(0, end)
}

/** A name that begins with `.` or `_` is a common way to say: this is not a skill. */
function isExpected(directory: string): boolean {
  return !/[\\/][._][^\\/]*$/.test(directory)
}

function withoutSkill(path: string): Diagnostic {
  return {
    code: 'skill-file-missing',
    severity: 'warning',
    message: 'the directory holds no SKILL.md, nor does a directory below it',
    path,
    hint: 'Add a SKILL.md, or move the directory out of the place where skills lie.',
  }
}

interface DirectoryReading {
  listing: Listing
  /** Of the skill file, if there is one. */
  metadata: Metadata | undefined
}

/** What the cache of a location knows about one directory. */
interface CacheRow {
  /** The path below the location. */
  key: string
  /** Undefined where only the skill file was read. */
  directory?: Pick<FileIdentity, 'ctimeMs' | 'ino'> & { listing: Listing }
  metadata?: Metadata
}

interface LocationCache {
  /** When the scan began. What had changed shortly before may change again unnoticed. */
  scannedAtMs: number
  rows: readonly CacheRow[]
}

const noCache: LocationCache = { scannedAtMs: 0, rows: [] }

/** Raised when rows change, or when the same file is read differently. */
const cacheVersion = '1'
/** Below this number of directories reading them is as fast as reading a cache. */
const worthwhile = 32
/** The coarsest clock of a file system (FAT): a second change within it can look like none. */
const clockGrainMs = 2000

const leaf: Listing = { skillFile: 'SKILL.md', directories: [], links: [], problem: undefined }

/**
 * Reads the directories of a location, and remembers them in the user's cache. A row is believed
 * only where size, times and inode on the disk are the same, so that the cache saves reading and
 * never changes an answer.
 */
class DirectoryReader {
  readonly #path: string | undefined
  readonly #known: ReadonlyMap<string, CacheRow>
  readonly #settledBefore: number
  readonly #scannedAtMs: number
  readonly #rows: CacheRow[] = []
  #learned = false

  /** @param runtime undefined: without a cache. */
  constructor(runtime: Runtime | undefined, root: string) {
    this.#path = runtime === undefined ? undefined : cachePath(runtime, 'library', root)
    this.#scannedAtMs = runtime?.now() ?? 0
    const path = this.#path
    const cache = path === undefined ? noCache : readCache(path, cacheVersion, noCache)
    this.#known = new Map(cache.rows.map((row) => [row.key, row]))
    this.#settledBefore = cache.scannedAtMs - clockGrainMs
  }

  /**
   * Reads one directory. Most of them are skills in which no others are looked for: there the
   * `SKILL.md` answers everything, and the directory itself is not read at all.
   */
  read(path: string, key: string): DirectoryReading {
    const known = this.#known.get(key)
    const usual = this.#metadata(path, 'SKILL.md', known)
    // A file that is broken may be a chain: the directory is looked at as well.
    if (usual.head !== undefined && usual.head.fields.chain === undefined) {
      return this.#learn({ key, metadata: usual }, known, leaf)
    }
    const stats = statsOf(path)
    const same = this.#unchanged(known?.directory, stats)
    const listing = same?.listing ?? readListing(path)
    const { skillFile } = listing
    const metadata =
      skillFile === undefined || (skillFile === 'SKILL.md' && !isMissing(usual))
        ? usual
        : this.#metadata(path, skillFile, known)
    const directory = { ctimeMs: stats?.ctimeMs ?? 0, ino: stats?.ino ?? 0, listing }
    const row = skillFile === undefined ? { key, directory } : { key, directory, metadata }
    return this.#learn(row, same && known, listing)
  }

  /** Writes what was learned, if anything. */
  save(): void {
    const rows = this.#rows
    const isSame = !this.#learned && rows.length === this.#known.size
    if (this.#path === undefined || isSame || rows.length < worthwhile) return
    const cache: LocationCache = { scannedAtMs: this.#scannedAtMs, rows }
    writeCache(this.#path, cacheVersion, cache)
  }

  #learn(row: CacheRow, known: CacheRow | undefined, listing: Listing): DirectoryReading {
    const { metadata } = row
    const isSure = metadata === undefined || metadata.identity !== undefined
    if (listing.problem === undefined && isSure) {
      this.#rows.push(row)
      if (known === undefined || known.metadata !== metadata) this.#learned = true
    }
    return { listing, metadata }
  }

  #metadata(path: string, name: string, known: CacheRow | undefined): Metadata {
    const file = join(path, name)
    const knownName = known?.directory?.listing.skillFile ?? 'SKILL.md'
    const identity = knownName === name ? known?.metadata?.identity : undefined
    const same = identity && this.#unchanged(identity, statsOf(file))
    return (same && known?.metadata) ?? readMetadata(file)
  }

  /** What is known of a file or directory, if it holds for what is on the disk now. */
  #unchanged<Known extends Partial<FileIdentity>>(
    known: Known | undefined,
    stats: Stats | undefined,
  ): Known | undefined {
    if (known === undefined || stats === undefined) return undefined
    const { size = stats.size, mtimeMs = stats.mtimeMs, ctimeMs, ino } = known
    const isSame =
      stats.ctimeMs < this.#settledBefore &&
      stats.ctimeMs === ctimeMs &&
      stats.ino === ino &&
      stats.size === size &&
      stats.mtimeMs === mtimeMs
    return isSame ? known : undefined
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

function isMissing({ diagnostics }: Metadata): boolean {
  return diagnostics.some(({ code }) => code === 'file-missing')
}
