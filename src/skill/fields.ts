import type { Diagnostic } from '#core/errors'
import { argumentNamePattern, reservedArgumentName } from './arguments.ts'
import { readChain, readHooks } from './declarations.ts'
import { readTriggers } from './trigger-declarations.ts'
import { isBalanced, parseAllowedTools } from './allowed-tools.ts'
import { metadataFields, topFields } from './field-table.ts'
import { describe, FieldReader, isNull } from './field-values.ts'
import type { SkillFields } from './model.ts'
import type { YamlEntry, YamlMap, YamlNode } from './read-yaml.ts'

/**
 * Reads every field that Skillrail acts on. Types and forms are checked here, for every purpose;
 * `validate` adds the rules of the written specification (lengths, names, unknown fields).
 *
 * An extension at the top level takes precedence over the same extension below `metadata`. An
 * unusable field is an error here, and undefined or its default in the result.
 */
export function readFields(
  root: YamlMap,
  options: { path: string },
): { fields: SkillFields; diagnostics: Diagnostic[] } {
  const diagnostics: Diagnostic[] = []
  const reader = new FieldReader(options.path, diagnostics)
  const top = new Map(root.entries.map((entry) => [entry.key.text, entry]))
  const metadata = readMetadata(reader, top.get('metadata')?.value)
  const extensions = placeExtensions(reader, top, metadata)
  const topLevelText = (name: string) => reader.text(name, top.get(name)?.value)
  const text = (name: string) => reader.text(name, extensions.get(name))
  const flag = (name: string) => reader.boolean(name, extensions.get(name))
  const fields: SkillFields = {
    name: topLevelText('name'),
    description: topLevelText('description'),
    whenToUse: topLevelText('when_to_use'),
    license: topLevelText('license'),
    compatibility: topLevelText('compatibility'),
    metadata: scalarTexts(metadata),
    allowedTools: readAllowedTools(reader, top.get('allowed-tools')?.value),
    triggers: readTriggers(reader, extensions.get('triggers')),
    chain: metadata ? readChain(reader, metadata) : undefined,
    run: reader.path('run', extensions.get('run')),
    sandbox: flag('sandbox') || undefined,
    model: text('model'),
    context: reader.choice('context', extensions.get('context'), ['fork']),
    agent: text('agent'),
    disableModelInvocation: flag('disable-model-invocation') ?? false,
    userInvocable: flag('user-invocable') ?? true,
    argumentHint: readHint(reader, extensions.get('argument-hint')),
    arguments: readArguments(reader, extensions.get('arguments')),
    hooks: readHooks(reader, extensions.get('hooks')),
  }
  return { fields, diagnostics }
}

function readMetadata(reader: FieldReader, node: YamlNode | undefined): YamlMap | undefined {
  if (!node || isNull(node)) return undefined
  if (node.kind === 'map') return node
  const message = `\`metadata\` is ${describe(node)}, and a map is required.`
  return reader.report('field-type', node, message)
}

function placeExtensions(
  reader: FieldReader,
  top: ReadonlyMap<string, YamlEntry>,
  metadata: YamlMap | undefined,
): ReadonlyMap<string, YamlNode> {
  const nodesByName = new Map<string, YamlNode>()
  for (const { key, value } of metadata?.entries ?? []) {
    if (metadataFields.get(key.text)?.placement === 'either') nodesByName.set(key.text, value)
  }
  for (const [name, { key, value }] of top) {
    if (name === 'chain') {
      const hint = 'Indent it, with its policy, below `metadata:`.'
      reader.report('field-placement', key, '`chain` at the top level has no effect.', hint)
    }
    if (topFields.get(name)?.placement !== 'either') continue
    if (nodesByName.has(name)) {
      const message = `\`${name}\` is set here and below \`metadata\`; this value counts.`
      reader.report('field-twice', key, message)
    }
    nodesByName.set(name, value)
  }
  return nodesByName
}

function scalarTexts(metadata: YamlMap | undefined): Readonly<Record<string, string>> {
  const texts: Record<string, string> = Object.create(null)
  for (const { key, value } of metadata?.entries ?? []) {
    if (value.kind === 'scalar') texts[key.text] = value.text
  }
  return texts
}

function readAllowedTools(reader: FieldReader, node: YamlNode | undefined) {
  if (!node || isNull(node)) return undefined
  if (node.kind === 'map' || (node.kind === 'list' && node.items.some(isNotScalar))) {
    return reader.report('field-type', node, '`allowed-tools` is not a list of tools.')
  }
  if (isBalanced(node)) return parseAllowedTools(node)
  const message = 'A parenthesis in `allowed-tools` is not closed.'
  return reader.report('allowed-tools-unbalanced', node, message)
}

function isNotScalar(node: YamlNode): boolean {
  return node.kind !== 'scalar'
}

/** `argument-hint: [file]` is a list in YAML, but its author means the text. */
function readHint(reader: FieldReader, node: YamlNode | undefined): string | undefined {
  if (node?.kind !== 'list' || !node.flow || node.items.some(isNotScalar)) {
    return reader.text('argument-hint', node)
  }
  const words = node.items.map((item) => (item.kind === 'scalar' ? item.text : ''))
  const text = `[${words.join(', ')}]`
  const message = '`argument-hint` in brackets is a list to YAML; it is read as text.'
  reader.report('argument-hint-list', node, message, `Quote it: \`argument-hint: "${text}"\`.`)
  return text
}

function readArguments(reader: FieldReader, node: YamlNode | undefined): readonly string[] {
  const names = new Set<string>()
  for (const { text, node: at } of reader.words('arguments', node) ?? []) {
    if (!argumentNamePattern.test(text) || text === reservedArgumentName) {
      const message = `\`${text}\` is not a name for an argument.`
      const hint = 'Use at most 64 letters, digits, `_` and `-`, no digit first.'
      reader.report('argument-name', at, message, hint)
    } else if (names.has(text)) {
      reader.report('argument-name', at, `The argument \`${text}\` is named twice.`)
    } else names.add(text)
  }
  return [...names]
}
