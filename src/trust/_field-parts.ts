import { sha256 } from '../base/index.ts'
import type { SkillFields } from '../skill/index.ts'
import type { ActingKind, ActingPart } from './model.ts'

type FieldPart = Omit<ActingPart, 'owner'>

/** The fields of a skill that start or allow something, each as one part with its value as text. */
export function fieldParts(document: string, fields: SkillFields): FieldPart[] {
  return actingFields.flatMap(({ kind, value }) => {
    const found = value(fields)
    if (found === undefined) return []
    const text = `${JSON.stringify(found, undefined, 2)}\n`
    return [{ path: document, kind, digest: sha256(text), size: 0, text }]
  })
}

/** `undefined` where the skill has none. A chain decides which scripts run and where it waits. */
const actingFields: readonly { kind: ActingKind; value: (fields: SkillFields) => unknown }[] = [
  // Without its sandbox a script can do more.
  { kind: 'run', value: ({ run, sandbox }) => (sandbox === true ? { run, sandbox } : run) },
  { kind: 'hooks', value: (fields) => fields.hooks },
  { kind: 'allowed-tools', value: (fields) => fields.allowedTools },
  {
    kind: 'chain',
    value: ({ chain }) =>
      chain && {
        steps: chain.steps.map((step) => step.name),
        gates: chain.gates,
        policy: chain.policy,
      },
  },
  {
    kind: 'fork',
    value: ({ context, agent }) => (context === 'fork' ? { context, agent } : undefined),
  },
]
