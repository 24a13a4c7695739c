import type { Diagnostic } from '../base/index.ts'
import type { TriggerDeclaration } from '../skill/index.ts'
import { promptText } from './prompt-text.ts'
import type { CheckedSkill } from './checked-skill.ts'
import { firstMatch } from './match.ts'
import { triggerSource } from './pattern-diagnostic.ts'
import { compilePattern } from './pattern.ts'

/** Where a pattern first matches the body: its line, counted from the body's first, and the text. */
export interface BodyRisk {
  bodyLine: number
  text: string
}

export interface FoundRisk {
  trigger: TriggerDeclaration
  risk: BodyRisk
  diagnostic: Diagnostic
}

/**
 * Triggers that match the skill's own body. Some platforms give a hook the prompt with the body in
 * it, and there such a trigger fires on every invocation.
 */
export function findBodyRisks(skill: CheckedSkill): FoundRisk[] {
  const body = promptText(skill.body)
  return skill.triggers.flatMap((trigger): FoundRisk[] => {
    const reading = compilePattern(trigger.match)
    const place = reading.ok ? firstMatch(reading.pattern, body) : undefined
    if (place === undefined) return []
    const risk = { bodyLine: place.promptLine, text: body.lines[place.promptLine - 1] ?? '' }
    const diagnostic: Diagnostic = {
      code: 'trigger-matches-body',
      severity: 'error',
      message: `The pattern \`${trigger.match}\` matches the skill's own body, in its line ${risk.bodyLine}.`,
      path: skill.path,
      line: trigger.line,
      hint: `Begin it with what the user types, such as \`^/${skill.name} \`; references for later belong into the body.`,
      source: triggerSource,
    }
    return [{ trigger, risk, diagnostic }]
  })
}
