import { messageOf } from '../core/errors.ts'
import { nearest } from '../core/text.ts'
import { type FieldDefinition, fieldTable, metadataFields } from './field-table.ts'
import {
  describe,
  type FieldContext,
  isNull,
  readBoolean,
  readChoice,
  readInteger,
  readText,
  readWords,
  staysInside,
} from './field-values.ts'
import type {
  ChainDeclaration,
  ChainPolicy,
  EarlyExit,
  JsonValue,
  RetryUntil,
  TriggerDeclaration,
} from './model.ts'
import { type YamlMap, type YamlNode, yamlToJson } from './read-yaml.ts'

/**
 * Triggers from a list of `{ match, inject }`, or from the string form: one trigger a line,
 * `PATTERN => FILE`, where the last ` => ` of the line separates. Broken entries are left out.
 */
export function readTriggers(context: FieldContext, node: YamlNode): TriggerDeclaration[] {
  if (node.kind === 'scalar') return isNull(node) ? [] : readLines(context, node)
  if (node.kind === 'map') {
    context.report(
      'field-type',
      node,
      '`triggers` is a map, and a list is required.',
      'Begin every trigger with `- match: …`, followed by `inject: …`.',
    )
    return []
  }
  return node.items.flatMap((item) => {
    const trigger = readEntry(context, item)
    return trigger === undefined ? [] : [trigger]
  })
}

function readEntry(context: FieldContext, item: YamlNode): TriggerDeclaration | undefined {
  if (item.kind !== 'map') {
    const hint = 'Write `- match: PATTERN` and below it `inject: FILE`.'
    context.report('trigger-form', item, `A trigger is ${describe(item)}, no map.`, hint)
    return undefined
  }
  warnOfOtherKeys(context, item)
  const match = readPart(context, item, 'match')
  const inject = readPart(context, item, 'inject')
  if (match === undefined || inject === undefined) return undefined
  return checked(context, item, { match, inject, line: item.line })
}

function warnOfOtherKeys(context: FieldContext, item: YamlMap): void {
  for (const { key } of item.entries) {
    if (key.text === 'match' || key.text === 'inject') continue
    const meant = nearest(key.text, ['match', 'inject'])
    const hint = meant === undefined ? undefined : `Did you mean \`${meant}\`?`
    context.report('trigger-unknown-key', key, `A trigger has no key \`${key.text}\`.`, hint)
  }
}

function readPart(context: FieldContext, item: YamlMap, name: string): string | undefined {
  const entry = item.entries.find(({ key }) => key.text === name)
  if (entry === undefined) {
    context.report('trigger-form', item, `A trigger has no \`${name}\`.`)
    return undefined
  }
  // Blanks at the ends of a quoted pattern are part of it.
  if (entry.value.kind === 'scalar' && entry.value.text !== '') return entry.value.text
  const text = readText(context, name, entry.value)
  if (entry.value.kind !== 'scalar') return undefined
  if (text === undefined || text === '') {
    context.report('trigger-form', entry.value, `The \`${name}\` of a trigger is empty.`)
    return undefined
  }
  return text
}

function readLines(
  context: FieldContext,
  node: YamlNode & { kind: 'scalar' },
): TriggerDeclaration[] {
  // The text of a literal block begins on the line after its `|`; of other styles lines are folded.
  const first = node.style === 'literal' ? node.line + 1 : node.line
  return node.text.split('\n').flatMap((written, index) => {
    if (written.trim() === '') return []
    const line = node.style === 'literal' ? first + index : first
    const at = { ...node, line }
    const separator = written.lastIndexOf(' => ')
    const match = written.slice(0, Math.max(separator, 0)).trim()
    const inject = written.slice(separator + 4).trim()
    if (separator < 0 || match === '' || inject === '') {
      const hint = 'Write `PATTERN => FILE`, one trigger a line.'
      context.report('trigger-form', at, `\`${written.trim()}\` is not a trigger.`, hint)
      return []
    }
    const trigger = checked(context, at, { match, inject, line })
    return trigger === undefined ? [] : [trigger]
  })
}

function checked(
  context: FieldContext,
  at: YamlNode,
  trigger: TriggerDeclaration,
): TriggerDeclaration | undefined {
  if (staysInside(trigger.inject)) return trigger
  context.report(
    'path-outside',
    at,
    `A trigger injects \`${trigger.inject}\`, which is not a relative path inside the skill.`,
    'Only files of the skill itself are injected; write the path from its directory.',
  )
  return undefined
}

/** What holds where a chain says nothing. */
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

/** The key in a `SKILL.md` of each policy field. */
export const policyKeys: Readonly<Record<keyof ChainPolicy, string>> = {
  async: 'async',
  continueOnError: 'continue_on_error',
  timeout: 'timeout',
  maxDepth: 'max_depth',
  parallelLimit: 'parallel_limit',
  validateOnLoad: 'validate_on_load',
  cleanupAfter: 'cleanup_after',
  earlyExitOn: 'early_exit_on',
  continueOnSuccess: 'continue_on_success',
  passState: 'pass_state',
  retryCount: 'retry_count',
  retryUntil: 'retry_until',
  raceMode: 'race_mode',
}

/** Keys that mean something beside a chain only; elsewhere they are the author's own metadata. */
export const besideChain: ReadonlySet<string> = new Set([...Object.values(policyKeys), 'gates'])

/** The chain below `metadata`, with its policy and gates. A broken policy value keeps its default. */
export function readChain(context: FieldContext, metadata: YamlMap): ChainDeclaration | undefined {
  const entry = metadata.entries.find(({ key }) => key.text === 'chain')
  if (entry === undefined) return undefined
  const words = readWords(context, 'chain', entry.value)
  if (words === undefined) return undefined
  if (words.length === 0) {
    const hint = 'Name the skills in the order in which they run, or remove `chain`.'
    context.report('chain-empty', entry.value, '`chain` names no skill.', hint)
  }
  for (const word of words) checkStep(context, word.text, word.node)
  warnOfMisspeltKeys(context, metadata)
  const steps = words.map(({ text, node }) => ({ name: text, line: node.line }))
  return {
    steps,
    policy: readPolicy(context, metadata),
    gates: readGates(context, metadata, new Set(steps.map((step) => step.name))),
    line: entry.key.line,
  }
}

/** The step stays in the chain, so that a planner refuses the chain and never runs a shorter one. */
function checkStep(context: FieldContext, name: string, node: YamlNode): void {
  const names = name.split('/')
  if (staysInside(name) && names.every((part) => part !== '' && part !== '.')) return
  context.report(
    'chain-step-name',
    node,
    `The chain names \`${name}\`, which does not lie below the parent of this skill.`,
    'Name a skill beside or below this one: `test-unit`, or `e2e/smoke`.',
  )
}

function warnOfMisspeltKeys(context: FieldContext, metadata: YamlMap): void {
  for (const { key } of metadata.entries) {
    if (metadataFields.has(key.text)) continue
    const meant = nearest(snakeCase(key.text), besideChain)
    if (meant === undefined) continue
    const message = `\`${key.text}\` is not a policy of a chain and has no effect.`
    context.report('chain-unknown-key', key, message, `Did you mean \`${meant}\`?`)
  }
}

function snakeCase(key: string): string {
  return key
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .replaceAll('-', '_')
    .toLowerCase()
}

function readPolicy(context: FieldContext, metadata: YamlMap): ChainPolicy {
  const nodes = new Map(metadata.entries.map(({ key, value }) => [key.text, value]))
  const definitions = new Map(fieldTable.map((field) => [field.name, field]))
  const flag = (name: FlagName): boolean => {
    const node = nodes.get(policyKeys[name])
    const value = node === undefined ? undefined : readBoolean(context, policyKeys[name], node)
    return value ?? defaultChainPolicy[name]
  }
  const integer = (name: IntegerName): number => {
    const node = nodes.get(policyKeys[name])
    const minimum = definitions.get(policyKeys[name])?.minimum ?? 0
    const value =
      node === undefined ? undefined : readInteger(context, policyKeys[name], node, minimum)
    return value ?? defaultChainPolicy[name]
  }
  const choice = (name: ChoiceName): string => {
    const node = nodes.get(policyKeys[name])
    const definition: FieldDefinition | undefined = definitions.get(policyKeys[name])
    if (node === undefined || definition === undefined) return defaultChainPolicy[name]
    return readChoice(context, definition, node) ?? defaultChainPolicy[name]
  }
  return {
    async: flag('async'),
    continueOnError: flag('continueOnError'),
    timeout: integer('timeout'),
    maxDepth: integer('maxDepth'),
    parallelLimit: integer('parallelLimit'),
    validateOnLoad: flag('validateOnLoad'),
    cleanupAfter: flag('cleanupAfter'),
    earlyExitOn: asEarlyExit(choice('earlyExitOn')),
    continueOnSuccess: flag('continueOnSuccess'),
    passState: flag('passState'),
    retryCount: integer('retryCount'),
    retryUntil: asRetryUntil(choice('retryUntil')),
    raceMode: flag('raceMode'),
  }
}

type IntegerName = 'timeout' | 'maxDepth' | 'parallelLimit' | 'retryCount'
type ChoiceName = 'earlyExitOn' | 'retryUntil'
type FlagName = Exclude<keyof ChainPolicy, IntegerName | ChoiceName>

function asEarlyExit(word: string): EarlyExit {
  return word === 'failure' || word === 'success' || word === 'critical' ? word : 'none'
}

function asRetryUntil(word: string): RetryUntil {
  return word === 'stable' || word === 'success' ? word : 'none'
}

function readGates(
  context: FieldContext,
  metadata: YamlMap,
  steps: ReadonlySet<string>,
): readonly string[] {
  const entry = metadata.entries.find(({ key }) => key.text === 'gates')
  const words = entry === undefined ? [] : (readWords(context, 'gates', entry.value) ?? [])
  for (const { text, node } of words) {
    if (steps.has(text)) continue
    const meant = nearest(text, steps)
    context.report(
      'chain-gate-unknown',
      node,
      `\`gates\` names \`${text}\`, which is not a step of this chain.`,
      meant === undefined ? 'Name a step of `chain`.' : `Did you mean \`${meant}\`?`,
    )
  }
  return words.map((word) => word.text)
}

/** Hooks as a map, or as the same map in JSON text. What the map says is checked where it is used. */
export function readHooks(context: FieldContext, node: YamlNode): JsonValue | undefined {
  if (isNull(node)) return undefined
  if (node.kind === 'map') return yamlToJson(node)
  if (node.kind === 'list') {
    context.report('field-type', node, '`hooks` is a list, and a map by event is required.')
    return undefined
  }
  const parsed = parseJson(node.text)
  if (parsed.problem === undefined) return parsed.value
  const message = `\`hooks\` is ${describe(node)} that is not a JSON object: ${parsed.problem}.`
  context.report('field-type', node, message, 'Write a map by event, or the same as JSON text.')
  return undefined
}

type ParsedHooks =
  | { value: JsonValue; problem?: undefined }
  | { value?: undefined; problem: string }

function parseJson(text: string): ParsedHooks {
  try {
    const value: JsonValue = JSON.parse(text)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject ? { value } : { problem: 'it has another type' }
  } catch (error) {
    return { problem: messageOf(error) }
  }
}
