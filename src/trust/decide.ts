import { isInside } from '../base/index.ts'
import type { SkillScope, TrustLevel, TrustPolicy, TrustReason, TrustVerdict } from './model.ts'

/** What {@link decideTrust} decides on: values only, no name, no text and no setting of a skill. */
export interface TrustFacts {
  scope: SkillScope
  /** Real path, or undefined where there is none; ignored in the scopes `code` and `user`. */
  directory: string | undefined
  policy: TrustPolicy
  /** Whether a part that acts differs from what was accepted; false where nobody has looked. */
  changed: boolean
  /** What the skill is by the lock of its project; undefined where there is none to hold it to. */
  lock?: 'drifted' | 'unreadable' | undefined
}

/**
 * The one place where a skill gets its level. Nothing that a skill or a project file says is among
 * its inputs, so neither can raise its own trust.
 */
export function decideTrust(facts: TrustFacts): TrustVerdict {
  const byPlace = reasonOf(facts)
  const code = verdicts[byPlace].level === 'trusted' ? underLock(byPlace, facts) : byPlace
  const { level, reason } = verdicts[code]
  return { level, code, reason }
}

/** A lock is a file of the project: it takes trust away from the project's skills and gives none. */
function underLock(code: TrustReason, facts: TrustFacts): TrustReason {
  const { lock } = facts
  if (lock === undefined || !isUnderLock(facts)) return code
  return lock === 'drifted' ? 'lock-drift' : 'lock-unreadable'
}

/**
 * By where the skill lies, and not by how it was found: a project can name a folder of its own in
 * `skills.paths`. Only what the user or a program put there has nothing to do with a project.
 */
export function isUnderLock({
  scope,
  directory,
  policy,
}: Pick<TrustFacts, 'scope' | 'directory' | 'policy'>): boolean {
  if (scope === 'user' || scope === 'code' || directory === undefined) return false
  return isInside(policy.workspace, directory)
}

/** Whether a skill of level `upper` may hide one of level `lower` that has the same name. */
export function mayShadow(upper: TrustLevel, lower: TrustLevel): boolean {
  return upper === 'trusted' || lower === 'untrusted'
}

function reasonOf({ scope, directory, policy, changed }: TrustFacts): TrustReason {
  if (scope === 'code') return 'registered-by-program'
  if (scope === 'user') return 'user-scope'
  if (directory === undefined) return 'directory-unreadable'
  if (policy.trustedPaths.some((path) => isInside(path, directory))) return 'trusted-path'
  if (scope === 'custom') return 'custom-path'
  const vouched = policy.workspaceTrust === 'trusted'
  const accepted = policy.acceptance?.workspace === policy.workspace
  if (!vouched && !accepted) return 'workspace-not-accepted'
  if (!isInside(policy.workspace, directory)) return 'outside-workspace'
  if (vouched) return 'workspace-option'
  return changed ? 'workspace-changed' : 'workspace-accepted'
}

const verdicts = {
  'registered-by-program': { level: 'trusted', reason: 'the program registered it' },
  'user-scope': { level: 'trusted', reason: "it is one of the user's own skills" },
  'trusted-path': { level: 'trusted', reason: 'it lies in a trusted path' },
  'workspace-accepted': { level: 'trusted', reason: 'its workspace was trusted' },
  'workspace-option': { level: 'trusted', reason: 'the caller vouches for its workspace' },
  'workspace-not-accepted': { level: 'untrusted', reason: 'its workspace was never trusted' },
  'workspace-changed': {
    level: 'untrusted',
    reason: 'something of it that acts has changed since its workspace was trusted',
  },
  'lock-drift': {
    level: 'untrusted',
    reason: 'it is not as the lock file of its project has it',
  },
  'lock-unreadable': {
    level: 'untrusted',
    reason: 'the lock file of its project cannot be read',
  },
  'outside-workspace': {
    level: 'untrusted',
    reason: 'a link leads from the workspace to its directory outside',
  },
  'directory-unreadable': { level: 'untrusted', reason: 'its directory cannot be resolved' },
  'custom-path': { level: 'untrusted', reason: 'it was given by path' },
} as const satisfies Record<TrustReason, { level: TrustLevel; reason: string }>
