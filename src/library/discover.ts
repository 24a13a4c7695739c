import { existsSync } from 'node:fs'
import { basename, dirname, join, relative, sep } from 'node:path'
import { byText, compareDiagnostics, type Diagnostic } from '#core/errors'
import { findWorkspace, readRegularFile, realPathOf } from '#core/read-files'
import { type Runtime, userDirectories } from '#core/runtime'
import type { Settings } from '#core/settings'
import { estimateTokens } from '#core/text'
import { FieldReader } from '#skill/field-values'
import type { TriggerDeclaration } from '#skill/model'
import { commentsInValues, readAuthoredYaml } from '#skill/authored-yaml'
import { readTriggers } from '#skill/trigger-declarations'
import type { VariableValues } from '#skill/variables'
import type { ActingPart, TrustPolicy, TrustVerdict } from '#trust/model'
import {
  maxOverlayBytes,
  overlayTexts,
  triggerOverlay,
  workspaceFileParts,
} from '#trust/workspace-files'
import { confirmTrust, mayShadow, readTrustPolicy, skillTrust } from '#trust/skill-trust'
import { withoutHidden } from './client-skill-switches.ts'
import { clientsAt, type LocationOptions, readersOfUnquoted, skillLocations } from './locations.ts'
import {
  type BrokenSkill,
  type Discovery,
  maxSkillBytes,
  type SkillInfo,
  type SkillLocation,
} from './model.ts'
import { pluginRoot } from './plugins.ts'
import { fieldsOf, scanLocation, type ScannedSkill } from './scan-location.ts'

export interface DiscoverOptions extends LocationOptions {
  runtime: Runtime
  /** Only from the user's settings or the calling program. */
  trustedPaths?: readonly string[] | undefined
  /** `trusted`: the caller vouches for the project's skills; default `ask`: the user's record decides. */
  workspaceTrust?: 'ask' | 'trusted' | undefined
  /** Whether metadata is cached in the user's cache directory; default true. */
  useIndex?: boolean | undefined
}

/** Finds all skills of a project and its user, and resolves names. */
export function discoverSkills(options: DiscoverOptions): Discovery {
  const { policy, diagnostics } = trustPolicy(options)
  const search = searchLocations(options, policy)
  const names = resolveNames(search.candidates)
  return withOverlays(options.runtime, policy, {
    ...names,
    skills: withoutHidden(options.runtime, names.skills),
    broken: search.broken,
    diagnostics: [...diagnostics, ...search.diagnostics],
  })
}

export interface LocationSearch {
  candidates: readonly Candidate[]
  broken: readonly BrokenSkill[]
  diagnostics: readonly Diagnostic[]
}

export function searchLocations(options: DiscoverOptions, policy: TrustPolicy): LocationSearch {
  const { runtime, useIndex = true } = options
  const candidates: Candidate[] = []
  const brokenSkills: BrokenSkill[] = []
  const brokenFiles = new Set<string>()
  const diagnostics: Diagnostic[] = []
  for (const location of skillLocations(runtime, options)) {
    const scan = scanLocation(location, { runtime, useIndex })
    const { scope, source, directory: place } = location
    const infos: SkillInfo[] = []
    const locationDiagnostics: Diagnostic[] = []
    for (const skill of scan.skills) {
      const info = toInfo(skill, location, policy)
      if (info) infos.push(info)
      else {
        const { path } = skill.file
        // A link to a broken skill is not a second broken skill.
        const file = realPathOf(path) ?? path
        if (brokenFiles.has(file)) continue
        brokenFiles.add(file)
        const skillDiagnostics = skill.metadata.diagnostics
        const name = basename(dirname(path))
        brokenSkills.push({ name, path, scope, source, diagnostics: skillDiagnostics })
        locationDiagnostics.push(...skillDiagnostics)
      }
    }
    for (const info of infos.toSorted(byText('directory'))) candidates.push({ info, place })
    locationDiagnostics.push(...scan.diagnostics)
    diagnostics.push(...locationDiagnostics.toSorted(compareDiagnostics))
  }
  return { candidates, broken: brokenSkills, diagnostics }
}

/** Reads the trust policy for the workspace of the working directory. */
export function trustPolicy({ runtime, trustedPaths, workspaceTrust }: DiscoverOptions): {
  policy: TrustPolicy
  diagnostics: readonly Diagnostic[]
} {
  const workspace = findWorkspace(runtime.cwd, runtime)
  return readTrustPolicy(runtime, { workspace, trustedPaths, workspaceTrust })
}

export function toInfo(
  { file, metadata }: ScannedSkill,
  location: Pick<SkillLocation, 'directory' | 'scope' | 'source' | 'clients' | 'depth'>,
  policy: TrustPolicy,
): SkillInfo | undefined {
  const { head, identity, bodyTokens, diagnostics } = metadata
  if (!head || !identity) return undefined
  const { name, description } = head
  const { scope, source } = location
  const { level } = skillTrust({ name, scope, ...file }, policy)
  const depth = relative(location.directory, file.directory).split(sep).length
  const readers = clientsAt(location, depth)
  const isUnquoted = diagnostics.some(({ code }) => code === 'yaml-unquoted')
  return {
    name,
    description,
    ...file,
    scope,
    source,
    trustLevel: level,
    size: identity.size,
    mtimeMs: identity.mtimeMs,
    tokens: { metadata: estimateTokens(name + description), body: bodyTokens },
    shadows: nothing,
    linkedFrom: nothing,
    clients: isUnquoted ? readersOfUnquoted(readers) : readers,
    diagnostics,
    fields: fieldsOf(head),
  }
}

/** One list for all skills: thousands of empty lists would take memory. */
const nothing: readonly never[] = []

/** Returns the current level of a skill and the reason. Compares all acting parts with the accepted ones. */
export function currentTrust(info: SkillInfo, options: DiscoverOptions): TrustVerdict {
  return confirmTrust(info, trustPolicy(options).policy)
}

/** Returns the values of client variables in a skill, without its directory and the session. */
export function variablesFor(
  { directory }: SkillInfo,
  options: DiscoverOptions,
): Pick<VariableValues, 'project' | 'plugin'> {
  const { runtime } = options
  const plugin = directory === '' ? undefined : pluginRoot(directory)
  return { project: findWorkspace(runtime.cwd, runtime), plugin }
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

export interface Candidate {
  info: SkillInfo
  /** Candidates with the same place have the same rank. */
  place: string
}

/** Decides which skill gets each name. @param candidates in order of precedence. */
export function resolveNames(
  candidates: readonly Candidate[],
  isSame: (a: SkillInfo, b: SkillInfo) => boolean = sameContent,
): { skills: SkillInfo[]; shadowed: SkillInfo[]; conflicts: SkillInfo[] } {
  const shadowedSkills: SkillInfo[] = []
  const conflicts: SkillInfo[] = []
  const winners = new Map<Candidate, SkillInfo>()
  for (const rivals of groupByName(candidates)) {
    const [winner, ...otherSkills] = distinct(rivals)
    if (!winner) continue
    const opponents = otherSkills.filter(
      ({ info, place }) =>
        place === winner.place &&
        mayShadow(info.trustLevel, winner.info.trustLevel) &&
        !isSame(info, winner.info),
    )
    const hiddenSkills = otherSkills
      .filter((other) => !opponents.includes(other))
      .map(({ info }) => info)
    shadowedSkills.push(...hiddenSkills)
    if (opponents.length === 0) {
      const shadows = hiddenSkills.map(({ path }) => path)
      const info = hiddenSkills.length === 0 ? winner.info : { ...winner.info, shadows }
      winners.set(winner.first, info)
      continue
    }
    const claimants = [winner, ...opponents].map(({ info }) => info)
    for (const info of claimants) {
      const conflict = conflictDiagnostic(info, claimants)
      conflicts.push({ ...info, diagnostics: [...info.diagnostics, conflict] })
    }
  }
  const skills = candidates.flatMap((candidate) => winners.get(candidate) ?? [])
  return { shadowed: shadowedSkills, conflicts, skills }
}

/** Avoids `Map.groupBy`, which Node 20 does not have: the hook promises to run there. */
function groupByName(candidates: readonly Candidate[]): Iterable<Candidate[]> {
  const groups = new Map(candidates.map(({ info }) => [info.name, new Array<Candidate>()]))
  for (const candidate of candidates) groups.get(candidate.info.name)?.push(candidate)
  return groups.values()
}

interface DistinctSkill extends Candidate {
  /** The candidate that `info` was built from. */
  first: Candidate
}

/** Orders trusted candidates first and merges candidates of the same file. Otherwise keeps the order. */
function distinct(rivals: readonly Candidate[]): DistinctSkill[] {
  const byTrust = rivals.toSorted(({ info: { trustLevel: a } }, { info: { trustLevel: b } }) =>
    a === b ? 0 : mayShadow(a, b) ? -1 : 1,
  )
  // A single candidate needs no file comparison.
  if (byTrust.length === 1) return byTrust.map((first) => ({ ...first, first }))
  const byFile = new Map<string, DistinctSkill>()
  for (const [index, candidate] of byTrust.entries()) {
    const { path } = candidate.info
    const file = path === '' ? `code ${index}` : (realPathOf(path) ?? path)
    const mergedSkill = byFile.get(file)
    byFile.set(
      file,
      mergedSkill
        ? { ...mergedSkill, info: withLink(mergedSkill.info, candidate.info) }
        : { ...candidate, first: candidate },
    )
  }
  return [...byFile.values()]
}

/** Adds one more path to a skill's `SKILL.md`, with the diagnostics that only this path has. */
function withLink(info: SkillInfo, { path, source, clients, diagnostics }: SkillInfo): SkillInfo {
  const isNew = ({ code, message }: Diagnostic) =>
    info.diagnostics.every((other) => other.code !== code || other.message !== message)
  return {
    ...info,
    linkedFrom: [...info.linkedFrom, { path, source }],
    clients: [...new Set([...info.clients, ...clients])],
    diagnostics: [...info.diagnostics, ...diagnostics.filter(isNew)],
  }
}

function conflictDiagnostic(info: SkillInfo, claimants: readonly SkillInfo[]): Diagnostic {
  const few = claimants.slice(0, 4).filter((other) => other !== info)
  const paths = few.map(({ path }) => path).join(', ')
  const more = claimants.length - few.length - 1
  const message = `${paths}${more > 0 ? ` and ${more} more` : ''} in the same place has the name ${info.name} too; none of them can be used by that name`
  const hint = 'Rename one of them, or remove it.'
  return { code: 'skill-conflict', severity: 'error', message, path: info.path, hint }
}

/** Whether two skills are copies: their `SKILL.md` files contain the same bytes. */
export function sameContent(a: SkillInfo, b: SkillInfo): boolean {
  if (a.size !== b.size) return false
  const first = readRegularFile(a.path, { maxBytes: maxSkillBytes })
  const second = readRegularFile(b.path, { maxBytes: maxSkillBytes })
  return first.ok && second.ok && first.bytes.equals(second.bytes)
}

/** Returns the paths of the overlays, which add triggers to skills: the user's, then the project's. */
export function overlayPaths(runtime: Runtime, workspace: string): string[] {
  return [join(userDirectories(runtime).config, 'triggers.yaml'), join(workspace, triggerOverlay)]
}

/** Adds the triggers of the overlays to the skills of a search. */
export function withOverlays(
  runtime: Runtime,
  policy: TrustPolicy,
  discovery: Discovery,
): Discovery {
  const paths = overlayPaths(runtime, policy.workspace).filter((path) => existsSync(path))
  if (paths.length === 0) return discovery
  const diagnostics: Diagnostic[] = []
  const overlayTriggers = new Map<string, TriggerDeclaration[]>()
  for (const path of paths) {
    const report = (message: string, hint?: string) => {
      diagnostics.push({ code: 'overlay-unused', severity: 'warning', message, path, hint })
    }
    if (path.endsWith(triggerOverlay) && !isAccepted(policy)) {
      report('the triggers are not trusted, so they have no effect', 'Review: skillrail trust')
      continue
    }
    const reading = readRegularFile(path, { maxBytes: maxOverlayBytes })
    const yaml = readAuthoredYaml(reading.ok ? reading.text : '', { firstLine: 1, path })
    diagnostics.push(...yaml.diagnostics)
    if (yaml.root) diagnostics.push(...commentsInValues(yaml.root, path))
    const root = yaml.root?.kind === 'map' ? yaml.root : undefined
    if (!root) report('it is not a map from names of skills to triggers')
    const reader = new FieldReader(path, diagnostics)
    for (const { key, value } of root?.entries ?? []) {
      const base = dirname(path)
      const triggers = readTriggers(reader, value).map((trigger) => ({ ...trigger, base }))
      overlayTriggers.set(key.text, [...(overlayTriggers.get(key.text) ?? []), ...triggers])
      if (discovery.skills.every(({ name }) => name !== key.text)) {
        report(`there is no skill ${key.text}`)
      }
    }
  }
  const skills = discovery.skills.map((info) => {
    const more = overlayTriggers.get(info.name)
    if (!more) return info
    return { ...info, fields: { ...info.fields, triggers: [...info.fields.triggers, ...more] } }
  })
  return { ...discovery, skills, diagnostics: [...discovery.diagnostics, ...diagnostics] }
}

function isAccepted({ workspace, workspaceTrust, acceptance }: TrustPolicy): boolean {
  if (workspaceTrust === 'trusted') return true
  const acceptedOverlay = acceptance?.parts.find(({ path }) => path === triggerOverlay)
  const current = workspaceFileParts(workspace).find(({ path }) => path === triggerOverlay)
  if (acceptedOverlay === undefined || current?.digest !== acceptedOverlay.digest) return false
  if (acceptance?.pinned !== true) return true
  const isSame = (part: ActingPart): boolean =>
    acceptance.parts.some(
      ({ owner, path, digest }) => owner === '' && path === part.path && digest === part.digest,
    )
  return overlayTexts(workspace).every(isSame)
}
