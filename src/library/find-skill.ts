import { type Stats, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { errorsIn, lookProblem } from '#core/errors'
import { isInside, readRegularFile, realPathOf } from '#core/read-files'
import { nearest } from '#core/text'
import { sha256 } from '#core/json'
import { findReferences } from '#skill/references'
import { parseSkill } from '#skill/parse'
import {
  SkillConflictError,
  type SkillError,
  SkillLoadError,
  SkillNotFoundError,
  SkillParseError,
  SkillValidationError,
} from '#skill/errors'
import type { SkillDocument } from '#skill/model'
import { validateSkill, type Validation } from '#skill/validate'
import type { SkillScope } from '#trust/model'
import { isOwnSkillFile, readMetadata, selfReferenceCode, selfReferences } from './scan-location.ts'
import { type DiscoverOptions, discoverSkills, toInfo, trustPolicy } from './discover.ts'
import { listResources, listSkillFiles } from './skill-files.ts'
import { absolutePath, skillLocations } from './locations.ts'
import {
  type BrokenSkill,
  type Discovery,
  maxSkillBytes,
  type Skill,
  type SkillInfo,
} from './model.ts'

/**
 * Finds a skill by name, `scope:name`, directory or `SKILL.md`.
 * @param options `discovery`: result of an earlier search.
 * @throws {SkillError} if there is no such skill, or the skill cannot be used.
 */
export function findSkill(
  reference: string,
  options: DiscoverOptions & { discovery?: Discovery },
): SkillInfo {
  if (isPath(reference)) return skillAt(reference, options)
  const discovery = options.discovery ?? discoverSkills(options)
  const info = selectSkill(discovery, reference)
  if (info) return info
  if (skillFileAt(absolutePath(options.runtime, reference)) !== undefined) {
    return skillAt(reference, options)
  }
  throw skillNotFound(discovery, reference, options)
}

/** Reads the metadata of the skill at a path. @throws {SkillError} as {@link findSkill}. */
export function skillAt(path: string, options: DiscoverOptions): SkillInfo {
  const absolute = absolutePath(options.runtime, path)
  const file = skillFileAt(absolute)
  if (file === undefined) {
    const message = `There is no skill at ${absolute}.`
    throw new SkillNotFoundError({ code: 'skill-not-found', message })
  }
  const { policy } = trustPolicy(options)
  const directory = dirname(file)
  const realDirectory = realPathOf(directory) ?? directory
  const location = skillLocations(options.runtime, options).find(
    ({ directory: place }) =>
      isInside(place, realDirectory) || isInside(realPathOf(place) ?? place, realDirectory),
  )
  const isInProject = isInside(policy.workspace, realDirectory)
  const scope = location?.scope ?? (isInProject ? 'project' : 'custom')
  const source = location?.source ?? (isInProject ? '.' : path)
  const metadata = readMetadata(file)
  const scannedSkill = { file: { path: file, directory, realDirectory }, metadata }
  const info = toInfo(scannedSkill, { directory, ...location, scope, source }, policy)
  if (info) return info
  const { diagnostics } = metadata
  throw brokenSkill({ name: basename(directory), path: file, diagnostics })
}

/** Whether a reference to a skill is a path, not a name. */
export function isPath(reference: string): boolean {
  return /[\\/]|^(?:\.{1,2}|~|skill\.md)$/i.test(reference)
}

/** Returns the skill file for an absolute path of a skill file or its directory. */
function skillFileAt(path: string): string | undefined {
  const stats = statsAt(path)
  if (!stats) return undefined
  if (!stats.isDirectory()) return /^skill\.md$/i.test(basename(path)) ? path : undefined
  return ['SKILL.md', 'skill.md']
    .map((name) => join(path, name))
    .find((file) => statsAt(file) !== undefined)
}

function statsAt(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch (error) {
    const message = `${path} cannot be read: ${lookProblem(error) ?? 'it is not there'}.`
    throw new SkillNotFoundError({ code: 'skill-unreadable', message, cause: error })
  }
}

const scopes: readonly SkillScope[] = ['project', 'user', 'custom', 'code']

/**
 * Returns the skill with a name, or `scope:name`, which also reaches a shadowed skill.
 * @throws {SkillError} if skills conflict over the name, or the skill is broken.
 */
export function selectSkill(discovery: Discovery, reference: string): SkillInfo | undefined {
  const { scope, name } = splitReference(reference)
  const matches = (info: { name: string; scope: SkillScope }) =>
    info.name === name && (scope === undefined || info.scope === scope)
  const conflicts = discovery.conflicts.filter(matches)
  if (conflicts.length > 0) {
    const paths = conflicts.map(({ path }) => path).join(' and ')
    const message = `Two different skills in one place are called ${name}: ${paths}.`
    const hint = 'Rename one of them, or give a path.'
    throw new SkillConflictError({ code: 'skill-conflict', message, hint })
  }
  const shadowedSkills = scope ? discovery.shadowed : []
  const info = [...discovery.skills, ...shadowedSkills].find(matches)
  if (info) return info
  const brokenMatch = discovery.broken.find(matches)
  if (brokenMatch) throw brokenSkill(brokenMatch)
  return undefined
}

/** Returns the error for a reference that matches no skill, with a suggestion. */
export function skillNotFound(
  discovery: Discovery,
  reference: string,
  options: DiscoverOptions,
): SkillNotFoundError {
  const { name } = splitReference(reference)
  const { skills, conflicts, broken } = discovery
  const names = [...skills, ...conflicts, ...broken].map((skill) => skill.name)
  const similar = nearest(name, names)
  const suggestion = similar === undefined ? '' : `Did you mean ${similar}? `
  // The skill may be in a directory that could not be read.
  const diagnostics = discovery.diagnostics.filter(({ code }) => code === 'directory-unreadable')
  // An explicit place can be misspelt, so it is listed even if it does not exist.
  const places = skillLocations(options.runtime, options)
    .filter(({ directory, explicit }) => explicit || realPathOf(directory) !== undefined)
    .map(({ directory }) => directory)
  const placesText = places.length === 0 ? '' : ` Looked in ${[...new Set(places)].join(', ')}.`
  const message = `There is no skill named ${reference}.`
  const hint = `${suggestion}List skills with: skillrail list.${placesText}`
  return new SkillNotFoundError({ code: 'skill-not-found', message, hint, diagnostics })
}

/** @param errorCode default: the code of the first error. */
function brokenSkill(
  { name, path, diagnostics }: Pick<BrokenSkill, 'name' | 'path' | 'diagnostics'>,
  errorCode?: string,
): SkillError {
  const [first] = errorsIn(diagnostics)
  const code = errorCode ?? first?.code ?? 'skill-broken'
  const message = `Skill ${name} cannot be used: ${path} is broken.`
  const hint = `skillrail validate ${path} shows the errors.`
  const facts = { code, message, hint, diagnostics }
  if (code.startsWith('file-')) return new SkillLoadError(facts)
  const isIncomplete = diagnostics.some((one) => one.code === 'description-missing')
  return isIncomplete ? new SkillValidationError(facts) : new SkillParseError(facts)
}

function splitReference(reference: string): { scope: SkillScope | undefined; name: string } {
  const scope = scopes.find((candidate) => reference.startsWith(`${candidate}:`))
  return { scope, name: scope ? reference.slice(scope.length + 1) : reference }
}

/** Reads the body of a skill and lists its resources. @throws {SkillError} if the skill cannot be used any more. */
export function loadSkill(info: SkillInfo): Skill {
  const { name, path } = info
  const reading = readRegularFile(path, { maxBytes: maxSkillBytes, keepMark: true })
  if (!reading.ok && reading.code === 'file-missing') {
    const message = `Skill ${name} was found, but ${path} does not exist any more.`
    throw new SkillNotFoundError({ code: 'skill-gone', message })
  }
  if (!reading.ok) {
    const message = `Skill ${name} cannot be loaded: ${reading.message}.`
    throw new SkillLoadError({ code: reading.code, message })
  }
  const { skill, diagnostics } = parseSkill(reading.text, { path })
  if (!skill) {
    // The search found the file usable, so it changed since then.
    throw brokenSkill({ name, path, diagnostics }, 'skill-unusable')
  }
  refuseSelfReference(info, skill)
  return {
    // The fields in the file now decide what the skill is allowed to do.
    info: { ...info, fields: skill.fields, size: reading.size, mtimeMs: reading.mtimeMs },
    body: skill.body,
    digest: sha256(reading.bytes),
    resources: listResources(info.directory),
  }
}

function refuseSelfReference({ name, path }: SkillInfo, { fields, body }: SkillDocument): void {
  const diagnostics = selfReferences(fields, path)
  const link = findReferences(body).find(
    ({ kind, target }) => kind === 'link' && isOwnSkillFile(target),
  )
  if (diagnostics.length === 0 && !link) return
  const reason = diagnostics[0]?.message ?? 'its body links to its own SKILL.md'
  const message = `Skill ${name} refers to itself: ${reason} (${path}).`
  throw new SkillLoadError({ code: selfReferenceCode, message, diagnostics })
}

/** A larger file is refused without being read. */
const maxValidatedBytes = 8 * 1024 * 1024

/** Validates the skill at a directory or `SKILL.md`. An unreadable file becomes a diagnostic. */
export function validateSkillAt(path: string): Validation {
  const invalid = (at: string, code: string, message: string): Validation => {
    const diagnostics = [{ code, severity: 'error', message, path: at } as const]
    return { name: undefined, valid: false, diagnostics }
  }
  const file = skillFileAt(path)
  if (file === undefined) {
    return invalid(path, 'skill-file-missing', `there is no SKILL.md at ${path}`)
  }
  const reading = readRegularFile(file, { maxBytes: maxValidatedBytes, keepMark: true })
  if (!reading.ok) return invalid(file, reading.code, reading.message)
  const directory = dirname(file)
  const files = listSkillFiles(directory)
  return validateSkill(reading.text, { path: file, directoryName: basename(directory), files })
}
