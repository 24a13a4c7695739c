import { compareDiagnostics, type Diagnostic, hasErrors } from '../core/diagnostic.ts'
import { adviseOnSkill } from './advice.ts'
import { hasCommas } from './allowed-tools.ts'
import { besideChain } from './declarations.ts'
import { type FieldDefinition, metadataFields, topFields } from './field-table.ts'
import { describe, didYouMean, isNull } from './field-values.ts'
import { readFields } from './fields.ts'
import type { SkillFields, SkillFiles } from './model.ts'
import { readFrontmatter } from './parse.ts'
import type { YamlEntry, YamlMap, YamlNode, YamlScalar } from './read-yaml.ts'
import { finding, type RuleCode } from './rules.ts'

export interface ValidateOptions {
  /** The path of the `SKILL.md`, for the diagnostics. */
  path: string
  /** The last part of the directory's path; undefined leaves out the rule that compares it. */
  directoryName: string | undefined
  /** All files of the skill; without them the advice about files is left out. */
  files?: SkillFiles | undefined
}

export interface Validation {
  /** The name as written, where it could be read. */
  name: string | undefined
  /** Whether there is no error; warnings and advice do not count. */
  valid: boolean
  diagnostics: Diagnostic[]
}

/**
 * The verdict of the written specification on one `SKILL.md`. Pass the bytes of the file where you
 * have them: only they show whether it is UTF-8.
 *
 * @example
 * validateSkill(bytes, { path: 'a/SKILL.md', directoryName: 'a' }).valid
 */
export function validateSkill(content: string | Uint8Array, options: ValidateOptions): Validation {
  const { path, directoryName, files } = options
  const reading = readFrontmatter(content, path)
  if (!reading.ok) {
    const { diagnostics } = reading
    return { name: undefined, valid: !hasErrors(diagnostics), diagnostics }
  }
  const { root, split } = reading
  const { body, bodyLine } = split
  const spec = validateSpec({ root, path, directoryName, body, bodyLine, files })
  const diagnostics = [...reading.diagnostics, ...spec.diagnostics]
  return { name: spec.fields.name, valid: !hasErrors(diagnostics), diagnostics }
}

/** The verdict of the reference validator `skills-ref` on one `SKILL.md`, in its own words. */
export async function validateReference(
  content: string | Uint8Array,
  options: Pick<ValidateOptions, 'path' | 'directoryName'>,
): Promise<Validation> {
  const port = await import('./reference/validate-reference.ts')
  return port.validateReference(content, options)
}

interface SpecInput {
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
function validateSpec(input: SpecInput): { fields: SkillFields; diagnostics: Diagnostic[] } {
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

/** The policy of a chain at the top level of a frontmatter, where it has no effect. */
export function misplacedPolicy(frontmatter: YamlMap, path: string): Diagnostic[] {
  const misplaced = frontmatter.entries.filter(({ key }) => besideChain.has(key.text))
  return misplaced.map((entry) => unknownField(path, entry))
}

function unknownField(path: string, { key }: YamlEntry): Diagnostic {
  const message = `\`${key.text}\` is not a field of the specification, of Skillrail or of a known client.`
  const meant = metadataFields.has(key.text) ? undefined : didYouMean(key.text, topFields.keys())
  const hint = besideChain.has(key.text)
    ? 'Indent it, with its chain, below `metadata:`.'
    : (meant ?? 'Move it below `metadata:`, where clients keep their own.')
  return finding('unknown-field', path, key, message, hint)
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
  const message = `\`${text}\` in \`${name}\` is not a string in YAML; it is read as text.`
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
      const message = `\`${name}\` below \`metadata\` is not a string in YAML; it is read as the text \`${value.text}\`.`
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

interface NameFinding {
  code: RuleCode
  message: string
  hint?: string | undefined
}

const limit = 64

/**
 * What the specification says about a name. Lengths count code points. Letters outside a-z that the
 * reference validator lets pass are a warning; characters that nobody accepts are an error.
 */
function checkName(written: string, directoryName: string | undefined): NameFinding[] {
  const isPlain = /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(written)
  if (isPlain && written.length <= limit && directoryName === written) return []
  const name = written.trim().normalize('NFKC')
  const found: NameFinding[] = []
  const hint = suggestion(name)
  const length = Array.from(name).length
  if (length > limit) {
    const message = `The name has ${length} characters; ${limit} are allowed.`
    found.push({ code: 'name-too-long', message })
  }
  if (name !== name.toLowerCase()) {
    const message = `The name \`${name}\` has upper-case letters.`
    found.push({ code: 'name-uppercase', message, hint })
  }
  if (name.startsWith('-') || name.endsWith('-')) {
    const message = `The name \`${name}\` begins or ends with a hyphen.`
    found.push({ code: 'name-hyphen-edge', message, hint })
  }
  if (name.includes('--')) {
    const message = `The name \`${name}\` has two hyphens in a row.`
    found.push({ code: 'name-hyphen-double', message, hint })
  }
  const others = [...new Set(name.match(/[^\p{L}\p{N}-]/gu))]
  if (others.length > 0) {
    const listed = others.map((character) => `\`${character}\``).join(', ')
    const message = `The name \`${name}\` contains ${listed}; a-z, 0-9 and hyphens are allowed.`
    found.push({ code: 'name-characters', message, hint })
  } else if (/[^\p{ASCII}]/u.test(name) || name !== written.trim()) {
    const message = `The name \`${written.trim()}\` has letters outside a-z, which clients may refuse.`
    found.push({ code: 'name-unicode', message, hint: 'Prefer a-z, 0-9 and hyphens.' })
  }
  if (directoryName !== undefined && directoryName.normalize('NFKC') !== name) {
    found.push({
      code: 'name-directory-mismatch',
      message: `The skill is named \`${name}\`, its directory \`${directoryName}\`.`,
      hint: 'Rename the directory or the skill; clients find a skill by both.',
    })
  }
  return found
}

function suggestion(name: string): string | undefined {
  const meant = name
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-|-$/g, '')
  return meant === '' || meant === name ? undefined : `Call it \`${meant}\`.`
}
