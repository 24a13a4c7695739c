import { safeLine, safeText } from '../../base/index.ts'
import { lastAttempt, type RunResult } from '../result.ts'
import { firstFailed, statusMarks, stepDuration } from '../timeline.ts'
import { reportRows, stepLabel } from './_rows.ts'

/** Markdown for the summary of a job in GitHub Actions. */
export function githubReport(result: RunResult): string {
  const several = result.attempts.length > 1
  const rows = reportRows(result).map(({ step, depth, attempt }) => {
    const name = `${'&nbsp;&nbsp;'.repeat(depth)}${cell(stepLabel(step))}${several ? ` (attempt ${attempt})` : ''}`
    const time = stepDuration(step)
    return `| ${statusMarks[step.status].mark} ${step.status} | ${name} | ${time} | ${cell(step.reason ?? step.result)} |`
  })
  const lines = [
    `## ${cell(result.skill)}: ${result.status}`,
    '',
    '| | step | time | result |',
    '|---|---|---|---|',
    ...rows,
    '',
    ...(lastAttempt(result)?.errors ?? []).flatMap((error) => [
      cell(`${error.code}: ${error.message}`),
      '',
    ]),
    ...failure(result),
    `Run \`${result.runId}\``,
    '',
  ]
  return lines.join('\n')
}

function failure(result: RunResult): string[] {
  const failed = firstFailed(result)
  if (failed === undefined) return []
  const log = safeText(failed.log ?? failed.result)
    .split('\n')
    .slice(-30)
  return [
    `Failed first: **${cell(failed.step)}**`,
    '',
    // Indented code cannot be ended by what a step printed, as a fence could.
    ...log.map((line) => `    ${line}`),
    '',
  ]
}

/** A cell is one line, and nothing in it is markup. */
function cell(text: string): string {
  return safeLine(text)
    .slice(0, 300)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replace(/[\\`*_[\]|!#~@]/g, (character) => `&#${character.charCodeAt(0)};`)
}
