import { statSync } from 'node:fs'
import { basename, dirname, posix, sep } from 'node:path'
import { cachePath, readCache, writeCache } from '#core/derived-cache'
import { type Diagnostic, errorsIn } from '#core/errors'
import { readRegularFile, statsOf } from '#core/read-files'
import type { Runtime } from '#core/runtime'
import { estimateTokens } from '#core/text'
import { tokenLimit } from '#skill/advice'
import type { SkillFields } from '#skill/model'
import { parseSkill } from '#skill/parse'
import { nameProblems, validateSkill } from '#skill/validate'
import { maxSkillBytes, type SkillLocation } from './model.ts'
import { outsidePlugin, type Plugin } from './plugins.ts'
import {
  childPath,
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

export interface LocationScan {
  skills: readonly ScannedSkill[]
  diagnostics: readonly Diagnostic[]
}

/** Finds the skills of one location and reads their metadata. Searches inside a skill only if it has a chain. */
export function scanLocation(
  location: SkillLocation,
  { runtime, useIndex }: { runtime: Runtime; useIndex: boolean },
): LocationScan {
  const { directory: root, explicit, plugin, depth } = location
  const skills: ScannedSkill[] = []
  const diagnostics: Diagnostic[] = [...(plugin?.diagnostics ?? [])]
  if (plugin && plugin.skills === undefined) return { skills, diagnostics }
  if (!explicit && isAbsent(root)) return { skills, diagnostics }
  const cache = new MetadataCache(useIndex ? runtime : undefined, root)
  const childless = new Set<string>()
  let metadata: Metadata | undefined
  let isReadable = true
  const walk = walkDirectories(root, {
    limits: limitsOf(location),
    report: (diagnostic) => diagnostics.push(diagnostic),
    list(directory, key) {
      if (key === '' && !explicit && depth !== 0) {
        const listing = readListing(directory)
        const { skillFile } = listing
        if (plugin || depth !== undefined)
          return { ...listing, skillFile: undefined, problem: undefined }
        if (skillFile !== undefined) {
          diagnostics.push(strayFile(childPath(directory, skillFile)))
          return { ...listing, skillFile: undefined }
        }
      }
      metadata = cache.read(childPath(directory, 'SKILL.md'), key)
      // Most directories are skills without nested skills, so they are not listed. A broken file could
      // be a chain. An explicit folder whose name differs from its skill's name can be a folder of
      // skills with a stray SKILL.md.
      const isNamedFolder = key === '' && metadata.head?.name !== basename(directory)
      if (metadata.head && !metadata.head.fields.chain && !isNamedFolder) return leaf
      const listing = readListing(directory)
      const { skillFile, problem } = listing
      isReadable = problem === undefined
      if (skillFile === undefined) metadata = undefined
      else if (skillFile !== 'SKILL.md') metadata = readMetadata(childPath(directory, skillFile))
      return listing
    },
  })
  for (const { path, realPath, depth, skillFile } of walk) {
    if (skillFile !== undefined && metadata) {
      const file = { path: childPath(path, skillFile), directory: path, realDirectory: realPath }
      skills.push({ file, metadata })
      const end = path.indexOf(sep, root.length + 1)
      if (childless.size > 0) childless.delete(end === -1 ? path : path.slice(0, end))
    } else if (depth === 1 && isReadable) childless.add(path)
  }
  cache.save()
  if (plugin) {
    const usable = skills.filter((skill) => {
      const problem = unfitFor(plugin, skill)
      if (problem) diagnostics.push(problem)
      return !problem
    })
    return { skills: usable, diagnostics }
  }
  // By convention a name that starts with `.` or `_` is not a skill.
  const message = 'neither the directory nor a directory below it has a SKILL.md'
  for (const path of explicit ? [] : childless) {
    if (/[\\/][._][^\\/]*$/.test(path)) continue
    diagnostics.push({ code: 'skill-file-missing', severity: 'warning', message, path })
  }
  return { skills, diagnostics }
}

/** Returns how far a location is searched; undefined for an explicit location. */
export function limitsOf({
  explicit,
  plugin,
  depth = plugin ? 1 : walkLimits.depth,
}: Pick<SkillLocation, 'explicit' | 'plugin' | 'depth'>): typeof walkLimits | undefined {
  return explicit ? undefined : { ...walkLimits, depth }
}

/** Returns why a plugin's skill is left out. The plugin's other skills are used. */
function unfitFor(
  plugin: Plugin,
  { file: { path, directory } }: ScannedSkill,
): Diagnostic | undefined {
  const reading = readRegularFile(path, { maxBytes: maxSkillBytes, binary: true })
  const options = { path, directoryName: basename(directory) }
  const [error] = reading.ok ? errorsIn(validateSkill(reading.bytes, options).diagnostics) : []
  const reason = outsidePlugin(plugin, path) ?? error?.message
  if (reason === undefined) return undefined
  const message = `the skill is left out of its plugin: ${reason}`
  return { code: 'plugin-skill-invalid', severity: 'error', message, path, line: error?.line }
}

/** Reports a `SKILL.md` in a folder of skills, which no client reads. */
function strayFile(path: string): Diagnostic {
  const folder = basename(dirname(path))
  const message = `the file is not in a folder of its own, so it is not a skill; the skills below ${folder} are used`
  const hint = `Move it to ${folder}/NAME/SKILL.md, or remove it.`
  return { code: 'skill-file-stray', severity: 'warning', message, path, hint }
}

const leaf: Listing = { skillFile: 'SKILL.md', names: [], links: new Set(), problem: undefined }

/** A folder that cannot be read is not absent: the walk reports the reason. */
function isAbsent(root: string): boolean {
  try {
    return statSync(root, { throwIfNoEntry: false })?.isDirectory() !== true
  } catch {
    return false
  }
}

type MetadataRow = { key: string; metadata: Metadata }

interface LocationCache {
  /** Start of the scan. A file that changed shortly before can change again without a new time. */
  scannedAtMs: number
  rows: readonly MetadataRow[]
}

/** Raised if rows change, or if the same file yields other metadata. */
export const cacheVersion = '3'
/** For fewer skills, reading the files is as fast as reading a cache. */
const worthwhile = 32
/** The coarsest clock of a file system (FAT): a second change within it can look like none. */
const clockGrainMs = 2000

class MetadataCache {
  readonly #path: string | undefined
  readonly #cached: ReadonlyMap<string, Metadata>
  readonly #settledBefore: number
  readonly #scannedAtMs: number
  readonly #rows: MetadataRow[] = []
  #isNew = false

  /** @param runtime undefined: without a cache. */
  constructor(runtime: Runtime | undefined, root: string) {
    const noCache: LocationCache = { scannedAtMs: 0, rows: [] }
    this.#path = runtime && cachePath(runtime, 'library', root)
    const cache = this.#path ? readCache(this.#path, cacheVersion, noCache) : noCache
    this.#scannedAtMs = runtime?.now() ?? 0
    this.#cached = new Map(cache.rows.map(({ key, metadata }) => [key, metadata]))
    this.#settledBefore = cache.scannedAtMs - clockGrainMs
  }

  read(file: string, key: string): Metadata {
    const cachedRow = this.#cached.get(key)
    const isSame = cachedRow?.identity !== undefined && this.#isUnchanged(file, cachedRow.identity)
    const metadata = isSame ? cachedRow : readMetadata(file)
    if (metadata.identity) {
      this.#rows.push({ key, metadata })
      this.#isNew ||= !isSame
    }
    return metadata
  }

  save(): void {
    const rows = this.#rows
    const isSame = !this.#isNew && rows.length === this.#cached.size
    if (this.#path === undefined || isSame || rows.length < worthwhile) return
    const cache: LocationCache = { scannedAtMs: this.#scannedAtMs, rows }
    writeCache(this.#path, cacheVersion, cache)
  }

  #isUnchanged(file: string, identity: FileIdentity): boolean {
    const stats = statsOf(file)
    if (!stats || stats.ctimeMs >= this.#settledBefore) return false
    return identityParts.every((part) => stats[part] === identity[part])
  }
}

const identityParts = ['ctimeMs', 'ino', 'size', 'mtimeMs'] as const
type FileIdentity = Record<(typeof identityParts)[number], number>

/** Metadata from the head of a `SKILL.md`. Plain JSON, so that a cache can store it. */
export interface Metadata {
  identity?: FileIdentity | undefined
  head?: SkillHead | undefined
  bodyTokens: number
  /** `path` is the argument of {@link readMetadata}. */
  diagnostics: readonly Diagnostic[]
}

interface SkillHead {
  /** The name that Skillrail uses; `fields` has the name from the file. */
  name: string
  description: string
  fields: Partial<SkillFields>
}

const none: readonly never[] = Object.freeze([])
const noMetadata: Record<string, string> = Object.create(null)

export const noFields: SkillFields = Object.freeze({
  metadata: Object.freeze(noMetadata),
  triggers: none,
  disableModelInvocation: false,
  userInvocable: true,
  arguments: none,
})

/** Returns all fields of a skill. Maps with the author's keys have no prototype. */
export function fieldsOf({ description, fields }: SkillHead): SkillFields {
  const metadata: Record<string, string> = Object.assign(Object.create(null), fields.metadata)
  return { ...noFields, ...fields, description, metadata }
}

/** Reads the metadata of a `SKILL.md`. An unreadable or invalid file gives diagnostics. */
export function readMetadata(path: string): Metadata {
  const reading = readRegularFile(path, { maxBytes: maxSkillBytes, binary: true })
  if (!reading.ok) {
    // The message begins with the path.
    const message = `the file${reading.message.slice(path.length)}`
    const { code } = reading
    return { bodyTokens: 0, diagnostics: [{ code, severity: 'error', message, path }] }
  }
  const { bytes, size, mtimeMs, ctimeMs, ino } = reading
  const identity = { size, mtimeMs, ctimeMs, ino }
  const { skill, diagnostics } = parseSkill(bytes, { path })
  if (!skill) return { identity, bodyTokens: 0, diagnostics }
  const { fields, bodyLine } = skill
  const { description = '', ...otherFields } = fields
  const { name, diagnostics: nameDiagnostics } = skillName(fields.name, path)
  const allDiagnostics = [
    ...diagnostics,
    ...nameDiagnostics,
    ...selfReferences(fields, path),
    ...largeBody(skill.body, path),
  ]
  let start = 0
  for (let line = 1; line < bodyLine; line++) start = bytes.indexOf(10, start) + 1 || size
  return {
    identity,
    // Copied: a slice of a longer text would keep the whole text in memory.
    head: JSON.parse(JSON.stringify({ name, description, fields: otherFields })),
    bodyTokens: Math.ceil((size - start) / 4),
    diagnostics: allDiagnostics.length === 0 ? none : allDiagnostics,
  }
}

function largeBody(body: string, path: string): Diagnostic[] {
  const tokens = estimateTokens(body)
  if (tokens <= tokenLimit) return []
  const message = `the instructions have about ${tokens} tokens; ${tokenLimit} are recommended at most`
  const hint = 'Move detail into files below `references/` and say when to read them.'
  return [{ code: 'body-too-many-tokens', severity: 'warning', message, path, hint }]
}

/** Returns the name in the file, or the directory's name if that is missing or looks like a path. */
function skillName(
  nameInFile: string | undefined,
  path: string,
): { name: string; diagnostics: readonly Diagnostic[] } {
  const directory = basename(dirname(path))
  const name = nameInFile?.trim() ?? ''
  const hint = 'Give the skill and its directory the same name, of a-z, 0-9 and hyphens.'
  const warning = (code: string, message: string): Diagnostic => {
    return { code, severity: 'warning', message, path, hint }
  }
  const consequence = `the skill is known by that of its directory, ${directory}`
  if (name === '') {
    const message = `the skill has no name; it is known by that of its directory, ${directory}`
    return { name: directory, diagnostics: [warning('name-missing', message)] }
  }
  if (/[\\/\p{Cc}]/u.test(name) || name === '.' || name === '..') {
    const message = `the name ${JSON.stringify(name)} could be taken for a path; ${consequence}`
    return { name: directory, diagnostics: [warning('name-unusable', message)] }
  }
  if (name === directory) return { name, diagnostics: nameWarnings(name, path) }
  const message = `the skill is named ${name} and its directory ${directory}; clients differ in which they use`
  const mismatch = warning('name-directory-mismatch', message)
  return { name, diagnostics: [mismatch, ...nameWarnings(name, path)] }
}

/** Returns the problems of a name as warnings: the skill is used. */
function nameWarnings(name: string, path: string): readonly Diagnostic[] {
  const problems = nameProblems(name, name)
  if (problems.length === 0) return none
  return problems.map(({ code, problem, hint }) => {
    const message = problem.charAt(0).toLowerCase() + problem.slice(1).replace(/\.$/, '')
    return { code, severity: 'warning', message, path, hint }
  })
}

/** Reports chains that name their own skill. Such a skill is listed, but refused when it is used. */
export function selfReferences(fields: SkillFields, path: string): Diagnostic[] {
  if (!fields.chain && fields.triggers.length === 0) return []
  const ownNames = new Set([fields.name, basename(dirname(path))])
  const steps = (fields.chain?.steps ?? []).filter(({ name }) => ownNames.has(name))
  const diagnostic = { code: selfReferenceCode, severity: 'error', path } as const
  return steps.map(({ name, line }) => {
    const message = `the chain names its own skill, ${name}`
    return { ...diagnostic, message, line }
  })
}

/** Whether a path, relative to a skill, leads to the `SKILL.md` of that skill. */
export function isOwnSkillFile(path: string): boolean {
  return /^skill\.md$/i.test(posix.normalize(path))
}

export const selfReferenceCode = 'skill-refers-to-itself'
