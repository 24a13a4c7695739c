import { safeText } from '../../base/index.ts'
import type { ReportedError } from '../../exec/index.ts'
import type { ShownAttempt, ShownRun, StepResult } from '../result.ts'
import { spanOf } from '../step-time.ts'
import { saidOf } from '../timeline.ts'

/** JUnit XML as test reporters of CI services read it: a suite for each attempt, a case for each step. */
export function junitReport(result: ShownRun): string {
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

/** Nested chains are no cases of their own; their steps are. */
function leaves(steps: readonly StepResult[]): StepResult[] {
  return steps.flatMap((step) => (step.steps === undefined ? [step] : leaves(step.steps)))
}

function testCase(skill: string, step: StepResult): string[] {
  const head = `    <testcase classname="${attribute(skill)}" name="${attribute(step.step)}" time="${seconds(step.durationMs)}"`
  const body = [...verdict(step), ...output(step)]
  return body.length === 0 ? [`${head}/>`] : [`${head}>`, ...body, '    </testcase>']
}

/** What no single step is to blame for. */
function chainCase(skill: string, { code, message }: ReportedError): string[] {
  return [
    `    <testcase classname="${attribute(skill)}" name="${attribute(code)}" time="0.000">`,
    `      <failure type="failure" message="${attribute(message)}">${text(`${code}: ${message}`)}</failure>`,
    '    </testcase>',
  ]
}

/** Whatever did not come to its end counts as skipped. */
function kindOf({ status }: StepResult): 'passed' | 'failed' | 'skipped' {
  if (status === 'success') return 'passed'
  return status === 'failure' || status === 'critical' ? 'failed' : 'skipped'
}

function verdict(step: StepResult): string[] {
  const { status, reason = '', errors } = step
  const said = saidOf(step)
  switch (kindOf(step)) {
    case 'passed':
      return []
    case 'failed': {
      const lines = errors.map((error) => `${error.code}: ${error.message}`)
      const hint = step.hint === undefined ? [] : [step.hint]
      const body = [...(lines.length === 0 ? [said] : lines), ...hint].join('\n')
      return [
        `      <failure type="${status}" message="${attribute(said)}">${text(body)}</failure>`,
      ]
    }
    case 'skipped':
      return [`      <skipped message="${attribute(`${status}: ${reason}`)}"/>`]
  }
}

function output(step: StepResult): string[] {
  return step.log === undefined ? [] : [`      <system-out>${text(step.log)}</system-out>`]
}

function seconds(milliseconds: number): string {
  return (milliseconds / 1000).toFixed(3)
}

/** XML 1.0 has no form for control characters; `safeText` has made them visible. */
function text(value: string): string {
  return safeText(value).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

function attribute(value: string): string {
  return text(value).replaceAll('"', '&quot;').replaceAll('\n', '&#10;').replaceAll('\t', '&#9;')
}
