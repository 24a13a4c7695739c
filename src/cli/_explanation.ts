import { safeLine } from '../base/index.ts'
import type { SkillExplanation, TriggerVerdict } from '../trigger/index.ts'
import { count } from '../base/text.ts'
import type { Output } from './output.ts'

/** One paragraph a skill: what fired, on what, what it costs; near misses with their reason. */
export function explanationLines(
  explanation: readonly SkillExplanation[],
  style: Output['style'],
): string[] {
  return explanation.flatMap(({ skill, verdicts }) => {
    if (verdicts.length === 0) return [`${style('bold', safeLine(skill))}: no triggers`]
    const heading = style('bold', safeLine(skill))
    return [heading, ...verdicts.map((verdict) => `  ${verdictLine(verdict, style)}`)]
  })
}

function verdictLine(verdict: TriggerVerdict, style: Output['style']): string {
  const { match, inject, line } = verdict.trigger
  const trigger = safeLine(`${match} -> ${inject} (line ${line})`)
  switch (verdict.outcome) {
    case 'fired': {
      const where = `line ${verdict.promptLine} of the prompt`
      const cost =
        verdict.tokens === undefined
          ? `injects nothing: ${safeLine(verdict.problem ?? '')}`
          : `${count(verdict.tokens)} tokens`
      const text = safeLine(verdict.text.slice(0, 200))
      return `${style('green', 'fired')}   ${trigger}: on \`${text}\` in ${where}; ${cost}`
    }
    case 'near-miss':
      return `${style('yellow', 'missed')}  ${trigger}: ${safeLine(verdict.miss.reason)}`
    case 'invalid':
      return `${style('red', 'invalid')} ${trigger}: ${safeLine(verdict.reason)}`
    case 'no-match':
      return `${style('dim', '-')}       ${trigger}`
  }
}
