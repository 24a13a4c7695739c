import type { Diagnostic } from '../base/index.ts'
import type { AuditCode } from './rules.ts'

/**
 * `structure`: what hides something or harms whoever reads the folder. `capability`: what the skill
 * asks for or can do, as a fact. `secret`: what should not have been published.
 */
export type AuditKind = 'structure' | 'capability' | 'secret'

/** One finding, at a place in one file. */
export interface AuditFinding extends Diagnostic {
  code: AuditCode
  kind: AuditKind
  /** The file, relative to the skill's directory, with `/`; empty for the directory itself. */
  file: string
  /** What the fact is about: a program, a host, a tool, a variable. Safe to print, never a secret. */
  subject?: string | undefined
}

/** What one skill contains. */
export interface SkillAudit {
  /** The `name` of its frontmatter, where that can be read. */
  name: string | undefined
  /** As it was given. */
  directory: string
  /** Everything found in the directory: files, links, pipes. */
  files: number
  /** Bytes of text that the rules were tried on. */
  analysedBytes: number
  /** By path, line and code. */
  findings: readonly AuditFinding[]
}

/** Another skill that an agent may confuse with the audited one. */
export interface OtherSkill {
  name: string
  /** Real path. */
  directory: string
}
