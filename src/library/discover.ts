import { basename, dirname } from 'node:path'
import { compareDiagnostics, compareText, type Diagnostic } from '../core/diagnostic.ts'
import type { Runtime } from '../core/runtime.ts'
import type { Settings } from '../core/settings.ts'
import { estimateTokens } from '../core/text.ts'
import { confirmTrust, skillTrust } from '../trust/skill-trust.ts'
import { findWorkspace, readTrustPolicy } from '../trust/decide.ts'
import type { TrustPolicy, TrustVerdict } from '../trust/model.ts'
import { type LocationOptions, skillLocations } from './locations.ts'
import { fieldsOf } from './metadata.ts'
import type { BrokenSkill, Discovery, SkillInfo, SkillLocation } from './model.ts'
import { type Candidate, resolveNames } from './resolve-names.ts'
import { scanLocation, type ScannedSkill } from './scan-location.ts'

export interface DiscoverOptions extends LocationOptions {
  runtime: Runtime
  /** Only from the user's settings or the calling program. */
  trustedPaths?: readonly string[] | undefined
  /** `trusted`: the caller vouches for the whole workspace. Default `ask`. */
  workspaceTrust?: 'ask' | 'trusted' | undefined
  /** Whether to remember metadata between processes, in the user's cache. Default true. */
  useIndex?: boolean | undefined
}

/**
 * Finds all skills and reads the metadata of each. Never throws for what it finds: a broken skill,
 * a place that cannot be read, two skills of one name are in the answer, and the rest is usable.
 *
 * @example
 * const { skills } = discoverSkills({ runtime: systemRuntime() })
 * for (const { name, description } of skills) console.log(name, description)
 */
export function discoverSkills(options: DiscoverOptions): Discovery {
  const { policy, diagnostics } = trustPolicy(options)
  const search = searchLocations(options, policy)
  return {
    ...resolveNames(search.candidates),
    broken: search.broken,
    diagnostics: [...diagnostics, ...search.diagnostics],
  }
}

/** What a search found before it is decided who has which name. */
export interface LocationSearch {
  candidates: readonly Candidate[]
  broken: readonly BrokenSkill[]
  directories: readonly string[]
  diagnostics: readonly Diagnostic[]
}

export function searchLocations(options: DiscoverOptions, policy: TrustPolicy): LocationSearch {
  const { runtime, useIndex = true } = options
  const found = skillLocations(runtime, options).map((location) => {
    const { skills, directories, diagnostics } = scanLocation(location, { runtime, useIndex })
    const { scope, source, directory: place } = location
    const broken = skills
      .filter(({ metadata }) => metadata.head === undefined)
      .map(({ file: { path }, metadata: { diagnostics: findings } }) => {
        return { name: basename(dirname(path)), path, scope, source, diagnostics: findings }
      })
    const all = [...broken.flatMap((skill) => skill.diagnostics), ...diagnostics]
    return {
      candidates: skills
        .flatMap((skill) => toInfo(skill, location, policy) ?? [])
        .toSorted((a, b) => compareText(a.directory, b.directory))
        .map((info) => ({ info, place })),
      broken,
      directories,
      diagnostics: all.toSorted(compareDiagnostics),
    }
  })
  return {
    candidates: found.flatMap(({ candidates }) => candidates),
    broken: found.flatMap(({ broken }) => broken),
    directories: found.flatMap(({ directories }) => directories),
    diagnostics: found.flatMap(({ diagnostics }) => diagnostics),
  }
}

/** The user's record of trust and the caller's wishes, for the workspace of the working directory. */
export function trustPolicy({ runtime, trustedPaths, workspaceTrust }: DiscoverOptions) {
  const workspace = findWorkspace(runtime.cwd, runtime)
  return readTrustPolicy(runtime, { workspace, trustedPaths, workspaceTrust })
}

export function toInfo(
  { file, metadata }: ScannedSkill,
  location: Pick<SkillLocation, 'scope' | 'source'>,
  policy: TrustPolicy,
): SkillInfo | undefined {
  const { head, identity, bodyTokens, diagnostics } = metadata
  if (head === undefined || identity === undefined) return undefined
  const { name, description } = head
  const { scope, source } = location
  const { path, directory, realDirectory } = file
  const { level } = skillTrust({ name, scope, directory, realDirectory }, policy)
  return {
    name,
    description,
    path,
    directory,
    realDirectory,
    scope,
    source,
    trustLevel: level,
    size: identity.size,
    mtimeMs: identity.mtimeMs,
    tokens: { metadata: estimateTokens(name + description), body: bodyTokens },
    shadows: none,
    diagnostics,
    fields: fieldsOf(head),
  }
}

const none: readonly never[] = Object.freeze([])

/** The level of a skill now, and why: everything of it that can act is compared with what was accepted. */
export function currentTrust(info: SkillInfo, options: DiscoverOptions): TrustVerdict {
  return confirmTrust(info, trustPolicy(options).policy)
}

export function discoverOptionsFrom(runtime: Runtime, settings: Settings): DiscoverOptions {
  return {
    runtime,
    customPaths: settings.skills.paths,
    trustedPaths: settings.skills.trustedPaths,
    precedence: settings.skills.precedence,
    workspaceTrust: settings.workspaceTrust,
  }
}
