import { safeText } from '../../base/index.ts'
import type { ReportedError } from '../../exec/index.ts'
import type { AttemptResult, RunResult, StepResult } from '../result.ts'

/** JUnit XML as test reporters of CI services read it: a suite for each attempt, a case for each step. */
export function junitReport(result: RunResult): string {
  const suites = result.attempts.flatMap((attempt) => suite(result, attempt))
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="${attribute(result.skill)}">`,
    ...suites,
    '</testsuites>',
    '',
  ].join('\n')
}

function suite(result: RunResult, attempt: AttemptResult): string[] {
  const steps = leaves(attempt.steps)
  const { errors = [] } = attempt
  const stepsFailed = steps.filter(({ status }) => status === 'failure' || status === 'critical')
  const failed = stepsFailed.length + errors.length
  const cases = steps.length + errors.length
  const skipped = steps.filter(({ startedAt }) => startedAt === null).length
  const time = steps.reduce((sum, step) => sum + step.durationMs, 0)
  const name = result.attempts.length > 1 ? `${result.skill} #${attempt.attempt}` : result.skill
  return [
    `  <testsuite name="${attribute(name)}" id="${result.runId}" tests="${cases}" failures="${failed}" errors="0" skipped="${skipped}" time="${seconds(time)}">`,
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

function verdict(step: StepResult): string[] {
  switch (step.status) {
    case 'success':
      return []
    case 'failure':
    case 'critical': {
      const errors = step.errors.map((error) => `${error.code}: ${error.message}`).join('\n')
      return [
        `      <failure type="${step.status}" message="${attribute(step.result)}">${text(errors)}</failure>`,
      ]
    }
    case 'skipped':
    case 'not_run':
    case 'cancelled':
    case 'waiting':
    case 'running':
      return [`      <skipped message="${attribute(`${step.status}: ${step.reason ?? ''}`)}"/>`]
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
