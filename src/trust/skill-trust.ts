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

/** The level of a skill by its place alone, for lists; what acts asks {@link confirmTrust}. */
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
 * The level of a skill now. In an accepted workspace everything of a project skill that acts is
 * compared with what was accepted (its text too, where pinned). Where the project has a lock, all of
 * the skill must be as locked, whoever trusts it. Reads the files of this one skill.
 * @param lockOf the lock of the policy's workspace, asked for where it counts; default: as it is now.
 */
export function confirmTrust(
  skill: TrustSubject & ActingSkill,
  policy: TrustPolicy,
  lockOf: () => NearestLock = () => nearestLock(policy.workspace),
): TrustVerdict {
  const facts = factsOf(skill, policy)
  const { directory } = facts
  const { workspace, acceptance } = policy
  const verdict = decideTrust(facts)
  if (verdict.level !== 'trusted' || directory === undefined || !isUnderLock(facts)) return verdict
  let changes: PartChange[] = []
  let added = false
  if (verdict.code === 'workspace-accepted' && acceptance) {
    const options = { text: acceptance.pinned }
    const parts = collectSkillParts(workspace, { ...skill, realDirectory: directory }, options)
    const owner = workspaceRelative(workspace, directory)
    const accepted = acceptance.parts.filter((part) => part.owner === owner)
    changes = compareParts(accepted, parts)
    added = changes.length > 0 && accepted.length === 0
  }
  const changed = changes.length > 0 && !added
  const lock = changed || added ? undefined : lockStateOf(workspace, directory, lockOf())
  return { ...decideTrust({ ...facts, changed, added, lock }), ...(changed ? { changes } : {}) }
}

/**
 * Passes when the skill is trusted now, as {@link confirmTrust} says.
 * @param action what is about to happen, as in "may not …": `'run its script'`.
 * @throws {SkillNotTrustedError} with the command that would allow it in `hint`.
 */
export function requireTrusted(
  skill: TrustSubject & ActingSkill,
  policy: TrustPolicy,
  action: string,
): void {
  const refusal = trustRefusal(skill, policy, action)
  if (refusal) throw refusal
}

export function trustRefusal(
  skill: TrustSubject & ActingSkill,
  policy: TrustPolicy,
  action: string,
  lockOf?: () => NearestLock,
): SkillNotTrustedError | undefined {
  const { level, code, reason, changes } = confirmTrust(skill, policy, lockOf)
  if (level === 'trusted') return undefined
  const hint = allowingHint(code, skill, policy)
  const facts = { skill: skill.name, action, reason, reasonCode: code, hint, changes }
  return new SkillNotTrustedError(facts)
}

/**
 * {@link confirmTrust} for any number of skills of a workspace that has a lock, which is read once;
 * undefined where there is none. `hint` says what would allow a skill.
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

/** `parts` must hold the text parts exactly where `accepted.pinned` says so. */
export function assessWorkspace(
  accepted: Acceptance | undefined,
  parts: readonly ActingPart[],
): WorkspaceAssessment {
  const changes = compareParts(accepted?.parts ?? [], parts)
  if (!accepted) return { state: 'untrusted', changes }
  return { state: changes.length === 0 ? 'trusted' : 'changed', changes }
}

function compareParts(accepted: readonly AcceptedPart[], current: readonly ActingPart[]) {
  const keyOf = ({ owner, path, kind }: AcceptedPart) => `${owner}\0${path}\0${kind}`
  const before = new Map(accepted.map((part) => [keyOf(part), part]))
  const now = new Set(current.map(keyOf))
  const changes: PartChange[] = accepted
    .filter((part) => !now.has(keyOf(part)))
    .map((part) => ({ change: 'removed', part }))
  for (const part of current) {
    const old = before.get(keyOf(part))
    if (!old) changes.push({ change: 'added', part })
    else if (old.digest !== part.digest || old.digest === unreadableDigest) {
      changes.push({ change: 'changed', part, accepted: old })
    }
  }
  return changes.toSorted((a, b) => orderParts(a.part, b.part))
}

/**
 * Whether a file that defines a subagent may be used, by the rules for skills: those of the user are
 * trusted, those of an accepted project as long as nothing that acts in them has changed.
 * @param agent `path` is absolute.
 */
export function agentTrust(
  agent: Pick<TrustSubject, 'name' | 'scope'> & { path: string },
  policy: TrustPolicy,
): TrustVerdict & { hint: string } {
  const { scope, path } = agent
  const { acceptance } = policy
  const real = realPathOf(path)
  const directory = real === undefined ? undefined : dirname(real)
  const byPlace = decideTrust({ scope, directory, policy })
  let changed = false
  if (byPlace.code === 'workspace-accepted' && acceptance) {
    const { workspace, pinned, parts } = acceptance
    // By its own path: a file that lost its frontmatter has no parts left, and has changed.
    const file = workspaceRelative(workspace, path)
    const accepted = parts.filter((part) => part.owner === '' && part.path === file)
    const current = agentFileParts(workspace, path, { text: pinned })
    changed = compareParts(accepted, current).length > 0
  }
  const verdict = decideTrust({ scope, directory, policy, changed })
  const subject = { ...agent, directory: dirname(path), realDirectory: directory }
  return { ...verdict, hint: allowingHint(verdict.code, subject, policy) }
}
