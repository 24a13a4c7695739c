import { statSync } from 'node:fs'
import { basename, dirname, posix, sep } from 'node:path'
import { cachePath, readCache, writeCache } from '#core/derived-cache'
import { type Diagnostic, errorsIn } from '#core/errors'
import { readRegularFile, statsOf } from '#core/read-files'
import type { Runtime } from '#core/runtime'
import type { SkillFields } from '#skill/model'
import { parseSkill } from '#skill/parse'
import { validateSkill } from '#skill/validate'
import { maxSkillBytes, type SkillLocation } from './model.ts'
import { outsidePlugin, type Plugin } from './plugins.ts'
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

/** Finds the skills of one location and reads their metadata; inside a skill only those of a chain. */
export function scanLocation(
  { directory: root, explicit, plugin }: SkillLocation,
  { runtime, useIndex }: { runtime: Runtime; useIndex: boolean },
) {
  const skills: ScannedSkill[] = []
  const diagnostics: Diagnostic[] = [...(plugin?.diagnostics ?? [])]
  if (plugin && plugin.skills === undefined) return { skills, diagnostics }
  if (!explicit && isAbsent(root)) return { skills, diagnostics }
  const cache = new MetadataCache(useIndex ? runtime : undefined, root)
  const childless = new Set<string>()
  let metadata: Metadata | undefined
  let isReadable = true
  const walk = walkDirectories(root, {
    limits: explicit ? undefined : plugin ? { ...walkLimits, depth: 1 } : walkLimits,
    report: (diagnostic) => diagnostics.push(diagnostic),
    list(directory, key) {
      // The folder of a plugin's skills is none itself, whatever lies in it.
      if (plugin && key === '')
        return { ...readListing(directory), skillFile: undefined, problem: undefined }
      metadata = cache.read(below(directory, 'SKILL.md'), key)
      // Most directories are skills in which no others are looked for: they are not read themselves.
      // A file that is broken may be a chain.
      if (metadata.head && !metadata.head.fields.chain) return leaf
      const listing = readListing(directory)
      const { skillFile, problem } = listing
      isReadable = problem === undefined
      if (skillFile === undefined) metadata = undefined
      else if (skillFile !== 'SKILL.md') metadata = readMetadata(below(directory, skillFile))
      return listing
    },
  })
  for (const { path, real, depth, skillFile } of walk) {
    if (skillFile !== undefined && metadata) {
      const file = { path: below(path, skillFile), directory: path, realDirectory: real }
      skills.push({ file, metadata })
      const end = path.indexOf(sep, root.length + 1)
      if (childless.size > 0) childless.delete(end === -1 ? path : path.slice(0, end))
    } else if (depth === 1 && isReadable) childless.add(path)
  }
  cache.save()
  if (plugin) {
    const fit = skills.filter((skill) => {
      const problem = unfitFor(plugin, skill)
      if (problem) diagnostics.push(problem)
      return !problem
    })
    return { skills: fit, diagnostics }
  }
  // A name that begins with `.` or `_` is a common way to say: this is not a skill.
  const message = 'the directory holds no SKILL.md, nor does a directory below it'
  for (const path of explicit ? [] : childless) {
    if (/[\\/][._][^\\/]*$/.test(path)) continue
    diagnostics.push({ code: 'skill-file-missing', severity: 'warning', message, path })
  }
  return { skills, diagnostics }
}

/** Why a skill of a plugin is left out: the others are used all the same. */
function unfitFor(
  plugin: Plugin,
  { file: { path, directory } }: ScannedSkill,
): Diagnostic | undefined {
  const reading = readRegularFile(path, { maxBytes: maxSkillBytes, binary: true })
  const options = { path, directoryName: basename(directory) }
  const [error] = reading.ok ? errorsIn(validateSkill(reading.bytes, options).diagnostics) : []
  const why = outsidePlugin(plugin, path) ?? error?.message
  if (why === undefined) return undefined
  const message = `the skill is left out of its plugin: ${why}`
  return { code: 'plugin-skill-invalid', severity: 'error', message, path, line: error?.line }
}

const leaf: Listing = { skillFile: 'SKILL.md', names: [], links: new Set(), problem: undefined }

/** What cannot be looked at is not absent: the walk says why. */
function isAbsent(root: string): boolean {
  try {
    return statSync(root, { throwIfNoEntry: false })?.isDirectory() !== true
  } catch {
    return false
  }
}

type MetadataRow = { key: string; metadata: Metadata }

interface LocationCache {
  /** When the scan began. What had changed shortly before may change again unnoticed. */
  scannedAtMs: number
  rows: readonly MetadataRow[]
}

/** Raised when rows change, or when the same file is read differently. */
const cacheVersion = '1'
/** Below this number of skills reading them is as fast as reading a cache. */
const worthwhile = 32
/** The coarsest clock of a file system (FAT): a second change within it can look like none. */
const clockGrainMs = 2000

class MetadataCache {
  readonly #path: string | undefined
  readonly #known: ReadonlyMap<string, Metadata>
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
    this.#known = new Map(cache.rows.map(({ key, metadata }) => [key, metadata]))
    this.#settledBefore = cache.scannedAtMs - clockGrainMs
  }

  read(file: string, key: string): Metadata {
    const known = this.#known.get(key)
    const isSame = known?.identity !== undefined && this.#isUnchanged(file, known.identity)
    const metadata = isSame ? known : readMetadata(file)
    if (metadata.identity) {
      this.#rows.push({ key, metadata })
      this.#isNew ||= !isSame
    }
    return metadata
  }

  save(): void {
    const rows = this.#rows
    const isSame = !this.#isNew && rows.length === this.#known.size
    if (this.#path === undefined || isSame || rows.length < worthwhile) return
    const cache: LocationCache = { scannedAtMs: this.#scannedAtMs, rows }
    writeCache(this.#path, cacheVersion, cache)
  }

  #isUnchanged(file: string, known: FileIdentity): boolean {
    const stats = statsOf(file)
    if (!stats || stats.ctimeMs >= this.#settledBefore) return false
    return identityParts.every((part) => stats[part] === known[part])
  }
}

const identityParts = ['ctimeMs', 'ino', 'size', 'mtimeMs'] as const
type FileIdentity = Record<(typeof identityParts)[number], number>

/** What the head of a `SKILL.md` says: plain JSON, so that a cache can keep it. */
export interface Metadata {
  identity?: FileIdentity | undefined
  head?: SkillHead | undefined
  bodyTokens: number
  /** With `path` as given to {@link readMetadata}. */
  diagnostics: readonly Diagnostic[]
}

interface SkillHead {
  /** The name by which the skill is known; that in `fields` is the one that is written. */
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

/** All fields of a skill, without a prototype where keys are the author's. */
export function fieldsOf({ description, fields }: SkillHead): SkillFields {
  const metadata: Record<string, string> = Object.assign(Object.create(null), fields.metadata)
  return { ...noFields, ...fields, description, metadata }
}

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
  const { description = '', ...others } = fields
  const { name, diagnostics: nameFindings } = skillName(fields.name, path)
  const findings = [...diagnostics, ...nameFindings, ...selfReferences(fields, path)]
  let start = 0
  for (let line = 1; line < bodyLine; line++) start = bytes.indexOf(10, start) + 1 || size
  return {
    identity,
    // A copy: a piece of a longer text would keep all of that text in memory.
    head: JSON.parse(JSON.stringify({ name, description, fields: others })),
    bodyTokens: Math.ceil((size - start) / 4),
    diagnostics: findings.length === 0 ? none : findings,
  }
}

/** The name that the skill gives itself, unless it could be taken for a path; else that of its directory. */
function skillName(written: string | undefined, path: string) {
  const directory = basename(dirname(path))
  const name = written?.trim() ?? ''
  const hint = 'Give the skill and its directory the same name, of a-z, 0-9 and hyphens.'
  const warning = (code: string, message: string): Diagnostic => {
    return { code, severity: 'warning', message, path, hint }
  }
  const known = `the skill is known by that of its directory, ${directory}`
  if (name === '') {
    const message = `the skill has no name; it is known by that of its directory, ${directory}`
    return { name: directory, diagnostics: [warning('name-missing', message)] }
  }
  if (/[\\/\p{Cc}]/u.test(name) || name === '.' || name === '..') {
    const message = `the name ${JSON.stringify(name)} could be taken for a path; ${known}`
    return { name: directory, diagnostics: [warning('name-unusable', message)] }
  }
  if (name === directory) return { name, diagnostics: none }
  const message = `the skill is named ${name} and its directory ${directory}; clients differ in which they use`
  return { name, diagnostics: [warning('name-directory-mismatch', message)] }
}

/** Where a chain names its own skill, which is listed, and refused when it is to be used. */
export function selfReferences(fields: SkillFields, path: string): Diagnostic[] {
  if (!fields.chain && fields.triggers.length === 0) return []
  const own = new Set([fields.name, basename(dirname(path))])
  const steps = (fields.chain?.steps ?? []).filter(({ name }) => own.has(name))
  const finding = { code: selfReferenceCode, severity: 'error', path } as const
  return steps.map(({ name, line }) => {
    const message = `the chain names its own skill, ${name}`
    return { ...finding, message, line }
  })
}

/** Whether a path, relative to a skill, leads to the `SKILL.md` of that skill. */
export function isOwnSkillFile(path: string): boolean {
  return /^skill\.md$/i.test(posix.normalize(path))
}

export const selfReferenceCode = 'skill-refers-to-itself'
