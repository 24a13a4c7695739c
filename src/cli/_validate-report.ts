import type { Diagnostic } from '../base/index.ts'
import { safeLine, safeText } from '../base/index.ts'
import { type FixChange, validationRules } from '../skill/index.ts'
import { printSarif } from './_sarif-report.ts'
import type { CommandContext } from './command.ts'
import { diagnosticText } from '../base/diagnostic.ts'

/** What `validate` found out about one file. */
export interface SkillVerdict {
  path: string
  name: string | undefined
  valid: boolean
  diagnostics: readonly Diagnostic[]
  changes?: readonly FixChange[] | undefined
  diff?: string | undefined
}

export interface ValidationSummary {
  checked: number
  valid: number
  invalid: number
  errors: number
  warnings: number
}

export type ReportFormat = 'text' | 'json' | 'github' | 'sarif'

/** Takes verdicts one by one; nothing is kept that need not be. */
export interface ValidationReport {
  readonly summary: Readonly<ValidationSummary>
  add(verdict: SkillVerdict): void
  finish(): void
}

export function createReport(context: CommandContext, format: ReportFormat): ValidationReport {
  const summary = { checked: 0, valid: 0, invalid: 0, errors: 0, warnings: 0 }
  const count = (verdict: SkillVerdict): void => {
    summary.checked++
    summary[verdict.valid ? 'valid' : 'invalid']++
    for (const { severity } of verdict.diagnostics) {
      if (severity === 'error') summary.errors++
      if (severity === 'warning') summary.warnings++
    }
  }
  if (format === 'json') return jsonReport(context, summary, count)
  if (format === 'sarif') return sarifReport(context, summary, count)
  const show = format === 'github' ? githubLines : textLines
  return {
    summary,
    add(verdict) {
      count(verdict)
      for (const line of show(context, verdict)) context.output.line(line)
    },
    finish() {
      if (format === 'text') context.output.line(summaryText(context, summary))
    },
  }
}

/** One document, whose entries are made into text at once: 10,000 of them are a few megabytes. */
function jsonReport(
  { output }: CommandContext,
  summary: ValidationSummary,
  count: (verdict: SkillVerdict) => void,
): ValidationReport {
  return {
    summary,
    add(verdict) {
      const { path, name = null, valid, diagnostics, changes, diff } = verdict
      const entry = { path, name, valid, diagnostics, changes, diff }
      output.raw(summary.checked === 0 ? '{\n  "skills": [\n' : ',\n')
      output.raw(indented(JSON.stringify(entry, undefined, 2), '    '))
      count(verdict)
    },
    finish() {
      output.raw(summary.checked === 0 ? '{\n  "skills": [' : '\n  ')
      output.raw(
        `],\n  "summary": ${indented(JSON.stringify(summary, undefined, 2), '  ').trim()}\n}\n`,
      )
    },
  }
}

/** A log lists its rules before its results, so it is written at the end. */
function sarifReport(
  context: CommandContext,
  summary: ValidationSummary,
  count: (verdict: SkillVerdict) => void,
): ValidationReport {
  const found: Diagnostic[] = []
  return {
    summary,
    add(verdict) {
      count(verdict)
      for (const diagnostic of verdict.diagnostics) found.push(diagnostic)
    },
    finish: () => printSarif(context, validationRules, found),
  }
}

function indented(text: string, indent: string): string {
  return text.replaceAll(/^/gm, indent)
}

function textLines({ output, options }: CommandContext, verdict: SkillVerdict): string[] {
  const shown = verdict.diagnostics.filter(({ severity }) => !options.quiet || severity === 'error')
  const changes = (verdict.changes ?? []).map(({ line, message }) => {
    const verb = verdict.diff === undefined ? 'fixed' : 'would fix'
    return `${safeLine(verdict.path)}:${line}: ${output.style('green', verb)}: ${message}`
  })
  return [
    ...(verdict.diff === undefined ? [] : [safeText(verdict.diff.replaceAll('\r\n', '^M\n'))]),
    ...(options.quiet ? [] : changes),
    ...shown.map((diagnostic) => diagnosticText(diagnostic, output.style)),
  ]
}

function summaryText({ output }: CommandContext, summary: ValidationSummary): string {
  const { checked, invalid, errors, warnings } = summary
  const verdict =
    invalid === 0
      ? output.style('green', checked === 1 ? 'valid' : 'all valid')
      : output.style('red', `${invalid} invalid`)
  const found = [plural(errors, 'error'), plural(warnings, 'warning')].join(', ')
  return `${plural(checked, 'skill')} checked, ${verdict}: ${found}`
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

const annotations = { error: 'error', warning: 'warning', info: 'notice' } as const

/** Workflow commands of GitHub Actions, which show a diagnostic at its line. */
function githubLines(_context: CommandContext, verdict: SkillVerdict): string[] {
  return verdict.diagnostics.map(({ severity, path, line, column, code, message, hint }) => {
    const properties = [`file=${property(path)}`]
    if (line !== undefined) properties.push(`line=${line}`)
    if (column !== undefined) properties.push(`col=${column}`)
    properties.push(`title=${property(code)}`)
    const text = hint === undefined ? message : `${message}\n${hint}`
    return `::${annotations[severity]} ${properties.join(',')}::${data(safeText(text))}`
  })
}

function data(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}

function property(text: string): string {
  return data(safeLine(text)).replaceAll(':', '%3A').replaceAll(',', '%2C')
}
