import { compareDiagnostics, type Diagnostic } from '../base/index.ts'
import { besideChain } from './_field-chain.ts'
import { unknownField } from './unknown-field.ts'
import { describe, isNull } from './_field-values.ts'
import { finding } from './_finding.ts'
import { adviseOnSkill } from './advice.ts'
import { hasCommas } from './allowed-tools.ts'
import { type FieldDefinition, metadataFields, topFields } from './field-table.ts'
import { readFields } from './fields.ts'
import type { SkillFields, SkillFiles } from './model.ts'
import { checkName } from './name-rules.ts'
import type { YamlEntry, YamlMap, YamlNode, YamlScalar } from './read-yaml.ts'

export interface SpecInput {
  root: YamlMap
  path: string
  /** The name of the directory the file lies in; undefined leaves that rule out. */
  directoryName: string | undefined
  /** Everything after the closing `---`, untrimmed. */
  body: string
  /** The line of the file on which `body` begins. */
  bodyLine: number
  files?: SkillFiles | undefined
}

/** The verdict of the written specification on a frontmatter that could be read, and advice. */
export function validateSpec(input: SpecInput): { fields: SkillFields; diagnostics: Diagnostic[] } {
  const { root, path } = input
  const { fields, diagnostics } = readFields(root, { path })
  const entries = new Map(root.entries.map((entry) => [entry.key.text, entry]))
  const metadata = entries.get('metadata')?.value
  const description = entries.get('description')?.value
  diagnostics.push(
    ...root.entries.flatMap((entry) => checkField(path, entry)),
    ...checkNameField(input, entries.get('name')?.value, fields.name),
    ...checkDescription(input, description, fields.description),
    ...checkCompatibility(path, entries.get('compatibility')?.value),
    ...checkTools(path, entries.get('allowed-tools')?.value),
    ...(metadata?.kind === 'map' ? checkMetadata(path, metadata) : []),
    ...adviseOnSkill({
      path,
      body: input.body,
      bodyLine: input.bodyLine,
      files: input.files,
      description:
        fields.description === undefined || description === undefined
          ? undefined
          : { text: fields.description, at: description },
    }),
  )
  return { fields, diagnostics: diagnostics.toSorted(compareDiagnostics) }
}

/** Whether the field is known, and whether a text was written as something else. */
function checkField(path: string, { key, value }: YamlEntry): Diagnostic[] {
  const field = topFields.get(key.text)
  if (field === undefined) return key.text === 'chain' ? [] : [unknownField(path, { key, value })]
  if (field.owner === 'client') {
    const message = `\`${key.text}\` is a field of ${field.clients.join(' and ')}; others ignore it.`
    return [finding('client-field', path, key, message)]
  }
  if (!ownEmptyRule.has(key.text) && isEmpty(value)) return [emptyField(path, key.text, value)]
  const text = unquotedText(field, value)
  return text === undefined ? [] : [unquoted(path, key.text, text)]
}

/** Fields with a rule of their own about being empty. */
const ownEmptyRule: ReadonlySet<string> = new Set([
  'name',
  'description',
  'compatibility',
  'metadata',
])

function isEmpty(value: YamlNode): boolean {
  return isNull(value) || (value.kind === 'scalar' && value.text.trim() === '')
}

function emptyField(path: string, name: string, value: YamlNode): Diagnostic {
  const message = `\`${name}\` is empty and has no effect.`
  return finding('field-empty', path, value, message, 'Give it a value, or remove it.')
}

/** A value, or an entry of a list, that YAML takes for something other than the text it is. */
function unquotedText({ kind }: FieldDefinition, value: YamlNode): YamlScalar | undefined {
  if (kind !== 'text' && kind !== 'path' && kind !== 'tools' && kind !== 'names') return undefined
  const nodes = value.kind === 'list' ? value.items : [value]
  return nodes.find(
    (node): node is YamlScalar =>
      node.kind === 'scalar' && (typeof node.value === 'number' || typeof node.value === 'boolean'),
  )
}

function unquoted(path: string, name: string, value: YamlScalar): Diagnostic {
  const { text } = value
  const message = `\`${text}\` in \`${name}\` is no string to YAML; it is read as a text.`
  return finding('text-unquoted', path, value, message, `Quote it: \`"${text}"\`.`)
}

function checkNameField(
  input: SpecInput,
  node: YamlNode | undefined,
  name: string | undefined,
): Diagnostic[] {
  if (name === undefined) {
    if (node !== undefined && node.kind !== 'scalar') return []
    const hint = `Add \`name: ${input.directoryName ?? 'my-skill'}\`.`
    const at = node ?? input.root
    return [finding('name-missing', input.path, at, 'The skill has no `name`.', hint)]
  }
  return checkName(name, input.directoryName).map(({ code, message, hint }) =>
    finding(code, input.path, node, message, hint),
  )
}

function checkDescription(
  { root, path }: SpecInput,
  node: YamlNode | undefined,
  description: string | undefined,
): Diagnostic[] {
  if (description === undefined || node?.kind !== 'scalar') {
    if (node !== undefined && node.kind !== 'scalar') return []
    const hint = 'Add `description:` with what the skill does and when to use it.'
    return [
      finding('description-missing', path, node ?? root, 'The skill has no `description`.', hint),
    ]
  }
  return tooLong('description-too-long', path, 'description', node, 1024)
}

function checkCompatibility(path: string, node: YamlNode | undefined): Diagnostic[] {
  if (node?.kind !== 'scalar') return []
  if (node.text.trim() === '' || isNull(node)) {
    const hint = 'Say what the skill needs, or remove the field.'
    return [finding('compatibility-empty', path, node, '`compatibility` is empty.', hint)]
  }
  return tooLong('compatibility-too-long', path, 'compatibility', node, 500)
}

/** The limit holds for the value as YAML gives it, with the newline that a block scalar keeps. */
function tooLong(
  code: 'description-too-long' | 'compatibility-too-long',
  path: string,
  name: string,
  node: YamlNode & { kind: 'scalar' },
  limit: number,
): Diagnostic[] {
  if (node.text.length <= limit) return []
  const length = Array.from(node.text).length
  if (length <= limit) return []
  const message = `\`${name}\` has ${length} characters; ${limit} are allowed.`
  return [finding(code, path, node, message, `Shorten it by ${length - limit}.`)]
}

function checkTools(path: string, node: YamlNode | undefined): Diagnostic[] {
  if (node === undefined || node.kind === 'map' || isNull(node)) return []
  if (node.kind === 'scalar' && !hasCommas(node.text)) return []
  const found = node.kind === 'list' ? 'a list' : 'separated by commas'
  const message = `\`allowed-tools\` is ${found}; the specification wants one string with spaces.`
  return [
    finding('allowed-tools-form', path, node, message, '`skillrail validate --fix` rewrites it.'),
  ]
}

/** A map from string keys to string values; extensions have a string form, nobody reads the rest. */
function checkMetadata(path: string, metadata: YamlMap): Diagnostic[] {
  const hasChain = metadata.entries.some(({ key }) => key.text === 'chain')
  return metadata.entries.flatMap(({ key, value }): Diagnostic[] => {
    const name = key.text
    const understood = metadataFields.has(name) && (hasChain || !besideChain.has(name))
    if (value.kind === 'scalar') {
      if (understood && name !== 'chain' && isEmpty(value)) return [emptyField(path, name, value)]
      if (typeof value.value === 'string') return []
      const message = `\`${name}\` below \`metadata\` is no string to YAML; it is read as the text \`${value.text}\`.`
      const hint = `Quote it: \`${name}: "${value.text}"\`.`
      return [finding('metadata-not-string', path, value, message, hint)]
    }
    const message = `\`${name}\` below \`metadata\` is ${describe(value)}; the specification wants strings.`
    if (!understood) {
      const hint = 'Write it as one string.'
      return [finding('metadata-nested', path, value, message, hint)]
    }
    return [finding('metadata-nested-extension', path, value, message, stringForm(name))]
  })
}

function stringForm(name: string): string {
  if (name === 'triggers') return 'The string form has one `PATTERN => FILE` a line.'
  if (name === 'hooks') return 'The string form is JSON text.'
  return `The string form has the names separated by spaces: \`${name}: "one two"\`.`
}
