import { dirname, isAbsolute, join } from 'node:path'
import { type Diagnostic, exitCode, type ExitCode } from '#core/errors'
import { isInside, realPathOf } from '#core/read-files'
import type { Runtime } from '#core/runtime'
import { SkillError } from '#skill/errors'
import { allowingHint, collectSkillParts } from './acting-parts.ts'
import { lockStateOf, type NearestLock, nearestLock } from './lock.ts'
import {
  type Acceptance,
  type AcceptedPart,
  type ActingPart,
  type ActingSkill,
  orderParts,
  type PartChange,
  type SkillScope,
  type TrustLevel,
  type TrustPolicy,
  type TrustSubject,
  type TrustVerdict,
  type WorkspaceAssessment,
} from './model.ts'
import { agentFileParts } from './project-files.ts'
import { unreadableDigest, workspaceRelative } from './skill-files.ts'
import { TrustStore } from './store.ts'

/** Why a skill has its level: each code with its level and its reason, as in "…: it was given by path". */
export const trustReasons = {
  'registered-by-program': trusted('the program registered it'),
  'user-scope': trusted("it is one of the user's own skills"),
  'trusted-path': trusted('it lies in a trusted path'),
  'workspace-accepted': trusted('its workspace was trusted'),
  'workspace-option': trusted('the caller vouches for its workspace'),
  'workspace-not-accepted': untrusted('its workspace was never trusted'),
  'workspace-changed': untrusted(
    'something that it can execute has changed since its workspace was trusted',
  ),
  'workspace-added': untrusted('it was added after its workspace was trusted'),
  'lock-drift': untrusted('it is not as the lock file of its project has it'),
  'lock-unreadable': untrusted('the lock file of its project cannot be read'),
  'outside-workspace': untrusted('a link leads from the workspace to its directory outside'),
  'directory-unreadable': untrusted('its directory cannot be resolved'),
  'custom-path': untrusted('it was given by path'),
}

function trusted(reason: string): Pick<TrustVerdict, 'level' | 'reason'> {
  return { level: 'trusted', reason }
}

function untrusted(reason: string): Pick<TrustVerdict, 'level' | 'reason'> {
  return { level: 'untrusted', reason }
}

export type TrustReason = keyof typeof trustReasons

interface TrustFacts {
  scope: SkillScope
  /** Real path, or undefined where there is none; ignored in the scopes `code` and `user`. */
  directory: string | undefined
  policy: TrustPolicy
  /** Whether a part that acts differs from what was accepted; default false. */
  changed?: boolean
  /** Whether nothing of it was accepted, though its workspace was; default false. */
  added?: boolean
  /** What the skill is by the lock of its project; undefined where it is as locked, or has none. */
  lock?: 'drifted' | 'unreadable' | undefined
}

/**
 * The one place where a skill gets its level. Nothing that a skill or a project file says is among
 * its inputs, so neither can raise its own trust. A lock is a file of the project: it takes trust away
 * from the project's skills and gives none.
 */
export function decideTrust(facts: TrustFacts): TrustVerdict {
  const { lock } = facts
  const byPlace = reasonOf(facts)
  const isHeld = lock && trustReasons[byPlace].level === 'trusted' && isUnderLock(facts)
  const code = !isHeld ? byPlace : lock === 'drifted' ? 'lock-drift' : 'lock-unreadable'
  return { ...trustReasons[code], code }
}

/**
 * By where the skill lies, and not by how it was found: a project can name a folder of its own in
 * `skills.paths`. Only what the user or a program put there has nothing to do with a project.
 */
export function isUnderLock({ scope, directory, policy }: TrustFacts): boolean {
  if (scope === 'user' || scope === 'code' || directory === undefined) return false
  return isInside(policy.workspace, directory)
}

function reasonOf({ scope, directory, policy, changed, added }: TrustFacts): TrustReason {
  if (scope === 'code') return 'registered-by-program'
  if (scope === 'user') return 'user-scope'
  if (directory === undefined) return 'directory-unreadable'
  if (policy.trustedPaths.some((path) => isInside(path, directory))) return 'trusted-path'
  if (scope === 'custom') return 'custom-path'
  const vouched = policy.workspaceTrust === 'trusted'
  const { acceptance, workspace } = policy
  const accepted = acceptance?.workspace === workspace && covers(acceptance, directory)
  if (!vouched && !accepted) return 'workspace-not-accepted'
  if (!isInside(policy.workspace, directory)) return 'outside-workspace'
  if (vouched) return 'workspace-option'
  if (added) return 'workspace-added'
  return changed ? 'workspace-changed' : 'workspace-accepted'
}

/** Whether the skill in a directory, or a file that no skill has, was accepted with its workspace. */
export function covers({ workspace, skills }: Acceptance, directory: string): boolean {
  return skills === undefined || skills.includes(workspaceRelative(workspace, directory))
}

/** Whether a skill of level `upper` may hide one of level `lower` that has the same name. */
export function mayShadow(upper: TrustLevel, lower: TrustLevel): boolean {
  return upper === 'trusted' || lower === 'untrusted'
}

export interface TrustPolicyOptions {
  /** Any spelling of the workspace; see `findWorkspace`. */
  workspace: string
  workspaceTrust?: 'ask' | 'trusted' | undefined
  /** Absolute, or with `~/`. A relative one is reported and ignored: it would differ in every project. */
  trustedPaths?: readonly string[] | undefined
}

/** Reads the user's record once, for any number of decisions. A broken record trusts no workspace. */
export function readTrustPolicy(runtime: Runtime, options: TrustPolicyOptions) {
  const { workspaceTrust = 'ask', trustedPaths: paths = [] } = options
  const { acceptances, diagnostics } = new TrustStore(runtime).read()
  const workspace = realPathOf(options.workspace) ?? options.workspace
  const named = paths.map((path) =>
    /^~(?:\/|$)/.test(path) ? join(runtime.home, path.slice(1)) : path,
  )
  const trustedPaths = named.filter(isAbsolute).flatMap((path) => realPathOf(path) ?? [])
  const acceptance = acceptances.find((item) => item.workspace === workspace)
  const hint = 'Give an absolute path or one that begins with ~/.'
  const relative = named.flatMap((written): Diagnostic[] => {
    if (isAbsolute(written)) return []
    const message = `the trusted path "${written}" is relative and was ignored`
    const path = 'skills.trustedPaths'
    return [{ code: 'trusted-path-relative', severity: 'warning', message, path, hint }]
  })
  const policy = { workspace, workspaceTrust, trustedPaths, acceptance }
  return { policy, diagnostics: [...diagnostics, ...relative] }
}

/** The skill may not do this at its trust level. Exit code 4; `hint` says what would allow it. */
export class SkillNotTrustedError extends SkillError {
  override readonly exitCode: ExitCode = exitCode.refused
  readonly skill: string
  readonly reasonCode: TrustReason
  readonly changes: readonly PartChange[]

  readonly facts: RefusalFacts

  /** @param facts `action`, as in "may not …": `run its script`. */
  constructor(facts: RefusalFacts) {
    const { skill, action, reason, reasonCode, hint, diagnostics } = facts
    const message = `Skill ${skill} may not ${action}: ${reason}.`
    super({ code: 'skill-not-trusted', message, hint, diagnostics })
    this.skill = skill
    this.reasonCode = reasonCode
    this.changes = facts.changes ?? []
    this.facts = facts
  }
}

interface RefusalFacts {
  skill: string
  action: string
  reason: string
  reasonCode: TrustReason
  hint: string
  changes?: readonly PartChange[] | undefined
  diagnostics?: readonly Diagnostic[] | undefined
}

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
