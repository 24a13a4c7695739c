import type { ClientName } from '#core/client-folders'
import type { Diagnostic } from '#core/errors'
import type { SkillFields, SkillFile } from '#skill/model'
import type { SkillScope, TrustLevel } from '#trust/model'
import type { Plugin } from './plugins.ts'

/** The metadata of a skill, without its body. */
export interface SkillInfo {
  name: string
  description: string
  /** The `SKILL.md`, absolute; empty for a skill that exists only in code. */
  path: string
  /** Absolute, links not resolved; empty for a skill that exists only in code. */
  directory: string
  realDirectory: string
  scope: SkillScope
  /** The location's label, such as `.skillrail/skills`, or an explicit path as the caller wrote it. */
  source: string
  /** The level by place; activation also compares what the skill can do. */
  trustLevel: TrustLevel
  size: number
  mtimeMs: number
  /** Estimated tokens in the catalogue and of the body. */
  tokens: { metadata: number; body: number }
  /** Paths of the `SKILL.md` files of the same name that this one takes precedence over. */
  shadows: readonly string[]
  /** Links in other places that lead to this `SKILL.md`, each with its path and its location's label. */
  linkedFrom: readonly { path: string; source: string }[]
  /** The agent clients that read the skill themselves, by any path to it. */
  clients: readonly ClientName[]
  diagnostics: readonly Diagnostic[]
  fields: SkillFields
}

/** A directory with a skill file that cannot be used. */
export interface BrokenSkill {
  /** The directory's name: a broken skill has no other name. */
  name: string
  path: string
  scope: SkillScope
  source: string
  diagnostics: readonly Diagnostic[]
}

export interface ResourceTree {
  files: readonly SkillFile[]
  truncated: boolean
}

export interface Skill {
  info: SkillInfo
  body: string
  /** Of the whole `SKILL.md`; for a skill that exists only in code, of name, description and body. */
  digest: string
  resources: ResourceTree
}

export interface SkillLocation {
  directory: string
  scope: Exclude<SkillScope, 'code'>
  source: string
  /** Whether the user named the location: then any depth is searched, and a missing folder is reported. */
  explicit: boolean
  /** The agent clients that read the location themselves; default: none. */
  clients?: readonly ClientName[] | undefined
  /** How many levels below contain skills, if a client defines that: 0 is the folder itself. */
  depth?: number | undefined
  /** The plugin whose skills the location contains. Only valid skills in direct subfolders count. */
  plugin?: Plugin | undefined
}

/** The result of a search. Each list is ordered by precedence, then by the code points of paths. */
export interface Discovery {
  skills: readonly SkillInfo[]
  /** Same names, lower precedence. */
  shadowed: readonly SkillInfo[]
  /** Different skills with the same name in one location: none of them can be used. */
  conflicts: readonly SkillInfo[]
  broken: readonly BrokenSkill[]
  /** Diagnostics about locations and broken skills; a usable skill has its own diagnostics. */
  diagnostics: readonly Diagnostic[]
}

/** A larger `SKILL.md` is refused: it would have some 250,000 tokens. */
export const maxSkillBytes: number = 1024 * 1024
