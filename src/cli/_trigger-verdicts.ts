import { safeLine, safeText } from '../base/index.ts'
import type { CheckedSkill, TriggerCheck, TriggerFix } from '../trigger/index.ts'
import { amount, cell } from '../base/text.ts'

/** A skill whose triggers were checked, and what was mended. */
export interface CheckedFile {
  skill: CheckedSkill
  check: TriggerCheck
  changes: TriggerFix['changes'] | undefined
  diff: string | undefined
}

/** The lines of the reference's validate-triggers; a heading each where several skills are checked. */
export function checkLines(files: readonly CheckedFile[]): string[] {
  const lines = files.flatMap(({ check, changes, diff }) => [
    ...(files.length > 1 ? [safeLine(`${check.skill}: ${check.path}`)] : []),
    ...(diff === undefined || diff === '' ? [] : [safeText(diff)]),
    ...(changes ?? []).map(({ line, from, to }) =>
      safeLine(`FIXED line ${line}: ${from} => ${to}`),
    ),
    ...check.triggers.flatMap(({ match, inject, risk, problems }) => [
      safeLine(
        `${risk === undefined && problems.length === 0 ? 'OK' : 'FAIL'} ${match} -> ${inject}`,
      ),
      ...(risk === undefined
        ? []
        : [
            'Pattern matches the skill body - will fire on every invocation',
            `First match: ${risk.bodyLine}:${cell(risk.text, 100)}`,
          ]),
      ...problems.map((problem) => safeLine(problem)),
    ]),
  ])
  const triggers = files.flatMap(({ check }) => check.triggers)
  const risks = triggers.filter(({ risk }) => risk !== undefined).length
  const broken = triggers.filter(({ problems }) => problems.length > 0).length
  const summary = `${amount(triggers.length, 'trigger')} checked, ${risks} false-positive risk(s)`
  return [...lines, broken === 0 ? summary : `${summary}, ${broken} with errors`]
}
