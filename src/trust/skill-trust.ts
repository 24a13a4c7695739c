import { dirname, isAbsolute, join } from 'node:path'
import { type Diagnostic, exitCode, type ExitCode } from '#core/errors'
import { isInside, realPathOf } from '#core/read-files'
import type { Runtime } from '#core/runtime'
import { shellWord } from '#core/text'
import { SkillError } from '#skill/errors'
import { collectSkillParts } from './acting-parts.ts'
import { agentFileParts } from './agent-files.ts'
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
  type TrustReason,
  trustReasons,
  type TrustSubject,
  type TrustVerdict,
  type WorkspaceAssessment,
} from './model.ts'
import { unreadableDigest, workspaceRelative } from './skill-files.ts'
import { TrustStore } from './store.ts'

interface TrustFacts {
  scope: SkillScope
  /** Real path; undefined if there is none. Ignored in the scopes `code` and `user`. */
  directory: string | undefined
  policy: TrustPolicy
  /** Whether an acting part differs from the accepted one; default false. */
  changed?: boolean
  /** Whether the skill was added after its workspace was accepted; default false. */
  added?: boolean
  /** Undefined if the skill matches the lock, or the project has none. */
  lock?: 'drifted' | 'unreadable' | undefined
}

/**
 * Decides the level of a skill. No other function does. The inputs contain nothing that a skill or a
 * project file says, so neither can raise its own trust. A lock is a project file: it can only lower
 * the trust of the project's skills.
 */
export function decideTrust(facts: TrustFacts): TrustVerdict {
  const { lock } = facts
  const reasonByPlace = reasonOf(facts)
  const isLowered = lock && trustReasons[reasonByPlace].level === 'trusted' && isUnderLock(facts)
  const code = !isLowered ? reasonByPlace : lock === 'drifted' ? 'lock-drift' : 'lock-unreadable'
  return { ...trustReasons[code], code }
}

/**
 * Whether the project's lock applies to a skill. The skill's place decides, not how it was discovered:
 * a project can name one of its folders in `skills.paths`. Skills of the user or a program are exempt.
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
  const isVouchedFor = policy.workspaceTrust === 'trusted'
  const { acceptance, workspace } = policy
  const isAccepted = acceptance?.workspace === workspace && covers(acceptance, directory)
  if (!isVouchedFor && !isAccepted) return 'workspace-not-accepted'
  if (!isInside(policy.workspace, directory)) return 'outside-workspace'
  if (isVouchedFor) return 'workspace-option'
  if (added) return 'workspace-added'
  return changed ? 'workspace-changed' : 'workspace-accepted'
}

/** Whether an acceptance includes the skill in a directory; one for the whole workspace includes every file. */
export function covers({ workspace, skills }: Acceptance, directory: string): boolean {
  return skills === undefined || skills.includes(workspaceRelative(workspace, directory))
}

/** Returns the sentence that says how to allow a skill that is not trusted. */
export function allowingHint(
  reason: TrustReason,
  skill: TrustSubject,
  policy: TrustPolicy,
): string {
  const directory = skill.realDirectory ?? skill.directory
  // Discovery from the workspace misses nested folders. The skill's own path would trust only that skill.
  const isDiscovered = workspaceRelative(policy.workspace, directory).startsWith('.')
  const command = `skillrail trust ${shellWord(isDiscovered ? policy.workspace : dirname(directory))}`
  const hints: Partial<Record<TrustReason, string>> = {
    'workspace-not-accepted': `To see what it may do and allow it: ${command} (in CI: --trust-workspace).`,
    'workspace-changed': `To see what changed and accept it: ${command}`,
    'workspace-added': `To see what it may do and allow it: ${command}`,
    'lock-drift': `To see what differs: ${command} --lock --check; to lock it as it is now: ${command} --lock`,
    'lock-unreadable': `To see what is wrong with it: ${command} --lock --check; to do without it: ${command} --unlock`,
  }
  const setting = `To allow it, add ${shellWord(directory)} to skills.trustedPaths in your own configuration file.`
  return hints[reason] ?? setting
}

/** Whether a skill of level `upper` may hide a skill of level `lower` with the same name. */
export function mayShadow(upper: TrustLevel, lower: TrustLevel): boolean {
  return upper === 'trusted' || lower === 'untrusted'
}

export interface TrustPolicyOptions {
  /** Any spelling of the workspace; see `findWorkspace`. */
  workspace: string
  workspaceTrust?: 'ask' | 'trusted' | undefined
  /** Absolute, or with `~/`. A relative path is reported and ignored: it would differ in every project. */
  trustedPaths?: readonly string[] | undefined
}

/** Reads the user's record once, for any number of decisions. A corrupt record trusts no workspace. */
export function readTrustPolicy(
  runtime: Runtime,
  options: TrustPolicyOptions,
): { policy: TrustPolicy; diagnostics: readonly Diagnostic[] } {
  const { workspaceTrust = 'ask', trustedPaths: paths = [] } = options
  const { acceptances, diagnostics } = new TrustStore(runtime).read()
  const workspace = realPathOf(options.workspace) ?? options.workspace
  const expandedPaths = paths.map((path) =>
    /^~(?:\/|$)/.test(path) ? join(runtime.home, path.slice(1)) : path,
  )
  const trustedPaths = expandedPaths.filter(isAbsolute).flatMap((path) => realPathOf(path) ?? [])
  const acceptance = acceptances.find((item) => item.workspace === workspace)
  const hint = 'Give an absolute path or one that begins with ~/.'
  const relative = expandedPaths.flatMap((trustedPath): Diagnostic[] => {
    if (isAbsolute(trustedPath)) return []
    const message = `the trusted path "${trustedPath}" is relative and was ignored`
    const path = 'skills.trustedPaths'
    return [{ code: 'trusted-path-relative', severity: 'warning', message, path, hint }]
  })
  const policy = { workspace, workspaceTrust, trustedPaths, acceptance }
  return { policy, diagnostics: [...diagnostics, ...relative] }
}

/** A skill is not allowed to do something at its trust level. Exit code 4; `hint` says how to allow it. */
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

/** Returns the level by the skill's place alone, for a search. Before a skill is shown or used, ask {@link confirmTrust}. */
export function skillTrust(skill: TrustSubject, policy: TrustPolicy): TrustVerdict {
  return decideTrust(factsOf(skill, policy))
}

/** Resolves links only if the place of the directory can change the level. */
function factsOf(skill: TrustSubject, policy: TrustPolicy): TrustFacts {
  const { scope, directory, realDirectory } = skill
  const { trustedPaths, workspaceTrust, acceptance } = policy
  const workspaceTrusted = workspaceTrust === 'trusted' || acceptance !== undefined
  const placeMatters = trustedPaths.length > 0 || (scope === 'project' && workspaceTrusted)
  const realPath = realDirectory ?? (placeMatters ? realPathOf(directory) : directory)
  return { scope, directory: realPath, policy }
}

/**
 * Returns the level of a skill now. In an accepted workspace, compares each acting part of a project
 * skill with the accepted one (text too, if pinned). If the project has a lock, the whole skill must
 * match the lock, whoever trusts the skill. Reads the files of this one skill.
 * @param lockOf returns the lock of the policy's workspace; called only if it matters; default: reads it.
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
  const isAccepted = verdict.code === 'workspace-accepted' && acceptance
  const { added, changes } = isAccepted
    ? changesSince(acceptance, workspace, { ...skill, realDirectory: directory })
    : { added: false, changes: [] }
  const isChanged = changes.length > 0 && !added
  const lock = isChanged || added ? undefined : lockStateOf(workspace, directory, lockOf())
  return {
    ...decideTrust({ ...facts, changed: isChanged, added, lock }),
    ...(isChanged ? { changes } : {}),
  }
}

/** `added`: nothing of the skill was accepted. */
function changesSince(
  acceptance: Acceptance,
  workspace: string,
  skill: ActingSkill & { realDirectory: string },
): { added: boolean; changes: readonly PartChange[] } {
  const parts = collectSkillParts(workspace, skill, { text: acceptance.pinned })
  const hasOnlyText = parts.every(({ kind }) => kind === 'text')
  if (acceptance.newText && hasOnlyText) return { added: false, changes: [] }
  const owner = workspaceRelative(workspace, skill.realDirectory)
  const acceptedParts = acceptance.parts.filter((part) => part.owner === owner)
  const comparable = acceptedParts.filter(({ kind }) => kind !== 'skill')
  return { added: acceptedParts.length === 0, changes: compareParts(comparable, parts) }
}

/**
 * Throws unless the skill is trusted now, as {@link confirmTrust} decides.
 * @param action the next action, as in "may not …": `'run its script'`.
 * @throws {SkillNotTrustedError} `hint` has the command that would allow the action.
 */
export function requireTrusted(
  skill: TrustSubject & ActingSkill,
  policy: TrustPolicy,
  action: string,
): void {
  const refusal = trustRefusal(skill, policy, action)
  if (refusal) throw refusal
}

/** Returns the error that {@link requireTrusted} would throw. */
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
 * Returns {@link confirmTrust} for any number of skills. Reads the record and the workspace's lock once.
 * `hint` says how to allow a skill.
 */
export function trustOfMany(
  runtime: Runtime,
  options: TrustPolicyOptions,
): (skill: TrustSubject & ActingSkill) => TrustVerdict & { hint: string } {
  const { policy } = readTrustPolicy(runtime, options)
  let lock: NearestLock | undefined
  return (skill) => {
    const verdict = confirmTrust(skill, policy, () => (lock ??= nearestLock(policy.workspace)))
    return { ...verdict, hint: allowingHint(verdict.code, skill, policy) }
  }
}

/**
 * Compares a workspace with its acceptance. `parts` must include text parts if `acceptance.pinned`, else
 * none.
 */
export function assessWorkspace(
  acceptance: Acceptance | undefined,
  parts: readonly ActingPart[],
): WorkspaceAssessment {
  const changes = compareParts(acceptance?.parts ?? [], parts)
  if (!acceptance) return { state: 'untrusted', changes }
  // Records of earlier versions name a skill only by its other parts. A removed skill harms nobody.
  const owners = new Set(acceptance.parts.map(({ owner }) => owner))
  const isNewSkill = ({ change, part: { owner } }: PartChange): boolean =>
    change === 'added' && acceptance.newText !== true && !owners.has(owner)
  const relevant = changes.filter((change) => change.part.kind !== 'skill' || isNewSkill(change))
  return { state: relevant.length === 0 ? 'trusted' : 'changed', changes: relevant }
}

function compareParts(
  acceptedParts: readonly AcceptedPart[],
  current: readonly ActingPart[],
): PartChange[] {
  const keyOf = ({ owner, path, kind }: AcceptedPart) => `${owner}\0${path}\0${kind}`
  const acceptedByKey = new Map(acceptedParts.map((part) => [keyOf(part), part]))
  const now = new Set(current.map(keyOf))
  const changes: PartChange[] = acceptedParts
    .filter((part) => !now.has(keyOf(part)))
    .map((part) => ({ change: 'removed', part }))
  for (const part of current) {
    const acceptedPart = acceptedByKey.get(keyOf(part))
    if (!acceptedPart) changes.push({ change: 'added', part })
    else if (acceptedPart.digest !== part.digest || acceptedPart.digest === unreadableDigest) {
      changes.push({ change: 'changed', part, accepted: acceptedPart })
    }
  }
  return changes.toSorted((a, b) => orderParts(a.part, b.part))
}

/**
 * Returns the level of a file that defines a subagent, by the rules for skills: the user's files are
 * trusted, and the files of an accepted project while their acting parts are as accepted.
 * @param agent `path` is absolute.
 */
export function agentTrust(
  agent: Pick<TrustSubject, 'name' | 'scope'> & { path: string },
  policy: TrustPolicy,
): TrustVerdict & { hint: string } {
  const { scope, path } = agent
  const { acceptance } = policy
  const realPath = realPathOf(path)
  const directory = realPath === undefined ? undefined : dirname(realPath)
  const verdictByPlace = decideTrust({ scope, directory, policy })
  let isChanged = false
  if (verdictByPlace.code === 'workspace-accepted' && acceptance) {
    const { workspace, pinned, parts } = acceptance
    // Selected by path: a file that lost its frontmatter has no current parts, and has changed.
    const file = workspaceRelative(workspace, path)
    const acceptedParts = parts.filter((part) => part.owner === '' && part.path === file)
    const current = agentFileParts(workspace, path, { text: pinned })
    isChanged = compareParts(acceptedParts, current).length > 0
  }
  const verdict = decideTrust({ scope, directory, policy, changed: isChanged })
  const subject = { ...agent, directory: dirname(path), realDirectory: directory }
  return { ...verdict, hint: allowingHint(verdict.code, subject, policy) }
}
