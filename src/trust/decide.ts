import { isAbsolute, join } from 'node:path'
import type { Diagnostic } from '../core/diagnostic.ts'
import { exitCode, type ExitCode, SkillrailError } from '../core/errors.ts'
import { isObject, parseJson } from '../core/json.ts'
import { isInside, realPathOf } from '../core/read-files.ts'
import type { Runtime } from '../core/runtime.ts'
import { SkillError } from '../skill/errors.ts'
import {
  type Acceptance,
  type PartChange,
  type SkillScope,
  type TrustLevel,
  type TrustPolicy,
  type TrustReason,
  trustReasons,
  type TrustVerdict,
} from './model.ts'
import { workspaceRelative } from './skill-files.ts'
import { TrustStore } from './store.ts'

export interface TrustFacts {
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
export function readTrustPolicy(
  runtime: Runtime,
  options: TrustPolicyOptions,
): { policy: TrustPolicy; diagnostics: readonly Diagnostic[] } {
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

/** The workspace would have to be trusted, and nobody was there to say so. Exit code 4. */
export class WorkspaceNotTrustedError extends SkillrailError {
  override readonly exitCode: ExitCode = exitCode.refused
}

/** The text of a part of the kind `category`: the category of each tool. */
export function acceptedPlacements(text: string): Map<string, string> {
  const value = parseJson(text)
  const placed = Object.entries(isObject(value) ? value : {})
  return new Map(placed.map(([id, name]) => [id, String(name)]))
}
