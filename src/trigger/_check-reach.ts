import type { Diagnostic } from '../base/index.ts'
import { implies } from './_implies.ts'
import type { CheckedSkill } from './checked-skill.ts'

/** Triggers that add nothing: another one injects the same file whenever they fire. */
export function checkReach(skill: CheckedSkill): Diagnostic[] {
  const { triggers, path } = skill
  return triggers.flatMap(({ match, inject, line }, index): Diagnostic[] => {
    const earlier = triggers.slice(0, index)
    const twin = earlier.find((other) => other.match === match && other.inject === inject)
    if (twin !== undefined) {
      const message = `The trigger \`${match}\` is the one of line ${twin.line} again.`
      return [
        {
          code: 'trigger-duplicate',
          severity: 'warning',
          message,
          path,
          line,
          hint: 'Remove one.',
        },
      ]
    }
    const wider = triggers.find(
      (other, place) =>
        place !== index &&
        other.inject === inject &&
        other.match !== match &&
        implies(match, other.match),
    )
    if (wider === undefined) return []
    const message = `The trigger \`${match}\` adds nothing: \`${wider.match}\` in line ${wider.line} injects the same file whenever it fires.`
    return [
      { code: 'trigger-unreachable', severity: 'warning', message, path, line, hint: 'Remove it.' },
    ]
  })
}
