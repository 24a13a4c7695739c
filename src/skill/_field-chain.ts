import { nearest } from '../base/index.ts'
import {
  type FieldContext,
  readBoolean,
  readChoice,
  readInteger,
  readWords,
  staysInside,
} from './_field-values.ts'
import { type FieldDefinition, fieldTable, metadataFields } from './field-table.ts'
import type { ChainDeclaration, ChainPolicy, EarlyExit, RetryUntil } from './model.ts'
import type { YamlMap, YamlNode } from './read-yaml.ts'

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
    const message = `\`${key.text}\` is no policy of a chain and has no effect.`
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
      `\`gates\` names \`${text}\`, which is no step of this chain.`,
      meant === undefined ? 'Name a step of `chain`.' : `Did you mean \`${meant}\`?`,
    )
  }
  return words.map((word) => word.text)
}
