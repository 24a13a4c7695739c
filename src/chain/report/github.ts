import { cutToColumns, safeLine, safeText } from '../../base/index.ts'
import { decidingAttempt, type ShownRun } from '../result.ts'
import { stepDuration } from '../step-time.ts'
import { firstFailed, saidOf, statusMarks } from '../timeline.ts'
import { reportRows, stepLabel } from './_rows.ts'

/** Markdown for the summary of a job in GitHub Actions. */
export function githubReport(result: ShownRun): string {
  const several = result.attempts.length > 1
  const rows = reportRows(result).map(({ step, depth, attempt }) => {
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
  const log = safeText(failed.log ?? failed.result)
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
