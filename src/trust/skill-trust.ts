import { dirname } from 'node:path'
import { realPathOf } from '../core/read-files.ts'
import type { Runtime } from '../core/runtime.ts'
import { allowingHint, collectSkillParts } from './acting-parts.ts'
import {
  decideTrust,
  isUnderLock,
  readTrustPolicy,
  SkillNotTrustedError,
  type TrustFacts,
  type TrustPolicyOptions,
} from './decide.ts'
import { lockStateOf, type NearestLock, nearestLock } from './lock.ts'
import {
  type Acceptance,
  type AcceptedPart,
  type ActingPart,
  type ActingSkill,
  orderParts,
  type PartChange,
  type SkillScope,
  type TrustPolicy,
  type TrustSubject,
  type TrustVerdict,
  type WorkspaceAssessment,
} from './model.ts'
import { agentFileParts } from './project-files.ts'
import { unreadableDigest, workspaceRelative } from './skill-files.ts'

/**
 * The level of a skill by its place alone. Hashes nothing, so it is cheap for a list of thousands;
 * before something acts, ask {@link confirmTrust} or {@link requireTrusted}.
 *
 * @example
 * const { policy } = readTrustPolicy(runtime, { workspace, trustedPaths: [] })
 * skillTrust({ name: 'deploy', scope: 'project', directory }, policy).level // 'untrusted'
 */
export function skillTrust(skill: TrustSubject, policy: TrustPolicy): TrustVerdict {
  return decideTrust({ ...factsOf(skill, policy), changed: false })
}

/**
 * The level of a skill now: as {@link skillTrust}, and for a project skill in an accepted workspace
 * everything of it that acts is compared with what was accepted (its text too, where pinned). Where
 * the project has a lock, whoever vouches for a skill of it, all of the skill must be as locked.
 * Reads the files of this one skill.
 */
export function confirmTrust(skill: TrustSubject & ActingSkill, policy: TrustPolicy): TrustVerdict {
  return confirmUnderLock(skill, policy, () => nearestLock(policy.workspace))
}

/** {@link confirmTrust} with the lock of the policy's workspace, which is asked for where it counts. */
function confirmUnderLock(
  skill: TrustSubject & ActingSkill,
  policy: TrustPolicy,
  lockOf: () => NearestLock,
): TrustVerdict {
  const facts = factsOf(skill, policy)
  const { directory } = facts
  const verdict = decideTrust({ ...facts, changed: false })
  if (verdict.level !== 'trusted' || directory === undefined || !isUnderLock(facts)) return verdict
  const changed = verdict.code === 'workspace-accepted' && hasChanged(skill, directory, policy)
  const lock = changed ? undefined : lockStateOf(policy.workspace, directory, lockOf())
  return decideTrust({ ...facts, changed, lock })
}

function hasChanged(
  skill: ActingSkill,
  directory: string,
  { acceptance, workspace }: TrustPolicy,
): boolean {
  if (acceptance === undefined) return true
  const parts = collectSkillParts(
    workspace,
    { ...skill, realDirectory: directory },
    { text: acceptance.pinned },
  )
  return assessSkill(acceptance, directory, parts).changes.length > 0
}

/**
 * Passes when the skill is trusted now, with its acting parts compared as in {@link confirmTrust}.
 *
 * @param action what is about to happen, as in "may not …": `'run its script'`.
 * @throws {SkillNotTrustedError} with the command that would allow it in `hint`.
 */
export function requireTrusted(
  skill: TrustSubject & ActingSkill,
  policy: TrustPolicy,
  action: string,
): void {
  const refusal = trustRefusal(skill, policy, action)
  if (refusal !== undefined) throw refusal
}

/**
 * The error that {@link requireTrusted} throws, for those who continue without the skill.
 *
 * @param lockOf the lock of the policy's workspace; default: as it is now.
 */
export function trustRefusal(
  skill: TrustSubject & ActingSkill,
  policy: TrustPolicy,
  action: string,
  lockOf: () => NearestLock = () => nearestLock(policy.workspace),
): SkillNotTrustedError | undefined {
  const verdict = confirmUnderLock(skill, policy, lockOf)
  if (verdict.level === 'trusted') return undefined
  return new SkillNotTrustedError({
    skill: skill.name,
    action,
    reason: verdict.reason,
    reasonCode: verdict.code,
    hint: allowingHint(verdict.code, skill, policy),
  })
}

function factsOf(skill: TrustSubject, policy: TrustPolicy): Omit<TrustFacts, 'changed'> {
  return { scope: skill.scope, directory: decidingDirectory(skill, policy), policy }
}

/** Links are resolved only where the place of the directory can make a difference. */
function decidingDirectory(skill: TrustSubject, policy: TrustPolicy): string | undefined {
  if (skill.realDirectory !== undefined) return skill.realDirectory
  const { trustedPaths, workspaceTrust, acceptance } = policy
  const workspaceTrusted = workspaceTrust === 'trusted' || acceptance !== undefined
  const decisive = trustedPaths.length > 0 || (skill.scope === 'project' && workspaceTrusted)
  if (!decisive) return skill.directory
  return realPathOf(skill.directory)
}

/**
 * Compares everything that acts in a workspace with what was accepted. `parts` must hold the text
 * parts exactly where `accepted.pinned` says so.
 */
export function assessWorkspace(
  accepted: Acceptance | undefined,
  parts: readonly ActingPart[],
): WorkspaceAssessment {
  const changes = compareParts(accepted?.parts ?? [], parts)
  if (accepted === undefined) return { state: 'untrusted', changes }
  return { state: changes.length === 0 ? 'trusted' : 'changed', changes }
}

/** {@link assessWorkspace} for the parts of one skill; `directory` is its real path. */
function assessSkill(
  accepted: Acceptance,
  directory: string,
  parts: readonly ActingPart[],
): WorkspaceAssessment {
  const owner = workspaceRelative(accepted.workspace, directory)
  return assessWorkspace({ ...accepted, parts: partsByOwner(accepted).get(owner) ?? [] }, parts)
}

/** A list of thousands of skills asks for each of them. */
const byOwner = new WeakMap<Acceptance, ReadonlyMap<string, readonly AcceptedPart[]>>()

function partsByOwner(accepted: Acceptance): ReadonlyMap<string, readonly AcceptedPart[]> {
  const known = byOwner.get(accepted)
  if (known !== undefined) return known
  const owners = new Map<string, AcceptedPart[]>()
  for (const part of accepted.parts) {
    const own = owners.get(part.owner)
    if (own === undefined) owners.set(part.owner, [part])
    else own.push(part)
  }
  byOwner.set(accepted, owners)
  return owners
}

function compareParts(
  accepted: readonly AcceptedPart[],
  current: readonly ActingPart[],
): PartChange[] {
  const before = new Map(accepted.map((part) => [keyOf(part), part]))
  const now = new Set(current.map(keyOf))
  const changes: PartChange[] = accepted
    .filter((part) => !now.has(keyOf(part)))
    .map((part) => ({ change: 'removed', part }))
  for (const part of current) {
    const old = before.get(keyOf(part))
    if (old === undefined) changes.push({ change: 'added', part })
    else if (!sameContent(old, part)) changes.push({ change: 'changed', part, accepted: old })
  }
  return changes.toSorted((a, b) => orderParts(a.part, b.part))
}

function sameContent(a: AcceptedPart, b: AcceptedPart): boolean {
  return a.digest === b.digest && a.digest !== unreadableDigest
}

function keyOf(part: AcceptedPart): string {
  return `${part.owner}\0${part.path}\0${part.kind}`
}

/** A file that defines a subagent. */
export interface AgentSubject {
  name: string
  scope: SkillScope
  /** Absolute. */
  path: string
}

/**
 * Whether a file that defines a subagent may be used, by the rules for skills: those of the user are
 * trusted, those of a project once it is, as long as nothing that acts in them has changed. Reads
 * the file again for a project that was accepted.
 */
export function agentTrust(
  agent: AgentSubject,
  policy: TrustPolicy,
): TrustVerdict & { hint: string } {
  const { scope, path } = agent
  const file = realPathOf(path)
  const directory = file === undefined ? undefined : dirname(file)
  const byPlace = decideTrust({ scope, directory, policy, changed: false })
  const { acceptance } = policy
  const changed =
    byPlace.code === 'workspace-accepted' && acceptance !== undefined && isChanged(path, acceptance)
  const verdict = decideTrust({ scope, directory, policy, changed })
  const subject = { ...agent, directory: dirname(path), realDirectory: directory }
  return { ...verdict, hint: allowingHint(verdict.code, subject, policy) }
}

function isChanged(path: string, acceptance: Acceptance): boolean {
  const { workspace, pinned } = acceptance
  const parts = agentFileParts(workspace, path, { text: pinned })
  // By its own path: a file that lost its frontmatter has no parts left, and has changed.
  const file = workspaceRelative(workspace, path)
  const accepted = acceptance.parts.filter((part) => part.owner === '' && part.path === file)
  return assessWorkspace({ ...acceptance, parts: accepted }, parts).state !== 'trusted'
}

/**
 * The level that `confirmTrust` gives, for any number of skills of a workspace that has a lock, which
 * is read once; undefined where there is none. `hint` says what would allow a skill.
 */
export function lockedTrust(
  runtime: Runtime,
  options: TrustPolicyOptions,
): ((skill: TrustSubject & ActingSkill) => TrustVerdict & { hint: string }) | undefined {
  const lock = nearestLock(realPathOf(options.workspace) ?? options.workspace)
  if (lock.reading.state === 'none') return undefined
  const { policy } = readTrustPolicy(runtime, options)
  return (skill) => {
    const verdict = confirmUnderLock(skill, policy, () => lock)
    return { ...verdict, hint: allowingHint(verdict.code, skill, policy) }
  }
}
