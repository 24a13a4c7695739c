import { isAbsolute, relative } from 'node:path'
import type { AuditFinding, SkillAudit } from '../audit/index.ts'
import { compareText, type Diagnostic, safeLine } from '../base/index.ts'
import { amount, bytes, count } from '../base/text.ts'
import type { CommandContext } from './command.ts'

export interface AuditSummary {
  audited: number
  errors: number
  warnings: number
  facts: number
}

export function summaryOf(audits: readonly SkillAudit[]): AuditSummary {
  const all = audits.flatMap(({ findings }) => findings)
  const having = (severity: string): number =>
    all.filter((finding) => finding.severity === severity).length
  return {
    audited: audits.length,
    errors: having('error'),
    warnings: having('warning'),
    facts: having('info'),
  }
}

/** The JSON of `audit`. */
export function auditAnswer(
  audits: readonly SkillAudit[],
  diagnostics: readonly Diagnostic[],
): object {
  return {
    skills: audits.map(({ name = null, directory, files, analysedBytes, findings }) => ({
      path: directory,
      name,
      files,
      analysedBytes,
      findings,
    })),
    diagnostics,
    summary: summaryOf(audits),
  }
}

/** A block for each skill: first what is wrong, then facts, one line for each kind of fact. */
export function auditLines(
  audits: readonly SkillAudit[],
  cwd: string,
  context: Pick<CommandContext, 'output' | 'options'>,
): string[] {
  const { style } = context.output
  const blocks = audits.flatMap((audit) => {
    const problems = audit.findings.filter(({ severity }) => severity !== 'info')
    const facts = audit.findings.filter(({ severity }) => severity === 'info')
    const size = `${amount(audit.files, 'file')}, ${bytes(audit.analysedBytes)} of text`
    const head = `${safeLine(audit.name ?? '?')}  ${shownPath(audit.directory, cwd)}  (${size})`
    return [
      style('bold', head),
      ...problems.map((finding) => problemLine(finding, style)),
      ...(context.options.quiet ? [] : factLines(facts, context.options.verbose)),
      '',
    ]
  })
  const { audited, errors, warnings, facts } = summaryOf(audits)
  const found = `${amount(errors, 'error')}, ${amount(warnings, 'warning')}, ${amount(facts, 'fact')}`
  return [...blocks, `${amount(audited, 'skill')} audited: ${found}`]
}

function shownPath(path: string, cwd: string): string {
  const below = relative(cwd, path)
  const isOutside = below.startsWith('..') || isAbsolute(below)
  return safeLine(isOutside ? path : below === '' ? '.' : below)
}

function problemLine(
  { severity, message, code, hint, ...place }: AuditFinding,
  style: CommandContext['output']['style'],
): string {
  const shown = style(severity === 'error' ? 'red' : 'yellow', severity)
  const line = `  ${placeText(place)}: ${shown}: ${safeLine(message)} ${style('dim', `[${code}]`)}`
  return hint === undefined ? line : `${line}\n    ${safeLine(hint)}`
}

function placeText({ file, line }: Pick<AuditFinding, 'file' | 'line'>): string {
  const path = file === '' ? '.' : safeLine(file)
  return line === undefined ? path : `${path}:${line}`
}

/** How many subjects and places a line names without `--verbose`. */
const shortList = 6

function factLines(facts: readonly AuditFinding[], verbose: boolean): string[] {
  const byCode = new Map<string, AuditFinding[]>()
  for (const fact of facts) byCode.set(fact.code, [...(byCode.get(fact.code) ?? []), fact])
  const ordered = [...byCode].toSorted(([a], [b]) => compareText(a, b))
  return ordered.flatMap(([code, found]) => {
    const subjects = [...new Set(found.flatMap(({ subject }) => subject ?? []))].map(safeLine)
    const label = `  ${code.padEnd(20)} `
    if (verbose) {
      return found.map((fact) => `${label}${placeText(fact)}: ${safeLine(fact.message)}`)
    }
    const places = [...new Set(found.map(placeText))]
    return [`${label}${[shortened(subjects), shortened(places)].filter(Boolean).join('  ')}`]
  })
}

function shortened(words: readonly string[]): string {
  const more = words.length - shortList
  const shown = words.slice(0, shortList).join(', ')
  return more > 0 ? `${shown} and ${count(more)} more` : shown
}
