/** What a field of a workflow file may hold. */
export type FieldKind =
  | 'text'
  | 'boolean'
  | 'step'
  | 'mode'
  | 'names'
  | 'name'
  | 'params'
  | 'triggers'
  | 'prerequisites'

export interface WorkflowField {
  kind: FieldKind
  required: boolean
}

type Fields = Readonly<Record<string, WorkflowField>>

/** A workflow as it stands in a file. `name` is that of the key, and stands inside templates only. */
export const definitionFields = {
  name: { kind: 'text', required: false },
  enabled: { kind: 'boolean', required: false },
  description: { kind: 'text', required: true },
  triggers: { kind: 'triggers', required: true },
  prerequisites: { kind: 'prerequisites', required: true },
  mode: { kind: 'mode', required: false },
  created_at: { kind: 'text', required: false },
} as const satisfies Fields

export const triggerFields = {
  category: { kind: 'text', required: false },
  tools: { kind: 'names', required: false },
  keywords: { kind: 'names', required: false },
} as const satisfies Fields

export const prerequisiteFields = {
  step: { kind: 'step', required: true },
  tool: { kind: 'text', required: true },
  description: { kind: 'text', required: true },
  required: { kind: 'boolean', required: false },
  params: { kind: 'params', required: false },
  output_as: { kind: 'name', required: false },
  scope: { kind: 'names', required: false },
  invalidated_by: { kind: 'names', required: false },
} as const satisfies Fields

/** What to write instead of a value of the wrong type. */
export const expected: Readonly<Record<FieldKind, string>> = {
  text: 'text that is not empty',
  boolean: 'true or false',
  step: 'a whole number from 1 to 1000',
  mode: 'enforce, warn or suggest',
  names: 'a list of texts',
  name: 'a name: a letter, then letters, digits, _ or -',
  params: 'an object',
  triggers: 'an object',
  prerequisites: 'a list of objects',
}

/** Keys that would reach into JavaScript objects. */
export const forbiddenKeys: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])

/** Names that mean something else in a reference. */
export const reservedOutputs: ReadonlySet<string> = new Set(['call', 'steps', 'sql'])
