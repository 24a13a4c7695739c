import type { Diagnostic } from '../base/index.ts'
import type { SkillFile } from './_skill-files.ts'

/** A skill as the lock file of a project has it. */
export interface LockedSkill {
  /** Its directory, relative to the workspace with `/` on every platform; `.` for the workspace. */
  path: string
  /** Only for the reader: what is compared is the tree. */
  name: string
  /** Of the whole tree, `sha256:…`. */
  digest: string
  /** Digest of each file by its path in the skill: `sha256:…`, of a link `link-sha256:…`. */
  files: ReadonlyMap<string, string>
  /**
   * Paths of the files that may be executed; undefined where the lock does not say: it is of version 1,
   * or was written on Windows.
   */
  executable: ReadonlySet<string> | undefined
}

/** Every regular file and link of a skill, in the order of their paths. */
export interface SkillTree {
  /** `sha256:…`; undefined where something in it cannot be read. */
  digest: string | undefined
  files: readonly SkillFile[]
  /** Paths of the files that may be executed; undefined on Windows, which does not know. */
  executable: ReadonlySet<string> | undefined
}

/** A skill as it is now. */
export interface CurrentSkill {
  /** As in {@link LockedSkill}. */
  path: string
  name: string
  tree: SkillTree
}

/** `unreadable`: there is one, and nothing that it might say is believed. */
export type LockReading =
  | { state: 'none'; path: string }
  | { state: 'read'; path: string; skills: ReadonlyMap<string, LockedSkill> }
  | { state: 'unreadable'; path: string; diagnostics: readonly Diagnostic[] }

/** One skill that is not as it was locked. */
export interface LockChange {
  change: 'added' | 'removed' | 'changed'
  path: string
  name: string
  /** What is wrong with the skill as a whole, as in "PATH …": `is reached through a link`. */
  problem?: string | undefined
  files: readonly LockFileChange[]
}

export interface LockFileChange {
  change: 'added' | 'removed' | 'changed'
  /** Relative to the skill. */
  path: string
  /** The digest in the lock. */
  locked?: string | undefined
  /** Whether it may be executed now, where that is not as locked; `true` of an added one that may. */
  executable?: boolean | undefined
  /** The file as it is now. */
  file?: SkillFile | undefined
}
