import { join } from 'node:path'
import { compareText, type Diagnostic } from '../core/diagnostic.ts'
import type { PlaceOf } from './check-text.ts'
import { auditLimits } from './read-tree.ts'
import { type AuditCode, type AuditKind, auditRule } from './rules.ts'

export interface FoundPlace {
  /** Relative to the skill; empty for its directory. */
  file: string
  line?: number | undefined
  column?: number | undefined
}

/** Gathers findings within the limits: what is beyond them is counted, never lost silently. */
export interface Findings {
  add(code: AuditCode, place: FoundPlace, message: string, more?: FindingDetails): void
  /** Counts a place without saying which; true once a file has as many of a rule as are said. */
  countsOnly(code: AuditCode, file: string): boolean
  list(): AuditFinding[]
}

interface FindingDetails {
  subject?: string | undefined
  hint?: string | undefined
}

export function createFindings(directory: string): Findings {
  const found: AuditFinding[] = []
  const counts = new Map<string, { code: AuditCode; file: string; count: number }>()
  const filesOfRule = new Map<AuditCode, number>()

  const make = (
    code: AuditCode,
    { file, line, column }: FoundPlace,
    message: string,
    details: FindingDetails = {},
  ): AuditFinding => {
    const { kind, severity, source } = auditRule(code)
    const path = file === '' ? directory : join(directory, file)
    return { code, kind, severity, message, path, file, line, column, source, ...details }
  }

  return {
    add(code, place, message, details) {
      const isNewFile = !counts.has(`${code} ${place.file}`)
      const files = (filesOfRule.get(code) ?? 0) + (isNewFile ? 1 : 0)
      const file = isNewFile && files > auditLimits.filesOfRule ? '' : place.file
      const key = `${code} ${file}`
      const counter = counts.get(key) ?? { code, file, count: 0 }
      counter.count++
      counts.set(key, counter)
      if (isNewFile) filesOfRule.set(code, files)
      const isBeyond = file !== place.file || counter.count > auditLimits.places
      if (!isBeyond) found.push(make(code, place, message, details))
    },
    countsOnly(code, file) {
      const counter = counts.get(`${code} ${file}`)
      if (counter === undefined || counter.count < auditLimits.places) return false
      counter.count++
      return true
    },
    list() {
      const kept = new Map<string, number>()
      for (const { code, file } of found) {
        kept.set(`${code} ${file}`, (kept.get(`${code} ${file}`) ?? 0) + 1)
      }
      const rest = [...counts].flatMap(([key, { code, file, count }]) => {
        const more = count - (kept.get(key) ?? 0)
        if (more === 0) return []
        const where = file === '' ? 'in this skill' : 'in this file'
        return [make(code, { file }, `${more} more of this kind ${where}`)]
      })
      return [...found, ...rest].toSorted(compareFindings)
    },
  }
}

/** By file and line; the count of further places comes last in its file. */
function compareFindings(a: AuditFinding, b: AuditFinding): number {
  return (
    compareText(a.file, b.file) ||
    (a.line ?? Infinity) - (b.line ?? Infinity) ||
    (a.column ?? 0) - (b.column ?? 0) ||
    compareText(a.code, b.code) ||
    compareText(a.message, b.message)
  )
}

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

/** A text file of a skill. */
export interface AuditedText {
  /** Relative to the skill. */
  file: string
  text: string
  placeOf: PlaceOf
}
