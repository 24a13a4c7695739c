import { safeText } from '../../base/index.ts'
import type { AttemptResult, RunResult, StepResult } from '../result.ts'
import { duration, statusMarks } from '../timeline.ts'
import { stepLabel } from './_rows.ts'
import { htmlStyle } from './_html-style.ts'

/** One file: tree, timeline, output of each step. No script and nothing loaded from elsewhere. */
export function htmlReport(result: RunResult): string {
  const title = `${result.skill}: ${result.status}`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escape(title)}</title>
<style>${htmlStyle}</style>
</head>
<body>
<header>
<h1>${escape(result.skill)} <span class="status ${result.status}">${result.status}</span></h1>
<p>Run <code>${escape(result.runId)}</code>${result.winner === undefined ? '' : `, won by <b>${escape(result.winner)}</b>`}</p>
</header>
<main>
${result.attempts.map((attempt) => attemptSection(attempt, result.attempts.length)).join('\n')}
</main>
</body>
</html>
`
}

function attemptSection(attempt: AttemptResult, attempts: number): string {
  const span = spanOf(attempt.steps)
  const heading =
    attempts === 1
      ? ''
      : `<h2>Attempt ${attempt.attempt} <span class="status ${attempt.status}">${attempt.status}</span></h2>\n`
  return `<section>\n${heading}${stepList(attempt.steps, span)}\n</section>`
}

interface Span {
  start: number
  length: number
}

function stepList(steps: readonly StepResult[], span: Span): string {
  return `<ol>\n${steps.map((step) => stepItem(step, span)).join('\n')}\n</ol>`
}

function stepItem(step: StepResult, span: Span): string {
  const { mark } = statusMarks[step.status]
  const time = step.startedAt === null ? '' : duration(step.durationMs)
  const note = step.reason ?? step.result
  const open = step.status === 'failure' || step.status === 'critical' ? ' open' : ''
  const below = step.steps === undefined ? '' : `\n${stepList(step.steps, span)}`
  return `<li>
<details${open}>
<summary><span class="mark ${step.status}" title="${step.status}">${mark}</span><span class="name">${escape(stepLabel(step))}</span><span class="time">${time}</span><span class="track">${bar(step, span)}</span><span class="note">${escape(note.slice(0, 200))}</span></summary>
${details(step)}
</details>${below}
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
    ...Object.entries(step.metrics).map(([name, value]) => [name, JSON.stringify(value)]),
  ]
    .filter(([, value]) => value !== '')
    .map(([name = '', value = '']) => `<dt>${escape(name)}</dt><dd>${escape(value)}</dd>`)
  const errors = step.errors.map(
    (error) => `<li><code>${escape(error.code)}</code> ${escape(error.message)}</li>`,
  )
  const log = step.log === undefined ? '' : `<pre>${escape(step.log)}</pre>`
  const list = errors.length === 0 ? '' : `<ul class="errors">${errors.join('')}</ul>`
  return `<dl>${facts.join('')}</dl>${list}${log}`
}

function bar(step: StepResult, span: Span): string {
  if (step.startedAt === null) return ''
  const left = percent(Date.parse(step.startedAt) - span.start, span)
  const width = Math.min(100 - left, Math.max(0.4, percent(step.durationMs, span)))
  return `<span class="bar ${step.status}" style="left:${left.toFixed(2)}%;width:${width.toFixed(2)}%"></span>`
}

function percent(milliseconds: number, span: Span): number {
  return Math.min(100, Math.max(0, (milliseconds / span.length) * 100))
}

function spanOf(steps: readonly StepResult[]): Span {
  const ran = steps.flatMap((step) =>
    step.startedAt === null ? [] : [{ at: Date.parse(step.startedAt), ms: step.durationMs }],
  )
  const start = Math.min(...ran.map(({ at }) => at))
  return { start, length: Math.max(1, ...ran.map(({ at, ms }) => at + ms - start)) }
}

function escape(text: string): string {
  return safeText(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}
