import type { Diagnostic } from '../base/index.ts'
import type { TriggerDeclaration } from '../skill/index.ts'
import type { CheckedSkill } from './checked-skill.ts'
import { columnOf, patternDiagnostic, triggerSource } from './pattern-diagnostic.ts'
import { compilePattern } from './pattern.ts'
import { portableRewrite } from './rewrite-pattern.ts'

/** Words of what happens while a skill runs: no user types them to call it. */
const midExecution =
  /\b(?:errors?|errored|fail(?:ed|s|ure|ures|ing)?|blocked|exception|crash(?:ed|es)?|timeout|timed out|retry|retries|stuck|abort(?:ed)?)\b/i

/** Patterns that are not accepted, that others read differently, and that wait for the wrong moment. */
export function checkPatterns(skill: CheckedSkill, lines: readonly string[]): Diagnostic[] {
  return skill.triggers.flatMap((trigger) => {
    const lineText = lines[trigger.line - 1]
    const reading = compilePattern(trigger.match)
    if (!reading.ok) return [patternDiagnostic(skill.path, trigger, reading.problem, lineText)]
    return [...portability(skill, trigger, lineText), ...moment(skill, trigger)]
  })
}

function portability(
  skill: CheckedSkill,
  trigger: TriggerDeclaration,
  lineText: string | undefined,
): Diagnostic[] {
  const reading = compilePattern(trigger.match)
  if (!reading.ok) return []
  const rewrite = portableRewrite(trigger.match)
  const whole = rewrite === undefined ? undefined : `Write \`${rewrite}\`; \`--fix\` does it.`
  return reading.pattern.notes.map((note) => ({
    code: 'trigger-pattern-not-portable',
    severity: 'warning',
    message: `\`${note.text}\` is read differently by ${note.engines.join(' and ')}: ${note.message}.`,
    path: skill.path,
    line: trigger.line,
    column: columnOf(trigger.match, note.start, lineText),
    hint: whole ?? hintFor(note.construct),
    source: triggerSource,
  }))
}

function hintFor(construct: string): string {
  if (construct === 'perl-class' || construct === 'posix-class') {
    return 'Write the characters in brackets; for a blank, a blank.'
  }
  return 'It has no portable spelling; Skillrail reads it as RE2 does.'
}

function moment(skill: CheckedSkill, trigger: TriggerDeclaration): Diagnostic[] {
  const word = trigger.match.startsWith('^') ? null : midExecution.exec(trigger.match)
  if (word === null) return []
  return [
    {
      code: 'trigger-mid-execution',
      severity: 'warning',
      message: `The pattern \`${trigger.match}\` waits for \`${word[0]}\`, which happens while the skill runs; triggers see only what the user types.`,
      path: skill.path,
      line: trigger.line,
      hint: 'Tell the model in the body when to read this reference.',
      source: triggerSource,
    },
  ]
}
