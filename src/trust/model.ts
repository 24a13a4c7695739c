import { compareText } from '../core/diagnostic.ts'
import type { SkillFields } from '../skill/model.ts'

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
