import type { Diagnostic } from '../base/index.ts'
import { promptText } from './prompt-text.ts'
import { sampleLine } from './_samples.ts'
import { firstMatch, type TriggerSkill } from './match.ts'
import { compilePattern } from './pattern.ts'

/**
 * Triggers of different skills that fire on one prompt, so that one prompt loads both. Found by
 * trying a short line that the one matches on the other: what is reported is true, and not
 * everything is found.
 */
export function checkOverlap(skills: readonly TriggerSkill[]): Diagnostic[] {
  const tried = skills.flatMap((skill) =>
    skill.triggers.flatMap((trigger) => {
      const reading = compilePattern(trigger.match)
      const sample = reading.ok ? sampleLine(trigger.match) : undefined
      if (!reading.ok || sample === undefined || sample.trim() === '') return []
      const text = promptText(sample)
      return firstMatch(reading.pattern, text) === undefined
        ? []
        : [{ skill, trigger, pattern: reading.pattern, sample, text }]
    }),
  )
  return tried.flatMap((one) =>
    tried.flatMap((other): Diagnostic[] => {
      if (one.skill === other.skill || firstMatch(other.pattern, one.text) === undefined) return []
      // Both ways round is one finding.
      const mutual = firstMatch(one.pattern, other.text) !== undefined
      if (mutual && tried.indexOf(one) > tried.indexOf(other)) return []
      return [
        {
          code: 'trigger-overlap',
          severity: 'info',
          message: `The prompt \`${one.sample}\` fires \`${one.trigger.match}\` and also \`${other.trigger.match}\` of ${other.skill.name}.`,
          path: one.skill.path,
          line: one.trigger.line,
          hint: 'Begin each pattern with the name of its skill, such as `^/name `.',
        },
      ]
    }),
  )
}
