import type { Diagnostic } from '#core/errors'
import type { SkillFields, SkillFile } from '#skill/model'
import type { SkillScope, TrustLevel } from '#trust/model'
import type { Plugin } from './plugins.ts'

/** What is known about a skill before its body is read. */
export interface SkillInfo {
  name: string
  description: string
  /** The `SKILL.md`, absolute; empty for a skill that exists only in code. */
  path: string
  /** Absolute, as it was found; empty for a skill that exists only in code. */
  directory: string
  realDirectory: string
  scope: SkillScope
  /** The location's label, such as `.skillrail/skills`, or the path that was given. */
  source: string
  /** The level by place; activation looks again at what the skill can do. */
  trustLevel: TrustLevel
  size: number
  mtimeMs: number
  /** Estimated tokens: what the catalogue costs, and what activation costs. */
  tokens: { metadata: number; body: number }
  /** Paths of the `SKILL.md` files of the same name that this one takes precedence over. */
  shadows: readonly string[]
  diagnostics: readonly Diagnostic[]
  fields: SkillFields
}

/** A directory with a skill file that cannot be used. */
export interface BrokenSkill {
  /** The directory's name: the only name such a skill is known by. */
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
  /** Of the whole `SKILL.md`; of name, description and body for a skill that exists only in code. */
  digest: string
  resources: ResourceTree
}

export interface SkillLocation {
  directory: string
  scope: Exclude<SkillScope, 'code'>
  source: string
  /** Named by the user: searched to any depth, and reported when it is missing. */
  explicit: boolean
  /** Whose skills lie in it: only those in its own folders, and only valid ones. */
  plugin?: Plugin | undefined
}

/** The answer of a search. Every list is in order of precedence, then code-point order of paths. */
export interface Discovery {
  skills: readonly SkillInfo[]
  /** Same names, lower precedence. */
  shadowed: readonly SkillInfo[]
  /** Skills of which two different ones in one location share a name: none of them can be used. */
  conflicts: readonly SkillInfo[]
  broken: readonly BrokenSkill[]
  /** Findings about places and about broken skills; the others are with their skill. */
  diagnostics: readonly Diagnostic[]
}

/** A larger `SKILL.md` is refused: it would be some 250,000 tokens. */
export const maxSkillBytes: number = 1024 * 1024
