import { basename, dirname, sep } from 'node:path'
import { compareDiagnostics, type Diagnostic, realPathOf, type Runtime } from '../base/index.ts'
import { estimateTokens, type SkillFields } from '../skill/index.ts'
import {
  findWorkspace,
  readTrustPolicy,
  skillTrust,
  type SkillScope,
  type TrustLevel,
  type TrustPolicy,
} from '../trust/index.ts'
import { decodeFields } from './_fields-codec.ts'
import { readMetadata, type SkillHead } from './_metadata.ts'
import { noFields } from './_no-fields.ts'
import { sameContent } from './_same-content.ts'
import { orderOf } from './_sort-text.ts'
import { type LocationOptions, skillLocations } from './locations.ts'
import type { BrokenSkill, Discovery, SkillInfo, SkillLocation, SkillSummary } from './model.ts'
import { type Candidate, resolveNames } from './resolve-names.ts'
import { type ScannedSkill, scanLocation } from './scan-location.ts'
import type { FoundSkillFile } from './walk.ts'

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
  return discover(options, withFields)
}

/** {@link discoverSkills} without the fields that a list does not show: faster for thousands. */
export function summarizeSkills(options: DiscoverOptions): Discovery<SkillSummary> {
  return discover(options, (summary) => summary)
}

function discover<Listed extends SkillSummary>(
  options: DiscoverOptions,
  build: BuildSkill<Listed>,
): Discovery<Listed> {
  const { policy, diagnostics } = trustPolicy(options)
  const search = searchLocations(options, policy, build)
  return {
    ...resolveNames(search.candidates, sameContent),
    broken: search.broken,
    diagnostics: [...diagnostics, ...search.diagnostics],
  }
}

/** What a search found before it is decided who has which name. */
export interface LocationSearch<Listed extends SkillSummary = SkillInfo> {
  /** In order of precedence. */
  candidates: readonly Candidate<Listed>[]
  broken: readonly BrokenSkill[]
  directories: readonly string[]
  diagnostics: readonly Diagnostic[]
}

export type BuildSkill<Listed extends SkillSummary> = (
  summary: SkillSummary,
  head: SkillHead,
) => Listed

export const withFields: BuildSkill<SkillInfo> = (summary, head) => ({
  ...summary,
  fields: fieldsOf(summary, head),
})

/** An index that was tampered with is no reason to fail: the file itself still says it all. */
function fieldsOf({ path }: SkillSummary, head: SkillHead): SkillFields {
  try {
    return decodeFields(head.fields, head)
  } catch {
    const { name, description } = head
    const fresh = readMetadata(path).head
    return fresh === undefined
      ? { ...noFields, name, description }
      : decodeFields(fresh.fields, fresh)
  }
}

export function searchLocations<Listed extends SkillSummary>(
  options: DiscoverOptions,
  policy: TrustPolicy,
  build: BuildSkill<Listed>,
): LocationSearch<Listed> {
  const { runtime, useIndex = true } = options
  const candidates: Candidate<Listed>[][] = []
  const broken: BrokenSkill[] = []
  const directories: (readonly string[])[] = []
  const diagnostics: Diagnostic[][] = []
  for (const location of skillLocations(runtime, options)) {
    const trustOf = placeTrust(location, policy)
    const here: Candidate<Listed>[] = []
    const findings: Diagnostic[] = []
    const scan = scanLocation(location, { runtime, useIndex }, (skill) => {
      const info = toInfo(skill, location, trustOf, build)
      if (info !== undefined) here.push({ info, place: location.directory })
      else {
        broken.push(toBroken(skill, location))
        findings.push(...skill.metadata.diagnostics)
      }
    })
    directories.push(scan.directories)
    diagnostics.push([...findings, ...scan.diagnostics].toSorted(compareDiagnostics))
    // Directly below the location they are in order already.
    candidates.push(scan.deepest > 1 ? here.toSorted(byDirectory) : here)
  }
  return {
    candidates: candidates.flat(),
    broken,
    directories: directories.flat(),
    diagnostics: diagnostics.flat(),
  }
}

function byDirectory(a: Candidate<SkillSummary>, b: Candidate<SkillSummary>): number {
  return orderOf(a.info.directory, b.info.directory)
}

/** The user's record of trust and the caller's wishes, for the workspace of the working directory. */
export function trustPolicy(options: DiscoverOptions): {
  policy: TrustPolicy
  diagnostics: readonly Diagnostic[]
} {
  const { runtime, trustedPaths, workspaceTrust } = options
  const workspace = findWorkspace(runtime.cwd, runtime)
  return readTrustPolicy(runtime, { workspace, trustedPaths, workspaceTrust })
}

/** Undefined for a skill that cannot be used. */
export function toInfo<Listed extends SkillSummary>(
  { file, metadata }: ScannedSkill,
  location: Pick<SkillLocation, 'scope' | 'source'>,
  trustOf: TrustOfSkill,
  build: BuildSkill<Listed>,
): Listed | undefined {
  const { head, identity, bodyTokens, diagnostics } = metadata
  if (head === undefined || identity === undefined) return undefined
  const { directory, realDirectory, path } = file
  const { scope, source } = location
  const { name, description } = head
  const summary: SkillSummary = {
    name,
    description,
    path,
    directory,
    realDirectory,
    scope,
    source,
    trustLevel: trustOf(name, file),
    size: identity.size,
    mtimeMs: identity.mtimeMs,
    tokens: { metadata: estimateTokens(name + description), body: bodyTokens },
    shadows: none,
    diagnostics,
  }
  return build(summary, head)
}

type TrustOfSkill = (name: string, place: Omit<FoundSkillFile, 'path'>) => TrustLevel

/** The level of each skill of a scope by itself. */
export function eachTrust(scope: SkillScope, policy: TrustPolicy): TrustOfSkill {
  return (name, { directory, realDirectory }) =>
    skillTrust({ name, scope, directory, realDirectory }, policy).level
}

/**
 * The level of the skills of one location. What really lies below the location has the level of the
 * location itself, unless trusted paths may cut through it; asked once, not for each of thousands.
 */
function placeTrust(location: SkillLocation, policy: TrustPolicy): TrustOfSkill {
  const { directory, scope, source } = location
  const each = eachTrust(scope, policy)
  const realDirectory = realPathOf(directory)
  if (realDirectory === undefined || policy.trustedPaths.length > 0) return each
  const level = each(source, { directory, realDirectory })
  const prefix = realDirectory + sep
  return (name, place) => (place.realDirectory.startsWith(prefix) ? level : each(name, place))
}

const none: readonly never[] = Object.freeze([])

function toBroken({ file, metadata }: ScannedSkill, location: SkillLocation): BrokenSkill {
  const { scope, source } = location
  const { diagnostics } = metadata
  return { name: basename(dirname(file.path)), path: file.path, scope, source, diagnostics }
}
