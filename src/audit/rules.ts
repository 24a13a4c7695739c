import type { Severity } from '../base/index.ts'
import { capabilityRules } from './_rules-capability.ts'
import { secretRules } from './_rules-secret.ts'
import { structureRules } from './_rules-structure.ts'
import type { AuditKind } from './model.ts'

/** One code of `audit`: how grave it is, what the rule says, where the rule comes from. */
export interface AuditRule {
  code: AuditCode
  kind: AuditKind
  severity: Severity
  sentence: string
  source: string
}

export type AuditCode =
  | keyof typeof structureRules
  | keyof typeof capabilityRules
  | keyof typeof secretRules

/** Every code that an audit can give. The documentation is made from it. */
export const auditRules: readonly AuditRule[] = [
  ...rulesOf('structure', structureRules),
  ...rulesOf('capability', capabilityRules),
  ...rulesOf('secret', secretRules),
]

function rulesOf<Code extends AuditCode>(
  kind: AuditKind,
  table: Readonly<Record<Code, Omit<AuditRule, 'code' | 'kind'>>>,
): AuditRule[] {
  const codes = Object.keys(table).filter((code): code is Code => code in table)
  return codes.map((code) => ({ code, kind, ...table[code] }))
}

/** The rule of a code. */
export const auditRule: (code: AuditCode) => AuditRule = (() => {
  const byCode = new Map(auditRules.map((rule) => [rule.code, rule]))
  return (code) => {
    const rule = byCode.get(code)
    if (rule === undefined) throw new TypeError(`no audit rule is called ${code}`)
    return rule
  }
})()
