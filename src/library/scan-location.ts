import { statSync } from 'node:fs'
import { sep } from 'node:path'
import { cachePath, readCache, writeCache } from '../core/derived-cache.ts'
import type { Diagnostic } from '../core/diagnostic.ts'
import type { Runtime } from '../core/runtime.ts'
import { type FileIdentity, type Metadata, readMetadata } from './metadata.ts'
import type { SkillLocation } from './model.ts'
import {
  below,
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
  const diagnostics: Diagnostic[] = []
  if (!explicit && isAbsent(root)) return { skills, diagnostics }
  const cache = new MetadataCache(useIndex ? runtime : undefined, root)
  const childless = new Set<string>()
  let metadata: Metadata | undefined
  let isReadable = true
  const walk = walkDirectories(root, {
    limits: explicit ? undefined : walkLimits,
    report: (diagnostic) => diagnostics.push(diagnostic),
    list(directory, key) {
      metadata = cache.read(below(directory, 'SKILL.md'), key)
      // Most directories are skills in which no others are looked for: they are not read themselves.
      // A file that is broken may be a chain.
      if (metadata.head !== undefined && metadata.head.fields.chain === undefined) return leaf
      const listing = readListing(directory)
      const { skillFile, problem } = listing
      isReadable = problem === undefined
      if (skillFile === undefined) metadata = undefined
      else if (skillFile !== 'SKILL.md') metadata = readMetadata(below(directory, skillFile))
      return listing
    },
  })
  for (const { path, real, depth, skillFile } of walk) {
    if (skillFile !== undefined && metadata !== undefined) {
      const file = { path: below(path, skillFile), directory: path, realDirectory: real }
      skills.push({ file, metadata })
      const end = path.indexOf(sep, root.length + 1)
      if (childless.size > 0) childless.delete(end === -1 ? path : path.slice(0, end))
    } else if (depth === 1 && isReadable) childless.add(path)
  }
  cache.save()
  // A name that begins with `.` or `_` is a common way to say: this is not a skill.
  const expected = [...childless].filter((path) => !/[\\/][._][^\\/]*$/.test(path))
  const missing = explicit ? [] : expected.map(withoutSkill)
  return { skills, diagnostics: [...diagnostics, ...missing] }
}

const leaf: Listing = { skillFile: 'SKILL.md', directories: [], links: [], problem: undefined }

/** What cannot be looked at is not absent: the walk says why. */
function isAbsent(root: string): boolean {
  try {
    return statSync(root, { throwIfNoEntry: false })?.isDirectory() !== true
  } catch {
    return false
  }
}

function withoutSkill(path: string): Diagnostic {
  const message = 'the directory holds no SKILL.md, nor does a directory below it'
  const hint = 'Add a SKILL.md, or move the directory out of the place where skills lie.'
  return { code: 'skill-file-missing', severity: 'warning', message, path, hint }
}

interface LocationCache {
  /** When the scan began. What had changed shortly before may change again unnoticed. */
  scannedAtMs: number
  /** By the path of the skill below the location. */
  rows: readonly { key: string; metadata: Metadata }[]
}

const noCache: LocationCache = { scannedAtMs: 0, rows: [] }

/** Raised when rows change, or when the same file is read differently. */
const cacheVersion = '1'
/** Below this number of skills reading them is as fast as reading a cache. */
const worthwhile = 32
/** The coarsest clock of a file system (FAT): a second change within it can look like none. */
const clockGrainMs = 2000

/** The metadata of a location's skills in the user's cache. */
class MetadataCache {
  readonly #path: string | undefined
  readonly #known: ReadonlyMap<string, Metadata>
  readonly #settledBefore: number
  readonly #scannedAtMs: number
  readonly #rows: { key: string; metadata: Metadata }[] = []
  #isNew = false

  /** @param runtime undefined: without a cache. */
  constructor(runtime: Runtime | undefined, root: string) {
    const path = runtime === undefined ? undefined : cachePath(runtime, 'library', root)
    const cache = path === undefined ? noCache : readCache(path, cacheVersion, noCache)
    this.#path = path
    this.#scannedAtMs = runtime?.now() ?? 0
    this.#known = new Map(cache.rows.map(({ key, metadata }) => [key, metadata]))
    this.#settledBefore = cache.scannedAtMs - clockGrainMs
  }

  read(file: string, key: string): Metadata {
    const known = this.#known.get(key)
    const isSame = known?.identity !== undefined && this.#isUnchanged(file, known.identity)
    const metadata = isSame ? known : readMetadata(file)
    if (metadata.identity === undefined) return metadata
    this.#rows.push({ key, metadata })
    this.#isNew ||= !isSame
    return metadata
  }

  save(): void {
    const rows = this.#rows
    const isSame = !this.#isNew && rows.length === this.#known.size
    if (this.#path === undefined || isSame || rows.length < worthwhile) return
    const cache: LocationCache = { scannedAtMs: this.#scannedAtMs, rows }
    writeCache(this.#path, cacheVersion, cache)
  }

  #isUnchanged(file: string, { size, mtimeMs, ctimeMs, ino }: FileIdentity): boolean {
    try {
      const stats = statSync(file)
      return (
        stats.ctimeMs < this.#settledBefore &&
        stats.ctimeMs === ctimeMs &&
        stats.ino === ino &&
        stats.size === size &&
        stats.mtimeMs === mtimeMs
      )
    } catch {
      return false
    }
  }
}
