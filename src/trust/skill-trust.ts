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
  return decideTrust(factsOf(skill, policy))
}

/** Links are resolved only where the place of the directory can make a difference. */
function factsOf(skill: TrustSubject, policy: TrustPolicy): TrustFacts {
  const { scope, directory, realDirectory } = skill
  const { trustedPaths, workspaceTrust, acceptance } = policy
  const workspaceTrusted = workspaceTrust === 'trusted' || acceptance !== undefined
  const decisive = trustedPaths.length > 0 || (scope === 'project' && workspaceTrusted)
  const real = realDirectory ?? (decisive ? realPathOf(directory) : directory)
  return { scope, directory: real, policy }
}

/**
 * The level of a skill now: as {@link skillTrust}, and for a project skill in an accepted workspace
 * everything of it that acts is compared with what was accepted (its text too, where pinned). Where
 * the project has a lock, whoever vouches for a skill of it, all of the skill must be as locked.
 * Reads the files of this one skill.
 *
 * @param lockOf the lock of the policy's workspace, asked for where it counts; default: as it is now.
 */
export function confirmTrust(
  skill: TrustSubject & ActingSkill,
  policy: TrustPolicy,
  lockOf: () => NearestLock = () => nearestLock(policy.workspace),
): TrustVerdict {
  const facts = factsOf(skill, policy)
  const { directory } = facts
  const verdict = decideTrust(facts)
  if (verdict.level !== 'trusted' || directory === undefined || !isUnderLock(facts)) return verdict
  const changed = verdict.code === 'workspace-accepted' && hasChanged(skill, directory, policy)
  const lock = changed ? undefined : lockStateOf(policy.workspace, directory, lockOf())
  return decideTrust({ ...facts, changed, lock })
}

function hasChanged(
  skill: ActingSkill,
  realDirectory: string,
  { acceptance, workspace }: TrustPolicy,
): boolean {
  if (acceptance === undefined) return true
  const options = { text: acceptance.pinned }
  const parts = collectSkillParts(workspace, { ...skill, realDirectory }, options)
  const accepted = partsOf(acceptance, workspaceRelative(workspace, realDirectory))
  return compareParts(accepted, parts).length > 0
}

/** By the skill they belong to: a list of thousands of skills asks for each of them. */
const byOwner = new WeakMap<Acceptance, ReadonlyMap<string, readonly AcceptedPart[]>>()

function partsOf(acceptance: Acceptance, owner: string): readonly AcceptedPart[] {
  const owners = byOwner.get(acceptance) ?? Map.groupBy(acceptance.parts, (part) => part.owner)
  byOwner.set(acceptance, owners)
  return owners.get(owner) ?? []
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

/** The error that {@link requireTrusted} throws, for those who continue without the skill. */
export function trustRefusal(
  skill: TrustSubject & ActingSkill,
  policy: TrustPolicy,
  action: string,
  lockOf?: () => NearestLock,
): SkillNotTrustedError | undefined {
  const { level, code, reason } = confirmTrust(skill, policy, lockOf)
  if (level === 'trusted') return undefined
  const hint = allowingHint(code, skill, policy)
  return new SkillNotTrustedError({ skill: skill.name, action, reason, reasonCode: code, hint })
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
    const verdict = confirmTrust(skill, policy, () => lock)
    return { ...verdict, hint: allowingHint(verdict.code, skill, policy) }
  }
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
    else if (old.digest !== part.digest || old.digest === unreadableDigest) {
      changes.push({ change: 'changed', part, accepted: old })
    }
  }
  return changes.toSorted((a, b) => orderParts(a.part, b.part))
}

function keyOf(part: AcceptedPart): string {
  return `${part.owner}\0${part.path}\0${part.kind}`
}

/**
 * Whether a file that defines a subagent may be used, by the rules for skills: those of the user are
 * trusted, those of a project once it is, as long as nothing that acts in them has changed. Reads
 * the file again for a project that was accepted.
 *
 * @param agent `path` is absolute.
 */
export function agentTrust(
  agent: Pick<TrustSubject, 'name' | 'scope'> & { path: string },
  policy: TrustPolicy,
): TrustVerdict & { hint: string } {
  const { scope, path } = agent
  const file = realPathOf(path)
  const directory = file === undefined ? undefined : dirname(file)
  const { acceptance } = policy
  const byPlace = decideTrust({ scope, directory, policy })
  const changed =
    byPlace.code === 'workspace-accepted' &&
    acceptance !== undefined &&
    agentFileChanged(path, acceptance)
  const verdict = decideTrust({ scope, directory, policy, changed })
  const subject = { ...agent, directory: dirname(path), realDirectory: directory }
  return { ...verdict, hint: allowingHint(verdict.code, subject, policy) }
}

function agentFileChanged(path: string, acceptance: Acceptance): boolean {
  const { workspace, pinned } = acceptance
  const parts = agentFileParts(workspace, path, { text: pinned })
  // By its own path: a file that lost its frontmatter has no parts left, and has changed.
  const file = workspaceRelative(workspace, path)
  const accepted = acceptance.parts.filter((part) => part.owner === '' && part.path === file)
  return compareParts(accepted, parts).length > 0
}
