import type { Diagnostic } from '../core/diagnostic.ts'
import { argumentNamePattern, reservedArgumentName } from './arguments.ts'
import { readChain, readHooks, readTriggers } from './declarations.ts'
import { isBalanced, parseAllowedTools } from './allowed-tools.ts'
import { metadataFields, topFields } from './field-table.ts'
import {
  describe,
  type FieldContext,
  fieldContext,
  isNull,
  readBoolean,
  readChoice,
  readPath,
  readText,
  readWords,
} from './field-values.ts'
import type { AllowedTool, SkillFields } from './model.ts'
import type { YamlEntry, YamlMap, YamlNode } from './read-yaml.ts'

/** The typed fields of a frontmatter, and what is wrong with them. */
export interface FieldsReading {
  fields: SkillFields
  diagnostics: Diagnostic[]
}

/**
 * Reads every field that Skillrail acts on. Types and forms are checked here, for every purpose;
 * what only the written specification wants (lengths, names, unknown fields) `validate` adds.
 *
 * An extension at the top level takes precedence over the same below `metadata`. A field that cannot be used is
 * an error here and undefined, or its default, in the result.
 */
export function readFields(root: YamlMap, options: { path: string }): FieldsReading {
  const diagnostics: Diagnostic[] = []
  const context = fieldContext(options.path, diagnostics)
  const top = new Map(root.entries.map((entry) => [entry.key.text, entry]))
  const metadata = readMetadata(context, top.get('metadata')?.value)
  const extensions = placeExtensions(context, top, metadata)
  const text = (name: string, from = extensions): string | undefined => {
    const node = from.get(name)
    const value = node === undefined ? undefined : readText(context, name, node)
    return value === '' ? undefined : value
  }
  const flag = (name: string, absent: boolean): boolean => {
    const node = extensions.get(name)
    return (node === undefined ? undefined : readBoolean(context, name, node)) ?? absent
  }
  const read = <T>(name: string, reader: (node: YamlNode) => T): T | undefined => {
    const node = extensions.get(name)
    return node === undefined ? undefined : reader(node)
  }
  const specified = new Map([...top].map(([name, entry]) => [name, entry.value]))
  const fields: SkillFields = {
    name: text('name', specified),
    description: text('description', specified),
    license: text('license', specified),
    compatibility: text('compatibility', specified),
    metadata: scalarTexts(metadata),
    allowedTools: readAllowedTools(context, specified.get('allowed-tools')),
    triggers: read('triggers', (node) => readTriggers(context, node)) ?? [],
    chain: metadata === undefined ? undefined : readChain(context, metadata),
    run: read('run', (node) => readPath(context, 'run', node)),
    sandbox: flag('sandbox', false) ? true : undefined,
    model: text('model'),
    context: read('context', (node) => readFork(context, node)),
    agent: text('agent'),
    disableModelInvocation: flag('disable-model-invocation', false),
    userInvocable: flag('user-invocable', true),
    argumentHint: read('argument-hint', (node) => readHint(context, node)),
    arguments: read('arguments', (node) => readArguments(context, node)) ?? [],
    hooks: read('hooks', (node) => readHooks(context, node)),
  }
  return { fields, diagnostics }
}

function readMetadata(context: FieldContext, node: YamlNode | undefined): YamlMap | undefined {
  if (node === undefined || isNull(node)) return undefined
  if (node.kind === 'map') return node
  const hint = 'Put one `key: "value"` a line below `metadata:`, indented by two spaces.'
  context.report(
    'field-type',
    node,
    `\`metadata\` is ${describe(node)}, and a map is required.`,
    hint,
  )
  return undefined
}

/** The node of each extension that may stand in either place, the top level first. */
function placeExtensions(
  context: FieldContext,
  top: ReadonlyMap<string, YamlEntry>,
  metadata: YamlMap | undefined,
): ReadonlyMap<string, YamlNode> {
  const placed = new Map<string, YamlNode>()
  for (const { key, value } of metadata?.entries ?? []) {
    if (metadataFields.get(key.text)?.placement === 'either') placed.set(key.text, value)
  }
  for (const [name, { key, value }] of top) {
    if (name === 'chain') {
      const hint = 'Indent it, with its policy, below `metadata:`.'
      context.report('field-placement', key, '`chain` at the top level has no effect.', hint)
    }
    if (topFields.get(name)?.placement !== 'either') continue
    if (placed.has(name)) {
      const message = `\`${name}\` stands here and below \`metadata\`; this one counts.`
      context.report('field-twice', key, message, 'Remove one of them.')
    }
    placed.set(name, value)
  }
  return placed
}

function scalarTexts(metadata: YamlMap | undefined): Readonly<Record<string, string>> {
  const texts: Record<string, string> = Object.create(null)
  for (const { key, value } of metadata?.entries ?? []) {
    if (value.kind === 'scalar') texts[key.text] = value.text
  }
  return texts
}

function readAllowedTools(
  context: FieldContext,
  node: YamlNode | undefined,
): readonly AllowedTool[] | undefined {
  if (node === undefined || isNull(node)) return undefined
  if (node.kind === 'map' || (node.kind === 'list' && node.items.some(isNotScalar))) {
    const hint = 'Write the tools on one line, separated by spaces.'
    context.report('field-type', node, '`allowed-tools` is not a list of tools.', hint)
    return undefined
  }
  if (!isBalanced(node)) {
    const message = 'A parenthesis in `allowed-tools` is not closed.'
    context.report('allowed-tools-unbalanced', node, message, 'Write `Tool(pattern)`.')
    return undefined
  }
  return parseAllowedTools(node)
}

function isNotScalar(node: YamlNode): boolean {
  return node.kind !== 'scalar'
}

function readFork(context: FieldContext, node: YamlNode): 'fork' | undefined {
  const definition = topFields.get('context')
  const word = definition === undefined ? undefined : readChoice(context, definition, node)
  return word === 'fork' ? 'fork' : undefined
}

/** `argument-hint: [file]` is a list to YAML, and what its author meant is the text. */
function readHint(context: FieldContext, node: YamlNode): string | undefined {
  if (node.kind !== 'list' || !node.flow || node.items.some(isNotScalar)) {
    return readText(context, 'argument-hint', node) || undefined
  }
  const words = node.items.map((item) => (item.kind === 'scalar' ? item.text : ''))
  const text = `[${words.join(', ')}]`
  const message = '`argument-hint` in brackets is a list to YAML; it is read as text.'
  context.report('argument-hint-list', node, message, `Quote it: \`argument-hint: "${text}"\`.`)
  return text
}

function readArguments(context: FieldContext, node: YamlNode): readonly string[] {
  const seen = new Set<string>()
  for (const { text, node: at } of readWords(context, 'arguments', node) ?? []) {
    if (!argumentNamePattern.test(text) || text === reservedArgumentName) {
      const hint =
        'Use at most 64 letters, digits, `_` and `-`, no digit first; `ARGUMENTS` is taken.'
      context.report('argument-name', at, `\`${text}\` is not a name for an argument.`, hint)
    } else if (seen.has(text)) {
      context.report('argument-name', at, `The argument \`${text}\` is named twice.`)
    } else {
      seen.add(text)
    }
  }
  return [...seen]
}
