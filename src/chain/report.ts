import { indentedJson } from '#core/json'
import { printedText } from '#core/printed-text'
import { cutToColumns, linesText, safeLine, safeText, withoutGithubCommands } from '#core/text'
import type { ReportedError } from '#exec/output-protocol'
import type { StepResult } from './engine.ts'
import { stepLabel, wordsOf } from './plan-model.ts'
import {
  countSucceeded,
  decidingAttempt,
  errorText,
  isFailed,
  leafSteps,
  type ShownAttempt,
  type ShownRun,
} from './step-result.ts'
import {
  duration,
  firstFailed,
  renderTimeline,
  reworkTexts,
  stepOutcomeText,
  type Span,
  noSpan,
  placeOf,
  spanOf,
  statusMarks,
  stepDuration,
  timeOf,
} from './timeline.ts'

export const reportFormats = ['json', 'junit', 'github', 'html'] as const

export type ReportFormat = (typeof reportFormats)[number]

export function renderReport(format: ReportFormat, result: ShownRun): string {
  return renderers[format](result)
}

const renderers: Record<ReportFormat, (result: ShownRun) => string> = {
  json: indentedJson,
  junit: junitReport,
  github: githubReport,
  html: htmlReport,
}

/** Texts of steps are indented code, because they could end a fenced block. */
function githubReport(result: ShownRun): string {
  const errors = decidingAttempt(result)?.errors ?? []
  const lines = [
    `run ${result.runId}`,
    ...renderTimeline(result, { width: 120, showsResults: true }),
    ...errors.map((error) => safeLine(printedText(errorText(error)))),
  ]
  const code = withoutGithubCommands(linesText(lines.map((line) => `    ${line}`)))
  const title = result.skill.replaceAll(/[^\p{L}\p{N} ._-]/gu, '')
  return `## ${title}: ${result.status}\n\n${code}`
}

function junitReport(result: ShownRun): string {
  const suites = result.attempts.map((attempt) => ({ attempt, cases: casesOf(attempt) }))
  const allCases = suites.flatMap(({ cases }) => cases)
  return linesText([
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="${attribute(result.skill)}" ${counts(allCases)}>`,
    ...suites.flatMap(({ attempt, cases }) => suite(result, attempt, cases)),
    '</testsuites>',
  ])
}

interface TestCase {
  name: string
  /** Milliseconds; null if unknown. */
  time: number | null
  kind: 'passed' | 'failed' | 'skipped'
  body: readonly string[]
}

function counts(cases: readonly TestCase[]): string {
  const count = (kind: TestCase['kind']): number => cases.filter((one) => one.kind === kind).length
  // The sum of all cases, even if steps ran at the same time.
  const time = cases.reduce((sum, one) => sum + (one.time ?? 0), 0)
  return `tests="${cases.length}" failures="${count('failed')}" errors="0" skipped="${count('skipped')}" time="${seconds(time)}"`
}

function suite(result: ShownRun, attempt: ShownAttempt, cases: readonly TestCase[]): string[] {
  const name = result.attempts.length > 1 ? `${result.skill} #${attempt.attempt}` : result.skill
  const began = spanOf(attempt.steps)?.beganAt
  // The schema of Ant's reports allows no time zone; the time is UTC.
  const at = began === undefined ? '' : ` timestamp="${new Date(began).toISOString().slice(0, 19)}"`
  const skill = attribute(result.skill)
  const reworks = reworkTexts(attempt).map(
    (text) => `      <property name="rework" value="${attribute(text)}"/>`,
  )
  return [
    `  <testsuite name="${attribute(name)}" id="${result.runId}" ${counts(cases)}${at}>`,
    ...(reworks.length === 0 ? [] : ['    <properties>', ...reworks, '    </properties>']),
    ...cases.flatMap((one) => {
      const head = `    <testcase classname="${skill}" name="${attribute(one.name)}"${one.time === null ? '' : ` time="${seconds(one.time)}"`}`
      if (one.body.length === 0) return [`${head}/>`]
      return [`${head}>`, ...one.body.map((line) => `      ${line}`), '    </testcase>']
    }),
    '  </testsuite>',
  ]
}

/** The steps that are not chains, and the errors that belong to no single step. */
function casesOf({ steps, errors = [] }: ShownAttempt): TestCase[] {
  return [
    ...leafSteps(steps).map((step) => ({
      name: step.step,
      time: step.durationMs,
      kind: kindOf(step),
      body: wordsOf(
        ...verdict(step),
        step.log !== undefined && `<system-out>${escape(step.log)}</system-out>`,
      ),
    })),
    ...errors.map((error) => ({
      name: error.code,
      time: 0,
      kind: 'failed' as const,
      body: [failure('failure', error.message, errorText(error))],
    })),
  ]
}

/** A step that did not finish counts as skipped, and so does an allowed failure. */
function kindOf({ status, allowFailure }: StepResult): TestCase['kind'] {
  if (status === 'success') return 'passed'
  if (allowFailure) return 'skipped'
  return isFailed(status) ? 'failed' : 'skipped'
}

function verdict(step: StepResult): string[] {
  const { status, errors, hint } = step
  const kind = kindOf(step)
  if (kind === 'passed') return []
  const text = stepOutcomeText(step)
  if (kind === 'skipped') return [`<skipped message="${attribute(`${status}: ${text}`)}"/>`]
  const lines = errors.map(errorText)
  const body = [...(lines.length === 0 ? [text] : lines), ...(hint === undefined ? [] : [hint])]
  return [failure(status, text, body.join('\n'))]
}

function failure(type: string, message: string, body: string): string {
  return `<failure type="${type}" message="${attribute(message)}">${escape(body)}</failure>`
}

function seconds(milliseconds: number): string {
  return (milliseconds / 1000).toFixed(3)
}

function attribute(value: string): string {
  return escape(value).replaceAll('\n', '&#10;').replaceAll('\t', '&#9;')
}

function htmlReport(result: ShownRun): string {
  const title = `${result.skill}: ${result.status}`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<title>${escape(title)}</title>
<style>${htmlStyle}</style>
</head>
<body>
<header>
<h1>${escape(result.skill)} <span class="status ${result.status}">${result.status}</span></h1>
<p>${summary(result)}</p>
</header>
<main>
${result.attempts.map((attempt) => attemptSection(attempt, result.attempts.length)).join('\n')}
</main>
</body>
</html>
`
}

function summary(result: ShownRun): string {
  const attempt = decidingAttempt(result)
  const began = spanOf(result.attempts.flatMap(({ steps }) => steps))?.beganAt
  const failedStep = firstFailed(result)
  return wordsOf(
    `Run <code>${escape(result.runId)}</code>`,
    countSucceeded(attempt?.steps ?? []),
    began !== undefined && `${duration(timeOf(result))} from ${timeElement(began)}`,
    result.winner !== undefined && `won by <b>${escape(result.winner)}</b>`,
    failedStep &&
      attempt &&
      `failed first: <a href="#${anchor(attempt.attempt, failedStep)}">${escape(failedStep.step)}</a>`,
  ).join(', ')
}

function timeElement(at: number): string {
  const iso = new Date(at).toISOString()
  return `<time datetime="${iso}">${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC</time>`
}

function anchor(attempt: number, step: StepResult): string {
  return `a${attempt}-${encodeURIComponent(step.step)}`
}

function attemptSection(attempt: ShownAttempt, attempts: number): string {
  const span = spanOf(attempt.steps) ?? noSpan
  const scope = { span, attempt: attempt.attempt, depth: 0 }
  const heading =
    attempts === 1
      ? ''
      : `<h2>Attempt ${attempt.attempt} <span class="status ${attempt.status}">${attempt.status}</span></h2>\n`
  const steps = stepList(attempt.steps, scope)
  return `<section>\n${heading}${errorList(attempt.errors)}${reworkList(attempt)}${steps}\n</section>`
}

/** Lists the rejections that discarded results. */
function reworkList(attempt: ShownAttempt): string {
  const items = reworkTexts(attempt).map((text) => `<li>${escape(text)}</li>`)
  return items.length === 0 ? '' : `<ul class="reworks">${items.join('')}</ul>`
}

interface Scope {
  span: Span
  attempt: number
  depth: number
}

function stepList(steps: readonly StepResult[], scope: Scope): string {
  const items = steps.map((step) => stepItem(step, scope))
  // The column of the name shrinks with the indentation, so that all bars share one time axis.
  return `<ol style="--depth:${scope.depth}">\n${items.join('\n')}\n</ol>`
}

function stepItem(step: StepResult, scope: Scope): string {
  const { mark } = statusMarks[step.status]
  const time = stepDuration(step)
  const note = cutToColumns(safeLine(printedText(stepOutcomeText(step))), 200)
  const open = isFailed(step.status) && !step.steps ? ' open' : ''
  const inner = { ...scope, depth: scope.depth + 1 }
  const innerList = step.steps ? `\n${stepList(step.steps, inner)}` : ''
  return `<li>
<details id="${anchor(scope.attempt, step)}"${open}>
<summary><span class="mark ${step.status}" role="img" aria-label="${step.status}" title="${step.status}">${mark}</span><span class="name">${escape(stepLabel(step))}</span><span class="time">${time}</span><span class="track">${bar(step, scope.span)}</span><span class="note">${escape(note)}</span></summary>
${details(step)}
</details>${innerList}
</li>`
}

function details(step: StepResult): string {
  const facts = [
    ['step', step.step],
    ['status', step.status],
    ['evidence', step.evidence ?? ''],
    ['started', step.startedAt ?? ''],
    ['result', step.result],
    ['reason', step.reason ?? ''],
    ['sandbox', step.sandbox ?? ''],
    ['what to do', step.hint ?? ''],
    ['attempts', (step.attempts ?? []).map(({ status }) => status).join(', ')],
    ['taken over', step.reused ? 'from another run, with its times' : ''],
    ...Object.entries(step.metrics).map(([name, value]) => [name, JSON.stringify(value)]),
  ]
    .filter(([, value]) => value !== '')
    .map(([name = '', value = '']) => `<dt>${escape(name)}</dt><dd>${escape(value)}</dd>`)
  const log = step.log === undefined ? '' : logOf(step.step, step.log)
  return `<dl>${facts.join('')}</dl>${errorList(step.errors)}${log}`
}

/** Scrolled to its last lines; focusable, so that the keyboard can scroll it. */
function logOf(step: string, log: string): string {
  const name = `Output of ${escape(step)}`
  return `<pre tabindex="0" role="region" aria-label="${name}"><code>${escape(log)}</code></pre>`
}

function errorList(errors: readonly ReportedError[] = []): string {
  const items = errors.map(
    (error) => `<li><code>${escape(error.code)}</code> ${escape(error.message)}</li>`,
  )
  return items.length === 0 ? '' : `<ul class="errors">${items.join('')}</ul>`
}

function bar(step: StepResult, span: Span): string {
  const place = placeOf(step, span)
  if (!place) return ''
  const left = Math.min(99.6, place.left * 100)
  const width = Math.min(100 - left, Math.max(0.4, place.width * 100))
  return `<span class="bar ${step.status}" style="left:${left.toFixed(2)}%;width:${width.toFixed(2)}%"></span>`
}

/** Escapes text for HTML and XML. XML cannot contain control characters, so `safeText` makes them visible. */
function escape(text: string): string {
  return safeText(printedText(text))
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}

/** The style of the HTML report. Background and text follow the browser's colour scheme. */
const htmlStyle = `
:root{color-scheme:light dark;--soft:light-dark(#59636e,#9198a1);--card:light-dark(#f6f8fa,#21262d);--good:light-dark(#1a7f37,#3fb950);--bad:light-dark(#cf222e,#ff7b72);--warn:light-dark(#9a6700,#d29922);--wait:light-dark(#0969da,#58a6ff)}
body{font:15px/1.5 system-ui,sans-serif;margin:0 auto;max-width:70rem;padding:1.5rem}
ol{list-style:none;margin:0;padding:0}ol ol{margin-left:1.4rem;border-left:2px solid var(--card);padding-left:.6rem}
summary{display:grid;grid-template-columns:1.4rem calc(15rem - var(--depth)*2.125rem) 5rem minmax(6rem,1fr) minmax(0,1.4fr);gap:.6rem;align-items:center;cursor:pointer;padding:.3rem}
summary:hover,.track,pre{background:var(--card)}p,dt,.time,.note{color:var(--soft)}
.success{color:var(--good)}.failure,.critical,a{color:var(--bad)}.cancelled,.interrupted,.waiting{color:var(--warn)}.running{color:var(--wait)}
.mark,.name{font-weight:600;overflow-wrap:anywhere}.note{white-space:nowrap;overflow:hidden;text-overflow:ellipsis}
.track{position:relative;height:.7rem}.bar{position:absolute;top:0;bottom:0;background:currentcolor}
dl{display:grid;grid-template-columns:7rem 1fr;margin:.3rem 2.4rem}dd{margin:0}dd,pre{white-space:pre-wrap;overflow-wrap:anywhere}
pre{margin:.3rem 0 .8rem 2.4rem;padding:.7rem;display:flex;flex-direction:column-reverse;overflow:auto;max-height:28rem}
@media(max-width:46rem){summary{grid-template-columns:1.4rem 1fr 5rem}.track,.note{grid-column:2/-1;white-space:normal}dl,pre{margin-left:0}}
`
