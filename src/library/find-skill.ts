import { type Stats, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { isInside, lookProblem, realPathOf } from '../base/index.ts'
import { SkillNotFoundError } from '../skill/index.ts'
import { readMetadata } from './_metadata.ts'
import {
  discoverSkills,
  type DiscoverOptions,
  eachTrust,
  toInfo,
  trustPolicy,
  withFields,
} from './discover.ts'
import { absolutePath, skillLocations } from './locations.ts'
import type { Discovery, SkillInfo, SkillLocation } from './model.ts'
import { brokenSkill, selectSkill, skillNotFound } from './select-skill.ts'

export interface FindSkillOptions extends DiscoverOptions {
  /** An answer that is there already; default: search now, if a name is asked for. */
  discovery?: Discovery | undefined
}

/**
 * What a person means by the word on a command line: a name, `scope:name`, a skill's directory or
 * its `SKILL.md`. A word with a slash is a path; another one is a name before it is a directory.
 *
 * @throws {SkillNotFoundError} with what may have been meant and where was looked.
 * @throws {SkillConflictError | SkillParseError | SkillLoadError} when it cannot be used.
 */
export function findSkill(reference: string, options: FindSkillOptions): SkillInfo {
  if (isPath(reference)) return skillAt(reference, options)
  const discovery = options.discovery ?? discoverSkills(options)
  const found = selectSkill(discovery, reference)
  if (found !== undefined) return found
  if (skillFileAt(absolutePath(options.runtime, reference)) !== undefined) {
    return skillAt(reference, options)
  }
  throw skillNotFound(discovery, reference, placesOf(options))
}

/**
 * The skill in a directory, or of a `SKILL.md`. Its scope is that of the location that holds it;
 * elsewhere in the workspace it belongs to the project, and anywhere else it is a custom path.
 *
 * @throws {SkillNotFoundError | SkillParseError | SkillLoadError}
 */
export function skillAt(path: string, options: DiscoverOptions): SkillInfo {
  const { runtime } = options
  const absolute = absolutePath(runtime, path)
  const file = skillFileAt(absolute)
  if (file === undefined) throw noSkillAt(absolute)
  const { policy } = trustPolicy(options)
  const directory = dirname(file)
  const realDirectory = realPathOf(directory) ?? directory
  const owner = locationOf(realDirectory, options, policy.workspace) ?? {
    scope: 'custom',
    source: path,
  }
  const metadata = readMetadata(file)
  const found = { file: { path: file, directory, realDirectory }, metadata }
  const info = toInfo(found, owner, eachTrust(owner.scope, policy), withFields)
  if (info !== undefined) return info
  const { diagnostics } = metadata
  throw brokenSkill({ name: basename(directory), path: file, ...owner, diagnostics })
}

function isPath(reference: string): boolean {
  return (
    /[\\/]/.test(reference) || /^(?:\.{1,2}|~)$/.test(reference) || /^skill\.md$/i.test(reference)
  )
}

/**
 * The skill file that an absolute path means; anything by that name counts, so that it can be complained of.
 *
 * @throws {SkillNotFoundError} where that cannot be looked at.
 */
export function skillFileAt(path: string): string | undefined {
  const stats = lookAt(path)
  if (stats === undefined) return undefined
  if (!stats.isDirectory()) return /^skill\.md$/i.test(basename(path)) ? path : undefined
  return ['SKILL.md', 'skill.md']
    .map((name) => join(path, name))
    .find((file) => lookAt(file) !== undefined)
}

function lookAt(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch (error) {
    throw new SkillNotFoundError({
      code: 'skill-unreadable',
      message: `${path} cannot be read: ${lookProblem(error) ?? 'it is not there'}.`,
      hint: 'Make it readable, mend or remove the link, or name another path.',
      cause: error,
    })
  }
}

function locationOf(
  directory: string,
  options: DiscoverOptions,
  workspace: string,
): Pick<SkillLocation, 'scope' | 'source'> | undefined {
  const location = skillLocations(options.runtime, options).find(
    (candidate) =>
      isInside(candidate.directory, directory) ||
      isInside(realPathOf(candidate.directory) ?? candidate.directory, directory),
  )
  if (location !== undefined) return location
  return isInside(workspace, directory) ? { scope: 'project', source: '.' } : undefined
}

function placesOf(options: DiscoverOptions): string[] {
  const places = skillLocations(options.runtime, options)
    .filter(({ directory }) => realPathOf(directory) !== undefined)
    .map(({ directory }) => directory)
  return [...new Set(places)]
}

function noSkillAt(path: string): SkillNotFoundError {
  return new SkillNotFoundError({
    code: 'skill-not-found',
    message: `There is no skill at ${path}.`,
    hint: 'Give a directory that holds a SKILL.md, or the SKILL.md itself.',
  })
}
