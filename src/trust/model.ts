import { compareText } from '#core/errors'
import type { SkillFields } from '#skill/model'
import type { TrustReason } from './skill-trust.ts'

/** `untrusted`: text only as data, no hooks, no fork, `allowed-tools` narrows, nothing runs freely. */
export type TrustLevel = 'trusted' | 'untrusted'

/** Where a skill came from: the project, the user's home, a path given by name, or a program. */
export type SkillScope = 'project' | 'user' | 'custom' | 'code'

export interface TrustVerdict {
  level: TrustLevel
  code: TrustReason
  reason: string
  /** What differs from what was accepted; only of `workspace-changed`. */
  changes?: readonly PartChange[] | undefined
}

export interface TrustSubject {
  name: string
  scope: SkillScope
  /** Absolute; its links are resolved unless `realDirectory` is given. Unused in scope `code`. */
  directory: string
  realDirectory?: string | undefined
}

export interface ActingSkill extends Omit<TrustSubject, 'scope'> {
  /** The `SKILL.md`; default `SKILL.md` in `directory`. */
  path?: string | undefined
  fields: SkillFields
}

/**
 * What a part is. `text` is recorded only for a pinned workspace; everything else can act: files
 * that run, the fields that start or allow something, and the configuration of servers and hooks.
 */
export const actingKinds = [
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
  /** Directory of the skill it belongs to, relative to the workspace; '' for the workspace itself. */
  owner: string
  path: string
  kind: ActingKind
  /** `sha256:…`, `link-sha256:…` of a link, or `unreadable`, which never equals anything. */
  digest: string
  /** Bytes of a file; 0 for a field. */
  size: number
}

export interface ActingPart extends AcceptedPart {
  skill?: string | undefined
  /** `bash`, `python3`, …: from the shebang, else from the extension. */
  interpreter?: string | undefined
  /** The text that was hashed, up to 64 KiB, for a line diff; undefined for anything else. */
  text?: string | undefined
  link?: string | undefined
  /** Why it could not be read, as in "PATH …": `is not a regular file`. */
  problem?: string | undefined
}

export interface Acceptance {
  workspace: string
  acceptedAt: string
  /** Whether the text of the skills was recorded too. */
  pinned: boolean
  /** The only skills that were accepted, by owner; absent where the whole workspace was. */
  skills?: readonly string[] | undefined
  parts: readonly AcceptedPart[]
}

export type PartChange =
  | { change: 'added'; part: ActingPart }
  | { change: 'removed'; part: AcceptedPart }
  | { change: 'changed'; part: ActingPart; accepted: AcceptedPart }

export interface WorkspaceAssessment {
  /** `changed`: accepted once, but something that acts differs from what was accepted. */
  state: 'trusted' | 'untrusted' | 'changed'
  /** In the order of owner, path and kind; everything is `added` where nothing was accepted. */
  changes: readonly PartChange[]
}

/** What a decision depends on besides the skill; none of it comes from a file of the project. */
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
