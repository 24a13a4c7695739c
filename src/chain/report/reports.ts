import { cutToColumns, safeLine, safeText, withoutGithubCommands } from '../../core/text.ts'
import type { ReportedError } from '../../exec/output-protocol.ts'
import type { StepResult } from '../engine.ts'
import { decidingAttempt, type ShownAttempt, type ShownRun } from '../step-result.ts'
import { stepLabel } from '../plan-model.ts'
import { firstFailed, rowsOf, saidOf, spanOf, statusMarks, stepDuration } from '../timeline.ts'
import { escape, htmlReport } from './html.ts'

export const reportFormats = ['json', 'junit', 'github', 'html'] as const

export type ReportFormat = (typeof reportFormats)[number]

export function renderReport(format: ReportFormat, result: ShownRun): string {
  return renderers[format](result)
}

const renderers: Record<ReportFormat, (result: ShownRun) => string> = {
  json: (result) => `${JSON.stringify(result, null, 2)}\n`,
  junit: junitReport,
  github: githubReport,
  html: htmlReport,
}

function junitReport(result: ShownRun): string {
  const counts = result.attempts.map((attempt) => countsOf(attempt))
  const suites = result.attempts.flatMap((attempt) => suite(result, attempt))
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="${attribute(result.skill)}" ${countAttributes(counts)}>`,
    ...suites,
    '</testsuites>',
    '',
  ].join('\n')
}

interface Counts {
  tests: number
  failures: number
  skipped: number
  /** In milliseconds, as if one step had followed the other. */
  time: number
}

function countsOf({ steps, errors = [] }: ShownAttempt): Counts {
  const cases = leaves(steps)
  return {
    tests: cases.length + errors.length,
    failures: cases.filter((step) => kindOf(step) === 'failed').length + errors.length,
    skipped: cases.filter((step) => kindOf(step) === 'skipped').length,
    time: cases.reduce((sum, step) => sum + step.durationMs, 0),
  }
}

function countAttributes(counts: readonly Counts[]): string {
  const sum = (name: keyof Counts): number => counts.reduce((all, one) => all + one[name], 0)
  return `tests="${sum('tests')}" failures="${sum('failures')}" errors="0" skipped="${sum('skipped')}" time="${seconds(sum('time'))}"`
}

function suite(result: ShownRun, attempt: ShownAttempt): string[] {
  const steps = leaves(attempt.steps)
  const { errors = [] } = attempt
  const name = result.attempts.length > 1 ? `${result.skill} #${attempt.attempt}` : result.skill
  const began = spanOf(attempt.steps)?.start
  // UTC without saying so, as the schema of Ant's reports wants it.
  const at = began === undefined ? '' : ` timestamp="${new Date(began).toISOString().slice(0, 19)}"`
  return [
    `  <testsuite name="${attribute(name)}" id="${result.runId}" ${countAttributes([countsOf(attempt)])}${at}>`,
    ...steps.flatMap((step) => testCase(result.skill, step)),
    ...errors.flatMap((error) => chainCase(result.skill, error)),
    '  </testsuite>',
  ]
}

function leaves(steps: readonly StepResult[]): StepResult[] {
  return steps.flatMap((step) => {
    if (step.steps === undefined) return [step]
    const { allowFailure } = step
    return leaves(step.steps).map((leaf) => (allowFailure ? { ...leaf, allowFailure } : leaf))
  })
}

function testCase(skill: string, step: StepResult): string[] {
  const head = `    <testcase classname="${attribute(skill)}" name="${attribute(step.step)}" time="${seconds(step.durationMs)}"`
  const body = [...verdict(step), ...output(step)]
  return body.length === 0 ? [`${head}/>`] : [`${head}>`, ...body, '    </testcase>']
}

/** Errors that belong to no single step. */
function chainCase(skill: string, { code, message }: ReportedError): string[] {
  return [
    `    <testcase classname="${attribute(skill)}" name="${attribute(code)}" time="0.000">`,
    `      <failure type="failure" message="${attribute(message)}">${escape(`${code}: ${message}`)}</failure>`,
    '    </testcase>',
  ]
}

/** Whatever did not come to its end counts as skipped, and so does a failure that is allowed. */
function kindOf({ status, allowFailure }: StepResult): 'passed' | 'failed' | 'skipped' {
  if (status === 'success') return 'passed'
  if (allowFailure === true) return 'skipped'
  return status === 'failure' || status === 'critical' ? 'failed' : 'skipped'
}

function verdict(step: StepResult): string[] {
  const { status, errors } = step
  const said = saidOf(step)
  switch (kindOf(step)) {
    case 'passed':
      return []
    case 'failed': {
      const lines = errors.map((error) => `${error.code}: ${error.message}`)
      const hint = step.hint === undefined ? [] : [step.hint]
      const body = [...(lines.length === 0 ? [said] : lines), ...hint].join('\n')
      return [
        `      <failure type="${status}" message="${attribute(said)}">${escape(body)}</failure>`,
      ]
    }
    case 'skipped':
      return [`      <skipped message="${attribute(`${status}: ${said}`)}"/>`]
  }
}

function output(step: StepResult): string[] {
  return step.log === undefined ? [] : [`      <system-out>${escape(step.log)}</system-out>`]
}

function seconds(milliseconds: number): string {
  return (milliseconds / 1000).toFixed(3)
}

function attribute(value: string): string {
  return escape(value).replaceAll('\n', '&#10;').replaceAll('\t', '&#9;')
}

function githubReport(result: ShownRun): string {
  const several = result.attempts.length > 1
  const all = result.attempts.flatMap(({ attempt, steps }) =>
    rowsOf(steps).map((row) => ({ ...row, attempt })),
  )
  const rows = all.map(({ step, depth, attempt }) => {
    const name = `${'&nbsp;&nbsp;'.repeat(depth)}${cell(stepLabel(step))}${several ? ` (attempt ${attempt})` : ''}`
    const time = stepDuration(step)
    return `| ${statusMarks[step.status].mark} ${step.status} | ${name} | ${time} | ${cell(saidOf(step))} |`
  })
  const lines = [
    `## ${cell(result.skill)}: ${result.status}`,
    '',
    '| | step | time | result |',
    '|---|---|---|---|',
    ...rows,
    '',
    ...(decidingAttempt(result)?.errors ?? []).flatMap((error) => [
      cell(`${error.code}: ${error.message}`),
      '',
    ]),
    ...failure(result),
    `Run \`${result.runId}\``,
    '',
  ]
  return lines.join('\n')
}

function failure(result: ShownRun): string[] {
  const failed = firstFailed(result)
  if (failed === undefined) return []
  const log = withoutGithubCommands(safeText(failed.log ?? failed.result))
    .split('\n')
    .slice(-30)
  return [
    `Failed first: **${cell(failed.step)}**`,
    '',
    ...(failed.hint === undefined ? [] : [escaped(safeLine(failed.hint)), '']),
    // Indented code cannot be ended by what a step printed, as a fence could.
    ...log.map((line) => `    ${line}`),
    '',
  ]
}

/** A cell is one line, and nothing in it is markup, a formula, an emoji or a mention. */
function cell(text: string): string {
  return escaped(cutToColumns(safeLine(text), 300))
}

function escaped(line: string): string {
  return line
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replace(/[\\`*_[\]|!#~@$]|:(?=[\w+-]+:)/g, (character) => `&#${character.charCodeAt(0)};`)
}
