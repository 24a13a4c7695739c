import type { Diagnostic } from '../core/diagnostic.ts'
import { messageOf } from '../core/errors.ts'
import { isObject } from '../core/json.ts'
import { earlyExits, metadataFields, retryEnds, topFields } from './field-table.ts'
import { describe, didYouMean, FieldReader, isNull, staysInside } from './field-values.ts'
import type { ChainDeclaration, ChainPolicy, JsonValue, TriggerDeclaration } from './model.ts'
import { type YamlMap, type YamlNode, type YamlScalar, yamlToJson } from './read-yaml.ts'

/** Triggers from a list of `{ match, inject }`, or from lines of `PATTERN => FILE`. */
export function readTriggers(
  reader: FieldReader,
  node: YamlNode | undefined,
): TriggerDeclaration[] {
  if (node === undefined || isNull(node)) return []
  if (node.kind === 'scalar') return readLines(reader, node)
  if (node.kind === 'list') return node.items.flatMap((item) => readEntry(reader, item) ?? [])
  const hint = 'Begin every trigger with `- match: …`, followed by `inject: …`.'
  reader.report('field-type', node, '`triggers` is a map, and a list is required.', hint)
  return []
}

function readEntry(reader: FieldReader, item: YamlNode): TriggerDeclaration | undefined {
  if (item.kind !== 'map') {
    const hint = 'Write `- match: PATTERN` and below it `inject: FILE`.'
    return reader.report('trigger-form', item, `A trigger is ${describe(item)}, no map.`, hint)
  }
  for (const { key } of item.entries) {
    if (key.text === 'match' || key.text === 'inject') continue
    const hint = didYouMean(key.text, ['match', 'inject'])
    reader.report('trigger-unknown-key', key, `A trigger has no key \`${key.text}\`.`, hint)
  }
  const match = readPart(reader, item, 'match')
  const inject = readPart(reader, item, 'inject')
  if (match === undefined || inject === undefined) return undefined
  return checked(reader, item, { match, inject, line: item.line })
}

function readPart(reader: FieldReader, item: YamlMap, name: string): string | undefined {
  const value = item.entries.find(({ key }) => key.text === name)?.value
  if (value === undefined) {
    return reader.report('trigger-form', item, `A trigger has no \`${name}\`.`)
  }
  if (value.kind !== 'scalar') return reader.text(name, value)
  // Blanks at the ends of a quoted pattern are part of it.
  if (value.text !== '') return value.text
  return reader.report('trigger-form', value, `The \`${name}\` of a trigger is empty.`)
}

function readLines(reader: FieldReader, node: YamlScalar): TriggerDeclaration[] {
  const isLiteral = node.style === 'literal'
  return node.text.split('\n').flatMap((written, index) => {
    if (written.trim() === '') return []
    // The text of a literal block begins on the line after its `|`; of other styles lines are folded.
    const line = isLiteral ? node.line + 1 + index : node.line
    const at = { ...node, line }
    const separator = written.lastIndexOf(' => ')
    const match = written.slice(0, Math.max(separator, 0)).trim()
    const inject = written.slice(separator + 4).trim()
    if (separator >= 0 && match !== '' && inject !== '') {
      return checked(reader, at, { match, inject, line }) ?? []
    }
    const hint = 'Write `PATTERN => FILE`, one trigger a line.'
    reader.report('trigger-form', at, `\`${written.trim()}\` is not a trigger.`, hint)
    return []
  })
}

function checked(reader: FieldReader, at: YamlNode, trigger: TriggerDeclaration) {
  if (staysInside(trigger.inject)) return trigger
  const message = `A trigger injects \`${trigger.inject}\`, which is not a relative path inside the skill.`
  const hint = 'Only files of the skill itself are injected; write the path from its directory.'
  return reader.report('path-outside', at, message, hint)
}

export const defaultChainPolicy: Readonly<ChainPolicy> = {
  async: false,
  continueOnError: true,
  timeout: 0,
  maxDepth: 10,
  parallelLimit: 5,
  validateOnLoad: true,
  cleanupAfter: false,
  earlyExitOn: 'none',
  continueOnSuccess: false,
  passState: true,
  retryCount: 1,
  retryUntil: 'none',
  raceMode: false,
}

/** The key in a `SKILL.md` of a policy field: `continue_on_error` for `continueOnError`. */
export function policyKey(field: string): string {
  return field
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .replaceAll('-', '_')
    .toLowerCase()
}

/** Keys that mean something beside a chain only; elsewhere they are the author's own metadata. */
export const besideChain: ReadonlySet<string> = new Set([
  ...Object.keys(defaultChainPolicy).map(policyKey),
  'gates',
])

export function misplacedPolicy(frontmatter: YamlMap, path: string): Diagnostic[] {
  const diagnostics: Diagnostic[] = []
  const reader = new FieldReader(path, diagnostics)
  for (const { key } of frontmatter.entries) {
    if (besideChain.has(key.text)) reportUnknown(reader, key)
  }
  return diagnostics
}

export function reportUnknown(reader: FieldReader, key: YamlScalar): void {
  const name = key.text
  const meant = metadataFields.has(name) ? undefined : didYouMean(name, topFields.keys())
  const message = `\`${name}\` is not a field of the specification, of Skillrail or of a known client.`
  const hint = besideChain.has(name)
    ? 'Indent it, with its chain, below `metadata:`.'
    : (meant ?? 'Move it below `metadata:`, where clients keep their own.')
  reader.report('unknown-field', key, message, hint)
}

export function readChain(reader: FieldReader, metadata: YamlMap): ChainDeclaration | undefined {
  const entry = metadata.entries.find(({ key }) => key.text === 'chain')
  const words = entry && reader.words('chain', entry.value)
  if (entry === undefined || words === undefined) return undefined
  if (words.length === 0) {
    const hint = 'Name the skills in the order in which they run, or remove `chain`.'
    reader.report('chain-empty', entry.value, '`chain` names no skill.', hint)
  }
  for (const { text, node } of words) checkStep(reader, text, node)
  warnOfMisspeltKeys(reader, metadata)
  const nodes = new Map(metadata.entries.map(({ key, value }) => [key.text, value]))
  return {
    steps: words.map(({ text, node }) => ({ name: text, line: node.line })),
    policy: readPolicy(reader, nodes),
    gates: readGates(reader, nodes.get('gates'), new Set(words.map(({ text }) => text))),
    line: entry.key.line,
  }
}

/** The step stays in the chain, so that a planner refuses the chain and never runs a shorter one. */
function checkStep(reader: FieldReader, name: string, node: YamlNode): void {
  const names = name.split('/')
  if (staysInside(name) && names.every((part) => part !== '' && part !== '.')) return
  const message = `The chain names \`${name}\`, which does not lie below the parent of this skill.`
  const hint = 'Name a skill beside or below this one: `test-unit`, or `e2e/smoke`.'
  reader.report('chain-step-name', node, message, hint)
}

function warnOfMisspeltKeys(reader: FieldReader, metadata: YamlMap): void {
  for (const { key } of metadata.entries) {
    if (metadataFields.has(key.text)) continue
    const hint = didYouMean(policyKey(key.text), besideChain)
    if (hint === undefined) continue
    const message = `\`${key.text}\` is not a policy of a chain and has no effect.`
    reader.report('chain-unknown-key', key, message, hint)
  }
}

function readPolicy(reader: FieldReader, nodes: ReadonlyMap<string, YamlNode>): ChainPolicy {
  const from = <T extends string | number | boolean>(
    field: keyof ChainPolicy,
    fallback: T,
    read: (key: string, node: YamlNode | undefined) => T | undefined,
  ): T => read(policyKey(field), nodes.get(policyKey(field))) ?? fallback
  const flag = (field: FieldOf<boolean>): boolean =>
    from(field, defaultChainPolicy[field], (key, node) => reader.boolean(key, node))
  const integer = (field: FieldOf<number>): number =>
    from(field, defaultChainPolicy[field], (key, node) =>
      reader.integer(key, node, metadataFields.get(key)?.minimum ?? 0),
    )
  const choice = <Word extends string>(field: FieldOf<Word>, choices: readonly [Word, ...Word[]]) =>
    from(field, choices[0], (key, node) => reader.choice(key, node, choices))
  return {
    async: flag('async'),
    continueOnError: flag('continueOnError'),
    timeout: integer('timeout'),
    maxDepth: integer('maxDepth'),
    parallelLimit: integer('parallelLimit'),
    validateOnLoad: flag('validateOnLoad'),
    cleanupAfter: flag('cleanupAfter'),
    earlyExitOn: choice('earlyExitOn', earlyExits),
    continueOnSuccess: flag('continueOnSuccess'),
    passState: flag('passState'),
    retryCount: integer('retryCount'),
    retryUntil: choice('retryUntil', retryEnds),
    raceMode: flag('raceMode'),
  }
}

type FieldOf<T> = {
  [Field in keyof ChainPolicy]: ChainPolicy[Field] extends T ? Field : never
}[keyof ChainPolicy]

function readGates(reader: FieldReader, node: YamlNode | undefined, steps: ReadonlySet<string>) {
  const words = reader.words('gates', node) ?? []
  for (const { text, node: at } of words) {
    if (steps.has(text)) continue
    const message = `\`gates\` names \`${text}\`, which is not a step of this chain.`
    const hint = didYouMean(text, steps) ?? 'Name a step of `chain`.'
    reader.report('chain-gate-unknown', at, message, hint)
  }
  return words.map(({ text }) => text)
}

/** Hooks as a map, or as the same map in JSON text. What the map says is checked where it is used. */
export function readHooks(reader: FieldReader, node: YamlNode | undefined): JsonValue | undefined {
  if (node === undefined || isNull(node)) return undefined
  if (node.kind === 'map') return yamlToJson(node)
  if (node.kind === 'list') {
    const message = '`hooks` is a list, and a map by event is required.'
    return reader.report('field-type', node, message)
  }
  let problem = 'it has another type'
  try {
    const value: unknown = JSON.parse(node.text)
    if (isObject<JsonValue>(value)) return value
  } catch (error) {
    problem = messageOf(error)
  }
  const message = `\`hooks\` is ${describe(node)} that is not a JSON object: ${problem}.`
  const hint = 'Write a map by event, or the same as JSON text.'
  return reader.report('field-type', node, message, hint)
}
