import {
  checkArgument,
  checkOptions,
  listOf,
  type OptionOwner,
  required,
  rule,
} from '#core/api-options'
import { isObject } from '#core/json'
import { compareDiagnostics, type Diagnostic, hasErrors } from '#core/errors'
import { adviseOnSkill } from './advice.ts'
import { hasCommas } from './allowed-tools.ts'
import { besideChain, reportUnknown } from './declarations.ts'
import { metadataFields, topFields } from './field-table.ts'
import { describe, FieldReader, isNull } from './field-values.ts'
import { readFields } from './fields.ts'
import type { SkillFields, SkillFiles } from './model.ts'
import { readFrontmatter } from './parse.ts'
import {
  valuesOf,
  type YamlEntry,
  type YamlMap,
  type YamlNode,
  type YamlScalar,
} from './read-yaml.ts'
import type { RuleCode } from './rules.ts'

export interface ValidateOptions {
  path: string
  /** The last part of the directory's path; undefined skips the rule that compares it. */
  directoryName: string | undefined
  files?: SkillFiles | undefined
  /**
   * Returns the text of one of the files; undefined for a file that is not text or is too large.
   */
  readFile?: ((path: string) => string | undefined) | undefined
}

const validateOptions: OptionOwner<ValidateOptions> = {
  of: 'validateSkill',
  rules: {
    path: required(rule.text),
    directoryName: rule.text,
    files: listOf('files', isObject),
    readFile: rule.callback,
  },
  earlierNames: { profile: 'For the profile `reference` use validateReference.' },
}

export interface Validation {
  name: string | undefined
  /** Whether there are no errors; warnings and advice do not count. */
  valid: boolean
  isChain?: boolean | undefined
  diagnostics: Diagnostic[]
}

/**
 * Validates one `SKILL.md` against the written specification. Pass the bytes of the file if you
 * have them: only they show whether it is UTF-8.
 *
 * @example
 * validateSkill(bytes, { path: 'a/SKILL.md', directoryName: 'a' }).valid
 * @throws {UsageError} for an option that is unknown or of a wrong kind.
 */
export function validateSkill(
  content: string | Uint8Array,
  rawOptions: ValidateOptions,
): Validation {
  checkArgument(content, 'The content of the skill', rule.content)
  const options = checkOptions(rawOptions, validateOptions)
  const reading = readFrontmatter(content, options.path)
  const spec = reading.ok ? validateSpec(reading.root, reading.split, options) : undefined
  const diagnostics = [...reading.diagnostics, ...(spec?.diagnostics ?? [])]
  const isChain = spec?.fields.chain !== undefined
  return { name: spec?.fields.name, valid: !hasErrors(diagnostics), isChain, diagnostics }
}

const referenceOptions: OptionOwner<Pick<ValidateOptions, 'path' | 'directoryName'>> = {
  of: 'validateReference',
  rules: { path: required(rule.text), directoryName: rule.text },
}

/**
 * Returns the verdict of the reference validator `skills-ref` on one `SKILL.md`, with its messages.
 */
export async function validateReference(
  content: string | Uint8Array,
  rawOptions: Pick<ValidateOptions, 'path' | 'directoryName'>,
): Promise<Validation> {
  checkArgument(content, 'The content of the skill', rule.content)
  const options = checkOptions(rawOptions, referenceOptions)
  const port = await import('./reference/validate-reference.ts')
  return port.validateReference(content, options)
}

function validateSpec(
  root: YamlMap,
  { body, bodyLine }: { body: string; bodyLine: number },
  { path, directoryName, files, readFile }: ValidateOptions,
): { fields: SkillFields; diagnostics: Diagnostic[] } {
  const { fields, diagnostics } = readFields(root, { path })
  const { name, description } = fields
  const reader = new FieldReader(path, diagnostics)
  const values = valuesOf(root)
  for (const entry of root.entries) checkField(reader, entry)
  const at = values.get('description')
  if (name !== undefined) checkName(reader, values.get('name'), name, directoryName)
  else reportMissing(reader, 'name', values, root, `Add \`name: ${directoryName ?? 'my-skill'}\`.`)
  if (description === undefined) {
    const hint = 'Add `description:` with what the skill does and when to use it.'
    reportMissing(reader, 'description', values, root, hint)
  } else checkLength(reader, 'description', at, 1024)
  const entryLength = `${description ?? ''}${fields.whenToUse ?? ''}`.length
  if (fields.whenToUse !== undefined && entryLength > longestEntry) {
    const message = `\`description\` and \`when_to_use\` have ${entryLength} characters; Claude Code cuts them at ${longestEntry}.`
    reader.report('catalogue-cut', values.get('when_to_use'), message)
  }
  const compatibility = values.get('compatibility')
  if (compatibility?.kind === 'scalar' && isEmpty(compatibility)) {
    reader.report('compatibility-empty', compatibility, '`compatibility` is empty.')
  } else checkLength(reader, 'compatibility', compatibility, 500)
  checkTools(reader, values.get('allowed-tools'))
  checkMetadata(reader, values.get('metadata'))
  adviseOnSkill(reader, {
    body,
    bodyLine,
    files,
    readFile,
    description: { text: description, at },
    arguments: { names: fields.arguments, hint: fields.argumentHint },
  })
  return { fields, diagnostics: diagnostics.toSorted(compareDiagnostics) }
}

function reportMissing(
  reader: FieldReader,
  field: 'name' | 'description',
  values: ReadonlyMap<string, YamlNode>,
  root: YamlMap,
  hint: string,
): void {
  const node = values.get(field) ?? root
  // A list or a map in its place was reported already.
  if (node !== root && node.kind !== 'scalar') return
  reader.report(`${field}-missing`, node, `The skill has no \`${field}\`.`, hint)
}

function checkField(reader: FieldReader, { key, value }: YamlEntry): void {
  const name = key.text
  const field = topFields.get(name)
  if (!field) {
    if (name !== 'chain') reportUnknown(reader, key)
  } else if (field.owner === 'client') {
    const message = `\`${name}\` is a field of ${field.clients.join(' and ')}; others ignore it.`
    reader.report('client-field', key, message)
  } else if (!fieldsWithEmptyRule.includes(name) && isEmpty(value)) reportEmpty(reader, name, value)
  else if (textKinds.has(field.kind)) {
    // A value, or a list entry, that YAML reads as something other than its text.
    const nodes = value.kind === 'list' ? value.items : [value]
    const unquotedNode = nodes.find(
      (node): node is YamlScalar =>
        node.kind === 'scalar' && node.value !== null && typeof node.value !== 'string',
    )
    if (!unquotedNode) return
    const { text } = unquotedNode
    const message = `\`${text}\` in \`${name}\` is not a string in YAML; it is read as text.`
    reader.report('text-unquoted', unquotedNode, message, `Quote it: \`"${text}"\`.`)
  }
}

const textKinds: ReadonlySet<string> = new Set(['text', 'path', 'tools', 'names'])

const fieldsWithEmptyRule = ['name', 'description', 'compatibility', 'metadata']

function isEmpty(value: YamlNode): boolean {
  return isNull(value) || (value.kind === 'scalar' && value.text.trim() === '')
}

function reportEmpty(reader: FieldReader, name: string, value: YamlNode): void {
  const message = `\`${name}\` is empty and has no effect.`
  reader.report('field-empty', value, message)
}

/** The limit applies to the value that YAML returns, with the newline that a block scalar keeps. */
function checkLength(
  reader: FieldReader,
  name: 'description' | 'compatibility',
  node: YamlNode | undefined,
  limit: number,
): void {
  const text = node?.kind === 'scalar' ? node.text : ''
  const length = text.length <= limit ? 0 : Array.from(text).length
  if (length <= limit) return
  const message = `\`${name}\` has ${length} characters; ${limit} are allowed.`
  reader.report(`${name}-too-long`, node, message)
}

function checkTools(reader: FieldReader, node: YamlNode | undefined): void {
  if (!node || node.kind === 'map' || isNull(node)) return
  if (node.kind === 'scalar' && !hasCommas(node.text)) return
  const form = node.kind === 'list' ? 'a list' : 'separated by commas'
  const message = `\`allowed-tools\` is ${form}; the specification wants one string with spaces.`
  reader.report('allowed-tools-form', node, message, '`skillrail validate --fix` rewrites it.')
}

/**
 * Checks that metadata maps strings to strings; extensions have a string form, other values are
 * unused.
 */
function checkMetadata(reader: FieldReader, metadata: YamlNode | undefined): void {
  if (metadata?.kind !== 'map') return
  const hasChain = metadata.entries.some(({ key }) => key.text === 'chain')
  const nestedEntries = metadata.entries.filter(({ key, value }) => {
    const isPart = key.text === 'chain' || besideChain.has(key.text)
    return isPart && (value.kind !== 'scalar' || typeof value.value !== 'string')
  })
  if (hasChain) reportChainForm(reader, nestedEntries)
  for (const { key, value } of metadata.entries) {
    if (hasChain && nestedEntries.some((entry) => entry.key === key)) continue
    const name = key.text
    const isKnownExtension = metadataFields.has(name) && (hasChain || !besideChain.has(name))
    if (value.kind !== 'scalar') {
      const message = `\`${name}\` below \`metadata\` is ${describe(value)}; the specification wants strings.`
      const code = isKnownExtension ? 'metadata-nested-extension' : 'metadata-nested'
      reader.report(code, value, message, 'Write it as one string.')
    } else if (isKnownExtension && name !== 'chain' && isEmpty(value))
      reportEmpty(reader, name, value)
    else if (typeof value.value !== 'string') {
      const message = `\`${name}\` below \`metadata\` is not a string in YAML; it is read as the text \`${value.text}\`.`
      const hint = `Quote it: \`${name}: "${value.text}"\`.`
      reader.report('metadata-not-string', value, message, hint)
    }
  }
}

/**
 * The proposal writes chains as lists, with flags and numbers: one warning covers the whole chain.
 */
function reportChainForm(reader: FieldReader, entries: readonly YamlEntry[]): void {
  const [first] = entries
  if (!first) return
  const names = entries.map(({ key }) => `\`${key.text}\``).join(', ')
  const message = `The chain is not written as strings (${names}); the specification wants strings below \`metadata\`.`
  const hint =
    'Skillrail reads it. For other clients, write `chain: a b c` and quote flags and numbers.'
  const isNested = entries.some(({ value }) => value.kind !== 'scalar')
  const code = isNested ? 'metadata-nested-extension' : 'metadata-not-string'
  reader.report(code, first.value, message, hint)
}

const longestName = 64
/** Most characters of an entry in Claude Code's catalogue. */
const longestEntry = 1536

interface NameProblem {
  code: RuleCode
  problem: string
  hint?: string | undefined
}

function checkName(
  reader: FieldReader,
  node: YamlNode | undefined,
  name: string,
  directoryName: string | undefined,
): void {
  for (const { code, problem, hint } of nameProblems(name, directoryName)) {
    reader.report(code, node, problem, hint)
  }
}

/**
 * Letters outside a-z that the reference validator accepts are a warning, other characters an
 * error.
 */
export function nameProblems(
  declaredName: string,
  directoryName: string | undefined,
): NameProblem[] {
  const isPlain = /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(declaredName)
  if (isPlain && declaredName.length <= longestName && directoryName === declaredName) return []
  const problems: NameProblem[] = []
  const name = declaredName.normalize('NFKC')
  const report = (isWrong: boolean, code: RuleCode, problem: string, hint?: string): void => {
    if (isWrong) problems.push({ code, problem, hint })
  }
  const length = Array.from(name).length
  const tooLong = `The name has ${length} characters; ${longestName} are allowed.`
  report(length > longestName, 'name-too-long', tooLong)
  const hyphenatedName = name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '-')
  const suggestion = hyphenatedName.replace(/^-|-$/g, '')
  const hint = suggestion === '' || suggestion === name ? undefined : `Call it \`${suggestion}\`.`
  const isUpper = name !== name.toLowerCase()
  report(isUpper, 'name-uppercase', `The name \`${name}\` has upper-case letters.`, hint)
  const edge = `The name \`${name}\` begins or ends with a hyphen.`
  report(name.startsWith('-') || name.endsWith('-'), 'name-hyphen-edge', edge, hint)
  const double = `The name \`${name}\` has two hyphens in a row.`
  report(name.includes('--'), 'name-hyphen-double', double, hint)
  const otherCharacters = new Set(name.match(/[^\p{L}\p{N}-]/gu))
  const characterList = [...otherCharacters].map((character) => `\`${character}\``).join(', ')
  const characters = `The name \`${name}\` contains ${characterList}; a-z, 0-9 and hyphens are allowed.`
  report(otherCharacters.size > 0, 'name-characters', characters, hint)
  const foreign = `The name \`${declaredName}\` has letters outside a-z, which clients may refuse.`
  const isForeign =
    otherCharacters.size === 0 && (/[^\p{ASCII}]/u.test(name) || name !== declaredName)
  report(isForeign, 'name-unicode', foreign)
  const isElsewhere = directoryName !== undefined && directoryName.normalize('NFKC') !== name
  const mismatch = `The skill is named \`${name}\`, its directory \`${directoryName}\`.`
  report(isElsewhere, 'name-directory-mismatch', mismatch, 'Rename one of them.')
  return problems
}
