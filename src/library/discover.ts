import { existsSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { byText, compareDiagnostics, type Diagnostic } from '#core/errors'
import { findWorkspace, readRegularFile } from '#core/read-files'
import { type Runtime, userDirectories } from '#core/runtime'
import type { Settings } from '#core/settings'
import { estimateTokens } from '#core/text'
import { FieldReader } from '#skill/field-values'
import type { TriggerDeclaration } from '#skill/model'
import { readYaml } from '#skill/read-yaml'
import { readTriggers } from '#skill/trigger-declarations'
import type { TrustPolicy, TrustVerdict } from '#trust/model'
import { triggerOverlay, workspaceFileParts } from '#trust/project-files'
import { confirmTrust, mayShadow, readTrustPolicy, skillTrust } from '#trust/skill-trust'
import { type LocationOptions, skillLocations } from './locations.ts'
import {
  type BrokenSkill,
  type Discovery,
  maxSkillBytes,
  type SkillInfo,
  type SkillLocation,
} from './model.ts'
import { fieldsOf, scanLocation, type ScannedSkill } from './scan-location.ts'

export interface DiscoverOptions extends LocationOptions {
  runtime: Runtime
  /** Only from the user's settings or the calling program. */
  trustedPaths?: readonly string[] | undefined
  /** `trusted` vouches for the project's skills; default `ask`: the user's record decides. */
  workspaceTrust?: 'ask' | 'trusted' | undefined
  /** Whether metadata is remembered in the user's cache directory; default true. */
  useIndex?: boolean | undefined
}

export function discoverSkills(options: DiscoverOptions): Discovery {
  const { policy, diagnostics } = trustPolicy(options)
  const search = searchLocations(options, policy)
  return withOverlays(options.runtime, policy, {
    ...resolveNames(search.candidates),
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
  const broken: BrokenSkill[] = []
  const diagnostics: Diagnostic[] = []
  for (const location of skillLocations(runtime, options)) {
    const found = scanLocation(location, { runtime, useIndex })
    const { scope, source, directory: place } = location
    const infos: SkillInfo[] = []
    const findings: Diagnostic[] = []
    for (const skill of found.skills) {
      const info = toInfo(skill, location, policy)
      if (info) infos.push(info)
      else {
        const { path } = skill.file
        const own = skill.metadata.diagnostics
        broken.push({ name: basename(dirname(path)), path, scope, source, diagnostics: own })
        findings.push(...own)
      }
    }
    for (const info of infos.toSorted(byText('directory'))) candidates.push({ info, place })
    findings.push(...found.diagnostics)
    diagnostics.push(...findings.toSorted(compareDiagnostics))
  }
  return { candidates, broken, diagnostics }
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
  if (!head || !identity) return undefined
  const { name, description } = head
  const { scope, source } = location
  const { level } = skillTrust({ name, scope, ...file }, policy)
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
    shadows: [],
    diagnostics,
    fields: fieldsOf(head),
  }
}

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

export interface Candidate {
  info: SkillInfo
  /** Two candidates of equal place have equal rank. */
  place: string
}

/** Decides who has each name. Candidates come in order of precedence. */
export function resolveNames(
  candidates: readonly Candidate[],
  isSame: (a: SkillInfo, b: SkillInfo) => boolean = sameContent,
): { skills: SkillInfo[]; shadowed: SkillInfo[]; conflicts: SkillInfo[] } {
  const shadowed: SkillInfo[] = []
  const conflicts: SkillInfo[] = []
  const winners = new Map<SkillInfo, SkillInfo>()
  for (const rivals of grouped(candidates)) {
    const [winner, ...others] = distinct(rivals)
    if (!winner) continue
    const opponents = others.filter(
      ({ info, place }) =>
        place === winner.place &&
        mayShadow(info.trustLevel, winner.info.trustLevel) &&
        !isSame(info, winner.info),
    )
    const hidden = others.filter((one) => !opponents.includes(one)).map(({ info }) => info)
    shadowed.push(...hidden)
    if (opponents.length === 0) {
      const shadows = hidden.map(({ path }) => path)
      winners.set(winner.info, hidden.length === 0 ? winner.info : { ...winner.info, shadows })
      continue
    }
    const contested = [winner, ...opponents].map(({ info }) => info)
    for (const info of contested) {
      const finding = conflictDiagnostic(info, contested)
      conflicts.push({ ...info, diagnostics: [...info.diagnostics, finding] })
    }
  }
  const skills = candidates.flatMap(({ info }) => winners.get(info) ?? [])
  return { shadowed, conflicts, skills }
}

/** By name. Without `Map.groupBy`, which Node 20 does not have: the hook promises to run there. */
function grouped(candidates: readonly Candidate[]): Iterable<Candidate[]> {
  const groups = new Map(candidates.map(({ info }) => [info.name, new Array<Candidate>()]))
  for (const candidate of candidates) groups.get(candidate.info.name)?.push(candidate)
  return groups.values()
}

/** Trusted ones before untrusted ones, otherwise in the given order; each real directory once. */
function distinct(rivals: readonly Candidate[]): Candidate[] {
  const seen = new Set<string>()
  const byTrust = rivals.toSorted(({ info: { trustLevel: a } }, { info: { trustLevel: b } }) =>
    a === b ? 0 : mayShadow(a, b) ? -1 : 1,
  )
  return byTrust.filter(({ info: { realDirectory } }) => {
    const isNew = realDirectory === '' || !seen.has(realDirectory)
    seen.add(realDirectory)
    return isNew
  })
}

function conflictDiagnostic(info: SkillInfo, contested: readonly SkillInfo[]): Diagnostic {
  const few = contested.slice(0, 4).filter((other) => other !== info)
  const others = few.map(({ path }) => path).join(', ')
  const more = contested.length - few.length - 1
  const message = `${others}${more > 0 ? ` and ${more} more` : ''} in the same place has the name ${info.name} too; none of them can be used by that name`
  const hint = 'Rename one of them, or remove it.'
  return { code: 'skill-conflict', severity: 'error', message, path: info.path, hint }
}

/** Whether two skills are copies of each other: the same bytes in their `SKILL.md`. */
export function sameContent(a: SkillInfo, b: SkillInfo): boolean {
  if (a.size !== b.size) return false
  const first = readRegularFile(a.path, { maxBytes: maxSkillBytes })
  const second = readRegularFile(b.path, { maxBytes: maxSkillBytes })
  return first.ok && second.ok && first.bytes.equals(second.bytes)
}

/** The files that add triggers to skills of others: the user's own, then the project's. */
export function overlayPaths(runtime: Runtime, workspace: string): string[] {
  return [join(userDirectories(runtime).config, 'triggers.yaml'), join(workspace, triggerOverlay)]
}

export function withOverlays(
  runtime: Runtime,
  policy: TrustPolicy,
  discovery: Discovery,
): Discovery {
  const paths = overlayPaths(runtime, policy.workspace).filter((path) => existsSync(path))
  if (paths.length === 0) return discovery
  const diagnostics: Diagnostic[] = []
  const added = new Map<string, TriggerDeclaration[]>()
  for (const path of paths) {
    const report = (message: string, hint?: string) => {
      diagnostics.push({ code: 'overlay-unused', severity: 'warning', message, path, hint })
    }
    if (path.endsWith(triggerOverlay) && !isAccepted(policy)) {
      report('the triggers are not trusted, so they have no effect', 'Review: skillrail trust')
      continue
    }
    const reading = readRegularFile(path, { maxBytes: 1024 * 1024 })
    const yaml = readYaml(reading.ok ? reading.text : '', { firstLine: 1, path })
    diagnostics.push(...yaml.diagnostics)
    const root = yaml.root?.kind === 'map' ? yaml.root : undefined
    if (!root) report('it is not a map from names of skills to triggers')
    const reader = new FieldReader(path, diagnostics)
    for (const { key, value } of root?.entries ?? []) {
      const own = readTriggers(reader, value).map((one) => ({ ...one, base: dirname(path) }))
      added.set(key.text, [...(added.get(key.text) ?? []), ...own])
      if (discovery.skills.every(({ name }) => name !== key.text)) {
        report(`there is no skill ${key.text}`)
      }
    }
  }
  const skills = discovery.skills.map((info) => {
    const more = added.get(info.name)
    if (!more) return info
    return { ...info, fields: { ...info.fields, triggers: [...info.fields.triggers, ...more] } }
  })
  return { ...discovery, skills, diagnostics: [...discovery.diagnostics, ...diagnostics] }
}

function isAccepted({ workspace, workspaceTrust, acceptance }: TrustPolicy): boolean {
  if (workspaceTrust === 'trusted') return true
  const accepted = acceptance?.parts.find(({ path }) => path === triggerOverlay)
  const now = workspaceFileParts(workspace).find(({ path }) => path === triggerOverlay)
  return accepted !== undefined && now?.digest === accepted.digest
}
