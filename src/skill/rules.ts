import type { Severity } from '../base/index.ts'
import { formatRules } from './_rules-format.ts'
import { fieldRules } from './_rules-fields.ts'

/** One code of `validate`: how grave it is, what the rule says, where the rule comes from. */
export interface RuleDefinition {
  code: string
  severity: Severity
  sentence: string
  source: string
}

/** Every code that reading and validating a skill can give. The documentation is made from it. */
export const validationRules: readonly RuleDefinition[] = [
  ...definitions(formatRules),
  ...definitions(fieldRules),
]

function definitions(rules: Readonly<Record<string, Omit<RuleDefinition, 'code'>>>) {
  return Object.entries(rules).map(([code, facts]) => ({ code, ...facts }))
}
