import { compareText } from '#core/errors'
import type { SkillFields } from '#skill/model'

/** `untrusted`: text only as data, no hooks, no fork, `allowed-tools` narrows, nothing runs freely. */
export type TrustLevel = 'trusted' | 'untrusted'

/** Source of a skill: the project, the user's home, an explicit path, or a program. */
export type SkillScope = 'project' | 'user' | 'custom' | 'code'

export interface TrustVerdict {
  level: TrustLevel
  code: TrustReason
  reason: string
  /** Differences from the acceptance; only with `workspace-changed`. */
  changes?: readonly PartChange[] | undefined
}

/** Each code with its level and its reason, as in "…: it was given by path". */
export const trustReasons = {
  'registered-by-program': trustedReason('the program registered it'),
  'user-scope': trustedReason("it is one of the user's own skills"),
  'trusted-path': trustedReason('it is in a trusted path'),
  'workspace-accepted': trustedReason('its workspace was trusted'),
  'workspace-option': trustedReason('the caller vouches for its workspace'),
  'workspace-not-accepted': untrustedReason('its workspace was never trusted'),
  'workspace-changed': untrustedReason(
    'something that it can execute has changed since its workspace was trusted',
  ),
  'workspace-added': untrustedReason('it was added after its workspace was trusted'),
  'lock-drift': untrustedReason('it differs from the lock file of its project'),
  'lock-unreadable': untrustedReason('the lock file of its project cannot be read'),
  'outside-workspace': untrustedReason('a link leads from the workspace to its directory outside'),
  'directory-unreadable': untrustedReason('its directory cannot be resolved'),
  'custom-path': untrustedReason('it was given by path'),
}

function trustedReason(reason: string): Pick<TrustVerdict, 'level' | 'reason'> {
  return { level: 'trusted', reason }
}

function untrustedReason(reason: string): Pick<TrustVerdict, 'level' | 'reason'> {
  return { level: 'untrusted', reason }
}

export type TrustReason = keyof typeof trustReasons

export interface TrustSubject {
  name: string
  scope: SkillScope
  /** Absolute; links are resolved unless there is a `realDirectory`. Unused in scope `code`. */
  directory: string
  realDirectory?: string | undefined
}

export interface ActingSkill extends Omit<TrustSubject, 'scope'> {
  /** The `SKILL.md`; default `SKILL.md` in `directory`. */
  path?: string | undefined
  fields: SkillFields
}

/**
 * Kinds of parts. A `skill` part records that a skill exists, whatever its text says; `text` is
 * recorded only for a pinned workspace. Every other kind can act: files that run, fields that start or
 * allow something, and the configuration of servers and hooks.
 */
export const actingKinds = [
  'skill',
  'script',
  'run',
  'hooks',
  'allowed-tools',
  'chain',
  'fork',
  'agent',
  'mcp',
  'server-file',
  'workflow',
  'category',
  'client-hooks',
  'configuration',
  'text',
] as const

export type ActingKind = (typeof actingKinds)[number]

/** The recorded identity of one part. Owner, path and kind together are unique. */
export interface AcceptedPart {
  /** Directory of the part's skill, relative to the workspace; '' for the workspace itself. */
  owner: string
  path: string
  kind: ActingKind
  /** `sha256:…`, for a link `link-sha256:…`, or `unreadable`, which equals nothing. */
  digest: string
  /** Bytes of a file; 0 for a field. */
  size: number
}

export interface ActingPart extends AcceptedPart {
  skill?: string | undefined
  /** From the first line, else from the extension: `bash`, `python3`, … */
  interpreter?: string | undefined
  /** The hashed text, up to 64 KiB, for a line diff; undefined for binary or longer content. */
  text?: string | undefined
  link?: string | undefined
  /** Why the part could not be read, as in "PATH …": `is not a regular file`. */
  problem?: string | undefined
}

export interface Acceptance {
  workspace: string
  acceptedAt: string
  /** Whether the text of the skills was recorded too. */
  pinned: boolean
  /** Whether later skills are trusted while they contain only text. */
  newText?: boolean | undefined
  /** The accepted skills, by owner; undefined if the whole workspace is accepted. */
  skills?: readonly string[] | undefined
  parts: readonly AcceptedPart[]
}

export type PartChange =
  | { change: 'added'; part: ActingPart }
  | { change: 'removed'; part: AcceptedPart }
  | { change: 'changed'; part: ActingPart; accepted: AcceptedPart }

export interface WorkspaceAssessment {
  /** `changed`: accepted, but an acting part differs from the accepted one. */
  state: 'trusted' | 'untrusted' | 'changed'
  /** Ordered by owner, path and kind; without an acceptance, every part is `added`. */
  changes: readonly PartChange[]
}

/** The inputs of a decision besides the skill. None of them comes from a project file. */
export interface TrustPolicy {
  workspace: string
  /** `trusted`: the caller vouches for the whole workspace (`--trust-workspace`). */
  workspaceTrust: 'ask' | 'trusted'
  /** Real paths whose skills are trusted whatever their scope. */
  trustedPaths: readonly string[]
  acceptance: Acceptance | undefined
}

export function orderParts(a: AcceptedPart, b: AcceptedPart): number {
  return compareText(a.owner, b.owner) || compareText(a.path, b.path) || compareText(a.kind, b.kind)
}

/** Returns the part that records that a skill exists. A later change of the skill's text does not change it. */
export function skillPart(owner: string): AcceptedPart {
  return { owner, path: owner === '' ? '.' : owner, kind: 'skill', digest: presence, size: 0 }
}

/** SHA-256 of an empty text. */
const presence = 'sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
