import { type Diagnostic, messageOf } from '#core/errors'
import { didYouMean } from '#core/text'
import { isBalanced, parseAllowedTools } from './allowed-tools.ts'
import { metadataFields, topFields } from './field-table.ts'
import { describe, FieldReader, isNull, staysInside } from './field-values.ts'
import type { ChainDeclaration, ChainPolicy, ChainStep } from './model.ts'
import { isObject, type JsonValue } from '#core/json'
import { toolProblems } from './step-tools.ts'
import { type YamlMap, type YamlNode, type YamlScalar, valuesOf, yamlToJson } from './read-yaml.ts'

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

/** Returns the key of a policy field in a `SKILL.md`: `continue_on_error` for `continueOnError`. */
export function policyKey(field: string): string {
  return field
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .replaceAll('-', '_')
    .toLowerCase()
}

/** Keys that have a meaning only next to a chain; elsewhere they are the author's metadata. */
export const besideChain: ReadonlySet<string> = new Set([
  ...Object.keys(defaultChainPolicy).map(policyKey),
  'gates',
  'guards',
  'require_verified',
])

export function misplacedPolicy(frontmatter: YamlMap, path: string): Diagnostic[] {
  const diagnostics: Diagnostic[] = []
  const reader = new FieldReader(path, diagnostics)
  const misplacedEntries = frontmatter.entries.filter(({ key }) => besideChain.has(key.text))
  for (const { key } of misplacedEntries) reportUnknown(reader, key)
  return diagnostics
}

export function reportUnknown(reader: FieldReader, key: YamlScalar): void {
  const name = key.text
  const suggestion = metadataFields.has(name) ? '' : didYouMean(name, topFields.keys())
  const message = `\`${name}\` is not a known field.`
  const hint = besideChain.has(name)
    ? 'Indent it, with its chain, below `metadata:`.'
    : suggestion || 'Move it below `metadata:`.'
  reader.report('unknown-field', key, message, hint)
}

/**
 * Reads a chain. An invalid policy value becomes its default, and an invalid step stays in the
 * chain.
 */
export function readChain(reader: FieldReader, metadata: YamlMap): ChainDeclaration | undefined {
  const entry = metadata.entries.find(({ key }) => key.text === 'chain')
  const steps = entry && readSteps(reader, entry.value)
  if (!entry || !steps) return undefined
  if (steps.length === 0) {
    const hint = 'Name skills in their order, or remove `chain`.'
    reader.report('chain-empty', entry.value, '`chain` does not name a skill.', hint)
  }
  checkKeys(reader, metadata)
  const nodes = valuesOf(metadata)
  const policy = readPolicy(reader, nodes)
  const names = new Set([...steps.map(({ name }) => name), ...stepNames(steps)])
  const gates = readGates(reader, nodes.get('gates'), names)
  checkReworks(reader, entry.value, steps, gates)
  // An unreadable value restricts: the diagnostic is an error, and the chain does not start.
  const requireVerified = reader.boolean('require_verified', nodes.get('require_verified'))
  return {
    steps,
    policy,
    gates,
    ...readGuards(reader, nodes.get('guards')),
    ...(requireVerified === true ? { requireVerified } : {}),
    line: entry.key.line,
  }
}

const retrying = '`retry_count`, or `retry=N` after a step'
const approving = '`gates`, or `gate` after a step'
const ordering = 'the order of the steps'
/** Names that other engines use for keys and options of a chain. */
const otherNames: Readonly<Record<string, string>> = {
  approval: approving,
  human_gate: approving,
  parallel: '`async`, or `&` between steps',
  retries: retrying,
  retry: retrying,
  max_retries: retrying,
  on_error: '`continue_on_error`, or `allow-failure` after a step',
  step_timeout: '`timeout`, or `timeout=S` after a step',
  depends_on: ordering,
  needs: ordering,
  if: '`when=STEP.STATE` after a step',
}

const commonMetadata: ReadonlySet<string> = new Set(
  'author authors category created date description homepage keywords language license maintainer maintainers repository short-description source status tags title updated url version'.split(
    ' ',
  ),
)

function checkKeys(reader: FieldReader, metadata: YamlMap): void {
  for (const { key } of metadata.entries) {
    const name = policyKey(key.text)
    if (Object.hasOwn(otherNames, name)) {
      const message = `\`${key.text}\` is not a key of a chain.`
      reader.report('chain-control-key', key, message, `Say it with ${otherNames[name]}.`)
    } else if (!metadataFields.has(key.text) && !commonMetadata.has(key.text.toLowerCase())) {
      const message = `\`${key.text}\` is not a policy of a chain and has no effect.`
      reader.report('chain-unknown-key', key, message, didYouMean(name, besideChain))
    }
  }
}

function readPolicy(reader: FieldReader, nodes: ReadonlyMap<string, YamlNode>): ChainPolicy {
  const policy = Object.keys(defaultChainPolicy).flatMap((field) => {
    const key = policyKey(field)
    const { kind, minimum = 0, choices = [] } = metadataFields.get(key) ?? {}
    const node = nodes.get(key)
    let value: string | number | boolean | undefined
    if (kind === 'boolean') value = reader.boolean(key, node)
    else if (kind === 'integer') value = reader.integer(key, node, minimum)
    else value = reader.choice(key, node, choices)
    return value === undefined ? [] : [[field, value] as const]
  })
  return Object.assign({ ...defaultChainPolicy }, Object.fromEntries(policy))
}

function readGates(reader: FieldReader, node: YamlNode | undefined, steps: ReadonlySet<string>) {
  const words = reader.words('gates', node) ?? []
  for (const { text, node: at } of words) {
    if (steps.has(text)) continue
    const message = `\`gates\` names \`${text}\`, which is not a step of this chain.`
    reader.report('chain-gate-unknown', at, message, didYouMean(text, steps))
  }
  return words.map(({ text }) => text)
}

/** A misspelled value restricts too: a user who accepts the chain sees what it guards. */
function readGuards(reader: FieldReader, node: YamlNode | undefined): { guardsAlways?: true } {
  if (!node || isNull(node)) return {}
  reader.choice('guards', node, metadataFields.get('guards')?.choices ?? [])
  return { guardsAlways: true }
}

/** `1.10` and `010` are numbers to YAML, and their JSON is `1.1` and `10`. */
function reportChangedNumbers(reader: FieldReader, node: YamlNode): void {
  if (node.kind === 'map') {
    for (const { value } of node.entries) reportChangedNumbers(reader, value)
  } else if (node.kind === 'list') {
    for (const item of node.items) reportChangedNumbers(reader, item)
  } else if (typeof node.value === 'number' && String(node.value) !== node.text) {
    const message = `\`${node.text}\` in \`hooks\` is read as the number \`${node.value}\`.`
    reader.report('text-unquoted', node, message, `Quote it if it is text: \`"${node.text}"\`.`)
  }
}

/**
 * Reads hooks from a map, or from the same map as JSON text. The code that uses the map checks its
 * contents.
 */
export function readHooks(reader: FieldReader, node: YamlNode | undefined): JsonValue | undefined {
  if (!node || isNull(node)) return undefined
  if (node.kind === 'map') {
    reportChangedNumbers(reader, node)
    return yamlToJson(node)
  }
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
  return reader.report('field-type', node, message)
}

interface StepOption {
  /** The form of a valid value; follows the option's name in a message. */
  sentence: string
  /** Absent for an option that never has a value. */
  accepts?: (value: string) => boolean
  /** It may also be written without a value. */
  valueIsOptional?: true
}

/** The options of an agent's step that only an agent client enforces. */
const toolList = {
  accepts: (value: string) => parseAllowedTools(value).length > 0 && isBalanced(value),
  sentence: 'lists tools such as `Read Bash(git push:*) mcp__github__merge_*`',
}

/**
 * The options of a step: the form of each value, or that the option has no value. They are stored
 * in this order, whatever an author writes, because digests use a step's JSON text.
 */
const stepOptions = new Map<string, StepOption>([
  [
    'id',
    {
      accepts: matches(/^[\p{L}\p{N}_][\p{L}\p{N}._-]*$/u),
      sentence: 'is letters, digits, `.`, `-`, `_`',
    },
  ],
  [
    'retry',
    {
      accepts: matches(/^(?:[1-9]\d{0,2}|1000)$/),
      sentence: 'is a number of attempts from 1 to 1000',
    },
  ],
  ['backoff', { accepts: matches(/^\d{1,6}(?:\.\d{1,3})?$/), sentence: 'is a number of seconds' }],
  [
    'timeout',
    {
      accepts: matches(/^(?=[\d.]*[1-9])\d{1,6}(?:\.\d{1,3})?$/),
      sentence: 'is a number of seconds above 0',
    },
  ],
  [
    'gate',
    {
      valueIsOptional: true,
      accepts: matches(/^(?:attended|signed)$/),
      sentence: 'takes no value, or is `attended` or `signed`',
    },
  ],
  [
    'when',
    {
      accepts: matches(/^!?[^\s!].*\.(?:success|failure|skipped)$/),
      sentence: 'is STEP.STATE or !STEP.STATE, with the state success, failure or skipped',
    },
  ],
  ['allow-failure', { sentence: 'takes no value' }],
  ['always', { sentence: 'takes no value' }],
  ['args', { accepts: () => true, sentence: 'is the arguments of the step' }],
  ['check', { accepts: matches(/\S/), sentence: 'is a shell command' }],
  [
    'max-blocks',
    {
      accepts: matches(/^(?:\d{1,2}|100)$/),
      sentence: 'is a number of failed checks from 0 to 100',
    },
  ],
  ['tools', toolList],
  ['guard', toolList],
  ['rework', { accepts: matches(/^\S+$/), sentence: 'is the name of a step of an earlier line' }],
])

/**
 * Reads the steps of a chain: names in a text (the chaining proposal), or one step or group per
 * line of a literal block or a list, with options. An invalid step stays, so that no shorter chain
 * runs.
 */
function readSteps(reader: FieldReader, node: YamlNode): ChainStep[] | undefined {
  if (node.kind === 'scalar' && node.style !== 'literal') {
    const words = reader.words('chain', node) ?? []
    return words.map(({ text }) => checkedStep(reader, node, { name: text, line: node.line }))
  }
  if (node.kind === 'map') {
    const message = '`chain` is a map, and a list of steps is required.'
    return reader.report('field-type', node, message)
  }
  const lines =
    node.kind === 'list'
      ? node.items
      : node.text.split('\n').map((text, at) => ({ ...node, text, line: node.line + 1 + at }))
  const steps = lines.flatMap((line, at) => {
    const stepsOfLine =
      line.kind === 'scalar' ? readLine(reader, line) : readStepEntry(reader, line)
    if (stepsOfLine.length === 0 && node.kind === 'list' && line.kind === 'scalar') {
      reader.report('chain-step-form', line, 'An entry of `chain` is empty.')
    }
    const group = stepsOfLine.length > 1 ? { group: at + 1 } : {}
    return stepsOfLine.map((step) => checkedStep(reader, line, { ...step, ...group }))
  })
  checkNames(reader, node, steps)
  return steps.length === 0 && node.kind === 'list' && lines.length > 0 ? undefined : steps
}

/** Returns the name of each step in its chain: its `id`, or the last part of its skill's path. */
export function stepNames(steps: readonly Pick<ChainStep, 'name' | 'id'>[]): string[] {
  const counts = new Map<string, number>()
  return steps.map(({ name, id }) => {
    const label = id ?? name.slice(name.lastIndexOf('/') + 1)
    let count = (counts.get(label) ?? 0) + 1
    // A directory can have such a name itself.
    while (count > 1 && counts.has(`${label}#${count}`)) count++
    counts.set(label, count)
    if (count === 1) return label
    counts.set(`${label}#${count}`, 1)
    return `${label}#${count}`
  })
}

function checkedStep(reader: FieldReader, node: YamlNode, step: ChainStep): ChainStep {
  const { name, retry, backoff } = step
  const names = name.split('/')
  const at = { ...node, line: step.line }
  if (!staysInside(name) || names.some((part) => part === '' || part === '.')) {
    const message = `The chain names \`${name}\`, which is not beside or below this skill.`
    const hint = 'Write `test-unit`, or `e2e/smoke`.'
    reader.report('chain-step-name', at, message, hint)
  }
  if (backoff !== undefined && retry === undefined) {
    const message = `\`${name}\` has \`backoff\` without \`retry\`.`
    reader.report('chain-step-form', at, message)
  }
  for (const problem of toolProblems(step)) {
    reader.report(problem.code, at, `\`${name}\`: ${problem.message}`, problem.hint)
  }
  return step
}

function matches(form: RegExp): (value: string) => boolean {
  return (value) => form.test(value)
}

const word = /\s*(?:(?<=^|\s)#.*|(&)|((?:[^\s&"]|"(?:[^"\\]|\\.)*")+))/y

function readLine(reader: FieldReader, node: YamlScalar): ChainStep[] {
  const members: string[][] = [[]]
  const text = node.text.trimEnd()
  word.lastIndex = 0
  while (word.lastIndex < text.length) {
    const match = word.exec(text)
    if (match === null) {
      const hint = 'Quote the whole value; write `\\"` inside.'
      reader.report('chain-step-form', node, `\`${text.trim()}\` has an open quote.`, hint)
      break
    }
    const [, joint, one] = match
    if (joint !== undefined) members.push([])
    else if (one !== undefined) members.at(-1)?.push(one)
  }
  if (members.length === 1 && members[0]?.length === 0) return []
  return members.map(([name = '', ...words]) => {
    if (name === '' || name.includes('"') || stepOptions.has(/^(.*?)=/.exec(name)?.[1] ?? '')) {
      const hint = 'Write `unit retry=3`; join parallel steps with `&`.'
      reader.report('chain-step-form', node, `\`${text.trim()}\` does not name a skill.`, hint)
    }
    const options = words.map((one): [string, string | true] => {
      const at = one.indexOf('=')
      return at === -1 ? [one, true] : [one.slice(0, at), valueOf(reader, node, one.slice(at + 1))]
    })
    return stepOf(reader, node, name, options)
  })
}

function valueOf(reader: FieldReader, node: YamlNode, source: string): string {
  if (!source.includes('"')) return source
  const [, inner] = /^"((?:[^"\\]|\\.)*)"$/.exec(source) ?? []
  if (inner !== undefined) return inner.replaceAll(/\\(["\\])/g, '$1')
  reader.report('chain-step-form', node, `The value \`${source}\` is only partly in quotes.`)
  return source
}

/** `NAME: { option: value }` in a list. */
function readStepEntry(reader: FieldReader, node: YamlNode): ChainStep[] {
  const [entry, second] = node.kind === 'map' ? node.entries : []
  const { key, value } = entry ?? {}
  if (!key || second || value?.kind !== 'map') {
    const hint = 'Write `- unit retry=3`, or `- unit: { retry: 3 }`.'
    reader.report('chain-step-form', node, 'An entry of `chain` is not one step.', hint)
    return []
  }
  const options = value.entries.flatMap(({ key: name, value }): [string, string | true][] => {
    if (value.kind !== 'scalar') return [[name.text, '']]
    if (value.value === false) return []
    return [[name.text, value.value === true ? true : value.text.trim()]]
  })
  return [stepOf(reader, node, key.text, options)]
}

function stepOf(
  reader: FieldReader,
  node: YamlNode,
  name: string,
  entries: readonly (readonly [string, string | true])[],
): ChainStep {
  const options = new Map<string, string | true>()
  for (const [option, value] of entries) {
    const definition = stepOptions.get(option)
    const say = (message: string, hint?: string): undefined =>
      reader.report('chain-step-form', node, `\`${name}\`: ${message}`, hint)
    if (!definition) {
      const allowedOptions = `Allowed: ${[...stepOptions.keys()].join(', ')}, and \`&\` between steps.`
      const hint = didYouMean(option, stepOptions.keys()) || allowedOptions
      say(`\`${option}\` is not an option of a step.`, hint)
    } else if (options.has(option)) say(`\`${option}\` is given twice.`)
    else if (!acceptsValue(definition, value)) say(`\`${option}\` ${definition.sentence}.`)
    else options.set(option, value)
  }
  const stepOptionValues = [...stepOptions.keys()].flatMap(
    (option): [string, string | number | true][] => {
      const value = options.get(option)
      if (value === undefined) return []
      const key = option.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase())
      return [[key, numericOptions.has(option) ? Number(value) : value]]
    },
  )
  return Object.assign({ name, line: node.line }, Object.fromEntries(stepOptionValues))
}

const numericOptions: ReadonlySet<string> = new Set(['retry', 'backoff', 'timeout', 'max-blocks'])

function acceptsValue({ accepts, valueIsOptional }: StepOption, value: string | true): boolean {
  if (value === true) return accepts === undefined || valueIsOptional === true
  return accepts?.(value) === true
}

/** Checks `rework`: it needs a gate, and names a step on an earlier line of the same chain. */
function checkReworks(
  reader: FieldReader,
  node: YamlNode,
  steps: readonly ChainStep[],
  gates: readonly string[],
): void {
  const names = stepNames(steps)
  for (const [index, step] of steps.entries()) {
    const { name, gate, rework, line } = step
    if (rework === undefined) continue
    const at = { ...node, line }
    const label = names[index] ?? name
    const say = (problem: string, hint: string): undefined =>
      reader.report('chain-rework', at, `\`${label}\`: ${problem}`, hint)
    if (!gate && !gates.includes(name) && !gates.includes(label)) {
      say('`rework` needs a gate that a user can reject.', 'Add `gate`, or remove `rework`.')
    }
    const earlierSteps = earlierNames(steps, names, index)
    if (earlierSteps.includes(rework)) continue
    const [chain = ''] = rework.split('/')
    const isBelow = rework !== chain && earlierSteps.includes(chain)
    const hint = isBelow
      ? `A rejection leads back to a step of this chain: \`rework=${chain}\`.`
      : didYouMean(rework, earlierSteps)
    say(`\`rework\` names \`${rework}\`, which is not a step of an earlier line.`, hint)
  }
}

/** Returns the names of the steps on earlier lines. */
function earlierNames(
  steps: readonly ChainStep[],
  names: readonly string[],
  index: number,
): string[] {
  const group = steps[index]?.group
  const first = group === undefined ? index : steps.findIndex((one) => one.group === group)
  return names.slice(0, first)
}

/** Checks that conditions name steps of earlier lines, and that no `id` is another step's name. */
function checkNames(reader: FieldReader, node: YamlNode, steps: readonly ChainStep[]): void {
  const names = stepNames(steps)
  for (const [index, { when, id, line }] of steps.entries()) {
    const at = { ...node, line }
    if (id !== undefined && names[index] !== id) {
      reader.report('chain-step-form', at, `Two steps have the name \`${id}\`.`)
    }
    if (when === undefined) continue
    const stepName = conditionOf(when).step
    const earlierSteps = earlierNames(steps, names, index)
    if (earlierSteps.includes(stepName)) continue
    const message = `\`when\` names \`${stepName}\`, which is not a step of an earlier line.`
    reader.report('chain-when-unknown', at, message, didYouMean(stepName, earlierSteps))
  }
}

export function conditionOf(when: string): { step: string; state: string; not: boolean } {
  const not = when.startsWith('!')
  const end = when.lastIndexOf('.')
  return { step: when.slice(not ? 1 : 0, end), state: when.slice(end + 1), not }
}
