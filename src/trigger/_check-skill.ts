import type { Diagnostic } from '../base/index.ts'
import { estimateTokens } from '../skill/index.ts'
import type { CheckedSkill } from './checked-skill.ts'
import { triggerSource } from './pattern-diagnostic.ts'
import { readPortableTriggers } from './portable-triggers.ts'
import type { TargetReader } from './read-target.ts'

/** Below this a skill is better loaded whole: see "Tiny skills" of the proposal. */
const smallSkill = 2000

/** Triggers that only a full YAML reader finds. */
export function checkFormat(skill: CheckedSkill): Diagnostic[] {
  if (skill.triggers.length === 0) return []
  const reading = readPortableTriggers(skill.text)
  if (reading.portable) return []
  return [
    {
      code: 'trigger-format',
      severity: 'info',
      message: `The triggers are not in the portable format, so that scripts/inject-context and simple readers do not see them: ${reading.reason}.`,
      path: skill.path,
      line: reading.line,
      source: triggerSource,
    },
  ]
}

/** A skill so small that triggers only cost. */
export function checkSize(skill: CheckedSkill, read: TargetReader): Diagnostic[] {
  const [first] = skill.triggers
  if (first === undefined) return []
  let tokens = estimateTokens(skill.body)
  for (const inject of new Set(skill.triggers.map((trigger) => trigger.inject))) {
    const target = read(skill.directory, inject)
    // The size of a skill with a missing file is not known.
    if (!target.ok) return []
    tokens += estimateTokens(target.text)
  }
  if (tokens >= smallSkill) return []
  return [
    {
      code: 'trigger-small-skill',
      severity: 'info',
      message: `The skill has ${tokens} tokens with all its references; below ${smallSkill} triggers cost more than they save.`,
      path: skill.path,
      line: first.line,
      hint: 'Put the references into the body.',
      source: triggerSource,
    },
  ]
}
