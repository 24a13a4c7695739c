import type { Severity } from '../base/index.ts'

/** What a code of the trigger checks says, for reports that describe their rules. */
export interface TriggerRule {
  code: string
  severity: Severity
  sentence: string
}

/** Every code that checking, exporting and trying triggers can give. */
export const triggerRules: readonly TriggerRule[] = [
  error('pattern-invalid', 'A pattern is a valid regular expression.'),
  error('pattern-too-large', 'A pattern compiles to a program of bounded size.'),
  error('pattern-too-long', 'A pattern has a bounded number of characters.'),
  error('pattern-unsupported', 'A pattern has only what can be tested in linear time.'),
  error('prompt-case-invalid', 'A file of prompts has a prompt and what it injects in each case.'),
  error('trigger-markers', 'The markers of a generated part of a file come in pairs.'),
  error('trigger-matches-body', 'A pattern does not match the body of its own skill.'),
  error('trigger-target-binary', 'A reference that a trigger injects is text.'),
  error('trigger-target-missing', 'A reference that a trigger injects exists.'),
  error('trigger-target-outside', 'A reference that a trigger injects lies inside its skill.'),
  error('trigger-target-too-large', 'A reference that a trigger injects has a bounded size.'),
  error('trigger-target-unusable', 'A reference that a trigger injects can be read.'),
  warning('trigger-duplicate', 'A pattern stands once in a skill for one reference.'),
  warning('trigger-mid-execution', 'A pattern waits for a prompt, not for what a run brings.'),
  warning('trigger-pattern-not-portable', 'A pattern means the same in every engine.'),
  warning('trigger-unreachable', 'A trigger can fire where an earlier one does not.'),
  info('trigger-format', 'Triggers stand in the format that simple readers see.'),
  info('trigger-overlap', 'One prompt fires triggers of several skills.'),
  info('trigger-small-skill', 'A skill is large enough for triggers to save something.'),
]

function error(code: string, sentence: string): TriggerRule {
  return { code, severity: 'error', sentence }
}

function warning(code: string, sentence: string): TriggerRule {
  return { code, severity: 'warning', sentence }
}

function info(code: string, sentence: string): TriggerRule {
  return { code, severity: 'info', sentence }
}
