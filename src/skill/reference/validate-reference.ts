import { isUtf8 } from 'node:buffer'
import { compareText, type Diagnostic } from '#core/errors'
import { type RuleCode, referenceSource } from '#skill/rules'
import type { ValidateOptions, Validation } from '#skill/validate'
import { type Mark, StrictFailure, type StrictFailureKind } from './scalars.ts'
import { readReferenceFields, type StrictField } from './parser.ts'

interface Complaint {
  code: RuleCode
  message: string
  mark?: Mark | undefined
}

/** Returns the verdict of `skills-ref` on every input; invalid if it ends with an exception. */
export function validateReference(
  content: string | Uint8Array,
  { path, directoryName }: Pick<ValidateOptions, 'path' | 'directoryName'>,
): Validation {
  const { fields, complaints } = readFields(content, directoryName)
  const diagnostics = complaints.map(({ code, message, mark }): Diagnostic => {
    const line = mark && mark.line + 1
    const column = mark && mark.column + (mark.line === 0 ? 4 : 1)
    return { code, severity: 'error', message, path, line, column, source: referenceSource }
  })
  const name = fields.find((field) => field.name === 'name')?.text
  return { name, valid: diagnostics.length === 0, diagnostics }
}

function readFields(content: string | Uint8Array, directoryName: string | undefined) {
  const refusal = (code: RuleCode, message: string, mark: Mark = { line: 0, column: -3 }) => ({
    fields: [],
    complaints: [{ code, message, mark }],
  })
  // The body is only checked: decoding it would cost more than everything else.
  const isText = typeof content === 'string'
  if (!isText && !isUtf8(content)) {
    return refusal('reference-crash', 'the reference validator fails: the file is not UTF-8 text')
  }
  const source = isText ? content : Buffer.from(content.buffer, content.byteOffset, content.length)
  if (source.indexOf('---') !== 0) {
    return refusal('frontmatter-missing', 'SKILL.md must start with YAML frontmatter (---)')
  }
  const end = source.indexOf('---', 3)
  if (end === -1) {
    return refusal('frontmatter-unclosed', 'SKILL.md frontmatter not properly closed with ---')
  }
  try {
    const raw = typeof source === 'string' ? source.slice(3, end) : source.toString('utf8', 3, end)
    const fields = readReferenceFields(raw.replaceAll(/\r\n?/g, '\n'))
    if (fields) return { fields, complaints: checkFields(fields, directoryName) }
    const message = 'SKILL.md frontmatter must be a YAML mapping'
    return refusal('frontmatter-not-mapping', message, { line: 1, column: 0 })
  } catch (error) {
    if (!(error instanceof StrictFailure)) throw error
    const { kind, mark } = error
    const prefix =
      kind === 'crash' ? 'the reference validator fails' : 'Invalid YAML in frontmatter'
    return refusal(yamlCodes[kind], `${prefix}: ${error.message}`, mark)
  }
}

const yamlCodes: Readonly<Record<StrictFailureKind, RuleCode>> = {
  syntax: 'yaml-syntax',
  flow: 'yaml-flow-collection',
  tag: 'yaml-tag',
  anchor: 'yaml-anchor',
  duplicate: 'yaml-duplicate-key',
  indentation: 'yaml-indentation',
  crash: 'reference-crash',
}

const allowedFields = [
  'allowed-tools',
  'compatibility',
  'description',
  'license',
  'metadata',
  'name',
]

function checkFields(fields: readonly StrictField[], directoryName: string | undefined) {
  const unknownFields = fields.filter(({ name }) => !allowedFields.includes(name))
  const names = unknownFields.map(({ name }) => name).toSorted(compareText)
  const list = allowedFields.map((name) => `'${name}'`).join(', ')
  const message = `Unexpected fields in frontmatter: ${names.join(', ')}. Only [${list}] are allowed.`
  const fieldOf = (name: string) => fields.find((field) => field.name === name)
  return [
    ...unknownFields
      .slice(0, 1)
      .map(({ mark }) => ({ code: 'unknown-field', message, mark }) as const),
    ...checkName(fieldOf('name'), directoryName),
    ...checkDescription(fieldOf('description')),
    ...checkCompatibility(fieldOf('compatibility')),
  ]
}

function checkName(field: StrictField | undefined, directoryName: string | undefined): Complaint[] {
  if (!field) {
    return [{ code: 'name-missing', message: 'Missing required field in frontmatter: name' }]
  }
  const { mark } = field
  const text = pythonStrip(field.text ?? '')
  if (text === '') {
    return [{ code: 'name-empty', message: "Field 'name' must be a non-empty string", mark }]
  }
  const name = pythonNfkc(text)
  const complaints: Complaint[] = []
  const report = (isWrong: boolean, code: RuleCode, message: string) => {
    if (isWrong) complaints.push({ code, message, mark })
  }
  const length = pythonLength(name)
  const long = `Skill name '${name}' exceeds 64 character limit (${length} chars)`
  report(length > 64, 'name-too-long', long)
  report(!isPythonLower(name), 'name-uppercase', `Skill name '${name}' must be lowercase`)
  const atEdge = name.startsWith('-') || name.endsWith('-')
  report(atEdge, 'name-hyphen-edge', 'Skill name cannot start or end with a hyphen')
  const double = 'Skill name cannot contain consecutive hyphens'
  report(name.includes('--'), 'name-hyphen-double', double)
  const characters = `Skill name '${name}' contains invalid characters. Only letters, digits, and hyphens are allowed.`
  report(!isPythonName(name), 'name-characters', characters)
  const isElsewhere = directoryName !== undefined && pythonNfkc(directoryName) !== name
  const mismatch = `Directory name '${directoryName}' must match skill name '${name}'`
  report(isElsewhere, 'name-directory-mismatch', mismatch)
  return complaints
}

function checkDescription(field: StrictField | undefined): Complaint[] {
  if (!field) {
    const message = 'Missing required field in frontmatter: description'
    return [{ code: 'description-missing', message }]
  }
  const { mark, text = '' } = field
  if (pythonStrip(text) !== '') return tooLong('description', text, 1024, mark)
  const message = "Field 'description' must be a non-empty string"
  return [{ code: 'description-empty', message, mark }]
}

function checkCompatibility(field: StrictField | undefined): Complaint[] {
  if (!field) return []
  const { mark, text } = field
  if (text === undefined) {
    return [{ code: 'compatibility-type', message: "Field 'compatibility' must be a string", mark }]
  }
  return tooLong('compatibility', text, 500, mark)
}

function tooLong(
  name: 'description' | 'compatibility',
  text: string,
  limit: number,
  mark: Mark,
): Complaint[] {
  const length = pythonLength(text)
  const title = name.replace(/^./, (letter) => letter.toUpperCase())
  const message = `${title} exceeds ${limit} character limit (${length} chars)`
  return length > limit ? [{ code: `${name}-too-long`, message, mark }] : []
}

// Strings as Python 3.11, which runs the reference validator, sees them: Unicode 14, its own set of
// blanks, lengths in code points.

/**
 * Letters, digits and compatibility forms added after Unicode 14; Python treats them as unassigned.
 */
const laterCharacters =
  /[\u088f\u0c5c\u0cdc\u1c89\u1c8a\ua7cb-\ua7cf\ua7d2\ua7d4\ua7da-\ua7f1\u{105c0}-\u{105f3}\u{10940}-\u{10959}\u{10d40}-\u{10d85}\u{10ec2}-\u{10ec7}\u{1123f}-\u{11240}\u{11380}-\u{113d3}\u{116d0}-\u{116e3}\u{11bc0}-\u{11bf9}\u{11db0}-\u{11de9}\u{11f02}-\u{11f59}\u{1342f}\u{13441}-\u{143fa}\u{16100}-\u{16139}\u{16d40}-\u{16d79}\u{16ea0}-\u{16ed3}\u{16ff2}-\u{16ff6}\u{187f8}-\u{187ff}\u{18cff}\u{18d09}-\u{18df2}\u{1b132}\u{1b155}\u{1ccd6}-\u{1ccf9}\u{1d2c0}-\u{1d2d3}\u{1df25}-\u{1df2a}\u{1e030}-\u{1e06d}\u{1e4d0}-\u{1e6ff}\u{2b739}-\u{2b73f}\u{2cea2}-\u{2cead}\u{2ebf0}-\u{2ee5d}\u{31350}-\u{33479}]/u
const earlierRuns = new RegExp(`(?:(?!${laterCharacters.source})[^])+`, 'gu')

const blank = /[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/

/** `str.strip()` */
export function pythonStrip(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && blank.test(text.charAt(start))) start++
  while (end > start && blank.test(text.charAt(end - 1))) end--
  return text.slice(start, end)
}

/** `len()`: each surrogate that has no partner counts as one. */
export function pythonLength(text: string): number {
  return Array.from(text).length
}

/** `unicodedata.normalize('NFKC', …)` */
export function pythonNfkc(text: string): string {
  return text.replace(earlierRuns, (part) => part.normalize('NFKC'))
}

/** Whether `str.lower()` changes nothing. */
export function isPythonLower(text: string): boolean {
  return Array.from(text).every(
    (character) => character === character.toLowerCase() || laterCharacters.test(character),
  )
}

/** Whether every character is a hyphen or alphanumeric by `str.isalnum()`. */
export function isPythonName(text: string): boolean {
  return /^[\p{L}\p{N}-]*$/u.test(text) && !laterCharacters.test(text)
}
