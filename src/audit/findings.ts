import { join } from 'node:path'
import { compareText, type Diagnostic } from '#core/errors'
import { safeLine, type TextPlaces } from '#core/text'
import { auditLimits } from './read-tree.ts'
import { type AuditCode, type AuditKind, auditRule } from './rules.ts'

export interface SkillAudit {
  name: string | undefined
  directory: string
  files: number
  analysedBytes: number
  findings: readonly AuditFinding[]
}

export interface AuditFinding extends Diagnostic {
  code: AuditCode
  kind: AuditKind
  file: string
  /**
   * What the fact is about: a program, a host, a tool, a variable. Safe to print, never a secret.
   */
  subject?: string | undefined
}

/** Another skill that an agent may confuse with the audited one. */
export interface OtherSkill {
  name: string
  directory: string
}

export interface AuditedText {
  file: string
  text: string
  placeOf: TextPlaces
  report(code: AuditCode, offset: number, message: string, subject?: string): void
  /**
   * Counts a place without reporting it, once the file has reached the limit of places for a rule.
   */
  countsOnly(code: AuditCode): boolean
}

export interface FindingPlace {
  /** Relative to the skill; empty for its directory. */
  file: string
  line?: number | undefined
  column?: number | undefined
}

type Counter = { code: AuditCode; file: string; count: number; listedCount: number }

export class Findings {
  readonly #directory: string
  readonly #listed: AuditFinding[] = []
  readonly #counters = new Map<string, Counter>()
  readonly #filesOfRule = new Map<AuditCode, number>()

  constructor(directory: string) {
    this.#directory = directory
  }

  add(
    code: AuditCode,
    place: FindingPlace,
    message: string,
    details: Pick<AuditFinding, 'subject' | 'hint'> = {},
  ): void {
    const counter = this.#counter(code, place.file)
    counter.count++
    if (counter.file !== place.file || counter.listedCount >= auditLimits.places) return
    counter.listedCount++
    this.#listed.push(this.#finding(code, place, message, details))
  }

  countsOnly(code: AuditCode, file: string): boolean {
    const counter = this.#counters.get(`${code} ${file}`)
    if (!counter || counter.listedCount < auditLimits.places) return false
    counter.count++
    return true
  }

  list(): AuditFinding[] {
    const summaries = Array.from(this.#counters.values()).flatMap(
      ({ code, file, count, listedCount }) => {
        if (count === listedCount) return []
        const scope = file === '' ? 'in this skill' : 'in this file'
        return [this.#finding(code, { file }, `${count - listedCount} more of this kind ${scope}`)]
      },
    )
    return [...this.#listed, ...summaries].toSorted(
      (a, b) =>
        compareText(a.file, b.file) ||
        (a.line ?? Infinity) - (b.line ?? Infinity) ||
        (a.column ?? 0) - (b.column ?? 0) ||
        compareText(a.code, b.code) ||
        compareText(a.message, b.message),
    )
  }

  /** Returns the file's counter, or the skill's if a rule has findings in too many files. */
  #counter(code: AuditCode, file: string): Counter {
    const existing = this.#counters.get(`${code} ${file}`)
    if (existing) return existing
    const files = this.#filesOfRule.get(code) ?? 0
    if (files >= auditLimits.filesOfRule && file !== '') return this.#counter(code, '')
    this.#filesOfRule.set(code, files + 1)
    const counter = { code, file, count: 0, listedCount: 0 }
    this.#counters.set(`${code} ${file}`, counter)
    return counter
  }

  #finding(
    code: AuditCode,
    { file, line, column }: FindingPlace,
    message: string,
    { subject, ...details }: Pick<AuditFinding, 'subject' | 'hint'> = {},
  ): AuditFinding {
    const { kind, severity, source } = auditRule(code)
    const path = file === '' ? this.#directory : join(this.#directory, file)
    const about = subject === undefined ? details : { subject: safeLine(subject), ...details }
    const facts = { code, kind, severity, message: safeLine(message) }
    return { ...facts, path, file, line, column, source, ...about }
  }
}
