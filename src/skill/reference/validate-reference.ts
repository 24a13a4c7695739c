import { isUtf8 } from 'node:buffer'
import { compareText, type Diagnostic } from '../../core/diagnostic.ts'
import { type RuleCode, referenceSource } from '../rules.ts'
import { type Mark, StrictFailure, type StrictFailureKind } from './cursor.ts'
import { fieldsOf, parseStrictDocument, type StrictField } from './parser.ts'

interface ReferenceOptions {
  path: string
  /** The last part of the directory's path; undefined leaves out the rule that compares it. */
  directoryName: string | undefined
}

interface ReferenceVerdict {
  name: string | undefined
  diagnostics: Diagnostic[]
}

const yamlCodes: Readonly<Record<StrictFailureKind, string>> = {
  syntax: 'yaml-syntax',
  flow: 'yaml-flow-collection',
  tag: 'yaml-tag',
  anchor: 'yaml-anchor',
  duplicate: 'yaml-duplicate-key',
  indentation: 'yaml-indentation',
  crash: 'reference-crash',
}

/**
 * The verdict of the reference validator `skills-ref`, which is the same on every input, in its own
 * words. An input on which it ends with an exception is invalid.
 */
export function validateReference(
  content: string | Uint8Array,
  options: ReferenceOptions,
): ReferenceVerdict {
  const frontmatter = typeof content === 'string' ? sliceText(content) : sliceBytes(content)
  if (!frontmatter.ok) {
    const { code, message } = frontmatter
    return { name: undefined, diagnostics: [diagnostic(options, code, message, origin)] }
  }
  const fields = readFields(frontmatter.raw)
  if (!Array.isArray(fields)) {
    const { code, message, mark } = fields
    return { name: undefined, diagnostics: [diagnostic(options, code, message, mark)] }
  }
  return {
    name: fields.find(({ name }) => name === 'name')?.text,
    diagnostics: checkReferenceFields(fields, options.directoryName).map(
      ({ code, message, mark }) => diagnostic(options, code, message, mark),
    ),
  }
}

const origin: Mark = { line: 0, column: -3 }

interface Refusal {
  code: string
  message: string
  mark: Mark
}

function readFields(raw: string): StrictField[] | Refusal {
  try {
    const fields = readReferenceFields(raw)
    if (fields !== undefined) return fields
    const message = 'SKILL.md frontmatter must be a YAML mapping'
    return { code: 'frontmatter-not-mapping', message, mark: { line: 1, column: 0 } }
  } catch (error) {
    if (!(error instanceof StrictFailure)) throw error
    const { kind, mark } = error
    const prefix =
      kind === 'crash' ? 'the reference validator fails' : 'Invalid YAML in frontmatter'
    return { code: yamlCodes[kind], message: `${prefix}: ${error.message}`, mark }
  }
}

/** What stands between the first two `---`, wherever they are; CRLF and CR are turned into LF. */
type FrontmatterSlice = { ok: true; raw: string } | { ok: false; code: string; message: string }

const missing: FrontmatterSlice = {
  ok: false,
  code: 'frontmatter-missing',
  message: 'SKILL.md must start with YAML frontmatter (---)',
}
const unclosed: FrontmatterSlice = {
  ok: false,
  code: 'frontmatter-unclosed',
  message: 'SKILL.md frontmatter not properly closed with ---',
}
const undecodable: FrontmatterSlice = {
  ok: false,
  code: 'reference-crash',
  message: 'the reference validator fails: the file is not UTF-8 text',
}

function sliceText(text: string): FrontmatterSlice {
  if (!text.startsWith('---')) return missing
  const end = text.indexOf('---', 3)
  return end === -1 ? unclosed : sliced(text.slice(3, end))
}

/** The body is not decoded, only checked: decoding it would cost more than everything else. */
function sliceBytes(bytes: Uint8Array): FrontmatterSlice {
  if (!isUtf8(bytes)) return undecodable
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (buffer.indexOf('---') !== 0) return missing
  const end = buffer.indexOf('---', 3)
  return end === -1 ? unclosed : sliced(buffer.toString('utf8', 3, end))
}

function sliced(raw: string): FrontmatterSlice {
  return { ok: true, raw: raw.includes('\r') ? raw.replaceAll(/\r\n?/g, '\n') : raw }
}

/** `mark` counts from 0 and from behind the opening `---`. */
function diagnostic(
  { path }: ReferenceOptions,
  code: string,
  message: string,
  mark: Mark | undefined,
): Diagnostic {
  const line = mark === undefined ? undefined : mark.line + 1
  const column = mark === undefined ? undefined : mark.column + (mark.line === 0 ? 4 : 1)
  return { code, severity: 'error', message, path, line, column, source: referenceSource }
}

/**
 * The fields of a frontmatter as the reference validator reads them; undefined where it is no
 * mapping. `raw` is what stands between the first two `---` of the file. Throws a
 * {@link StrictFailure}, whose position counts from 0 and from the beginning of `raw`.
 */
export function readReferenceFields(raw: string): StrictField[] | undefined {
  return fieldsOf(parseStrictDocument(raw))
}

/** One complaint of the reference validator, with the text it prints. */
interface ReferenceFinding {
  code: RuleCode
  message: string
  mark: Mark | undefined
}

const allowed = ['allowed-tools', 'compatibility', 'description', 'license', 'metadata', 'name']

/** What the reference validator says about the fields, in its order. */
function checkReferenceFields(
  fields: readonly StrictField[],
  directoryName: string | undefined,
): ReferenceFinding[] {
  const named = (name: string): StrictField | undefined =>
    fields.find((field) => field.name === name)
  return [
    ...checkUnknown(fields),
    ...checkName(named('name'), directoryName),
    ...checkDescription(named('description')),
    ...checkCompatibility(named('compatibility')),
  ]
}

function checkUnknown(fields: readonly StrictField[]): ReferenceFinding[] {
  const unknown = fields.filter(({ name }) => !allowed.includes(name))
  if (unknown.length === 0) return []
  const names = unknown.map(({ name }) => name).toSorted(compareText)
  const list = allowed.map((name) => `'${name}'`).join(', ')
  const message = `Unexpected fields in frontmatter: ${names.join(', ')}. Only [${list}] are allowed.`
  return [{ code: 'unknown-field', message, mark: unknown[0]?.mark }]
}

function checkName(
  field: StrictField | undefined,
  directoryName: string | undefined,
): ReferenceFinding[] {
  if (field === undefined) {
    const message = 'Missing required field in frontmatter: name'
    return [{ code: 'name-missing', message, mark: undefined }]
  }
  const { mark } = field
  const stripped = pythonStrip(field.text ?? '')
  if (stripped === '') {
    return [{ code: 'name-empty', message: "Field 'name' must be a non-empty string", mark }]
  }
  const name = pythonNfkc(stripped)
  const found: ReferenceFinding[] = []
  const report = (code: ReferenceFinding['code'], message: string): void => {
    found.push({ code, message, mark })
  }
  const length = lengthAbove(name, 64)
  if (length !== undefined) {
    report('name-too-long', `Skill name '${name}' exceeds 64 character limit (${length} chars)`)
  }
  if (!isPythonLower(name)) report('name-uppercase', `Skill name '${name}' must be lowercase`)
  if (name.startsWith('-') || name.endsWith('-')) {
    report('name-hyphen-edge', 'Skill name cannot start or end with a hyphen')
  }
  if (name.includes('--')) {
    report('name-hyphen-double', 'Skill name cannot contain consecutive hyphens')
  }
  if (!isPythonName(name)) {
    report(
      'name-characters',
      `Skill name '${name}' contains invalid characters. Only letters, digits, and hyphens are allowed.`,
    )
  }
  if (directoryName !== undefined && pythonNfkc(directoryName) !== name) {
    report(
      'name-directory-mismatch',
      `Directory name '${directoryName}' must match skill name '${name}'`,
    )
  }
  return found
}

function checkDescription(field: StrictField | undefined): ReferenceFinding[] {
  if (field === undefined) {
    const message = 'Missing required field in frontmatter: description'
    return [{ code: 'description-missing', message, mark: undefined }]
  }
  const { mark, text = '' } = field
  if (pythonStrip(text) === '') {
    const message = "Field 'description' must be a non-empty string"
    return [{ code: 'description-empty', message, mark }]
  }
  const length = lengthAbove(text, 1024)
  if (length === undefined) return []
  const message = `Description exceeds 1024 character limit (${length} chars)`
  return [{ code: 'description-too-long', message, mark }]
}

function checkCompatibility(field: StrictField | undefined): ReferenceFinding[] {
  if (field === undefined) return []
  const { mark, text } = field
  if (text === undefined) {
    return [{ code: 'compatibility-type', message: "Field 'compatibility' must be a string", mark }]
  }
  const length = lengthAbove(text, 500)
  if (length === undefined) return []
  const message = `Compatibility exceeds 500 character limit (${length} chars)`
  return [{ code: 'compatibility-too-long', message, mark }]
}

/** The length in code points where it exceeds the limit. */
function lengthAbove(text: string, limit: number): number | undefined {
  if (text.length <= limit) return undefined
  const length = pythonLength(text)
  return length > limit ? length : undefined
}

/**
 * Strings as Python 3.11, which runs the reference validator, sees them: Unicode 14, its own set of
 * blanks, lengths in code points.
 */

/** Letters, digits and compatibility forms that came after Unicode 14; to Python they are unassigned. */
const laterCharacters =
  /[\u088f\u0c5c\u0cdc\u1c89\u1c8a\ua7cb-\ua7cf\ua7d2\ua7d4\ua7da-\ua7f1\u{105c0}-\u{105f3}\u{10940}-\u{10959}\u{10d40}-\u{10d85}\u{10ec2}-\u{10ec7}\u{1123f}-\u{11240}\u{11380}-\u{113d3}\u{116d0}-\u{116e3}\u{11bc0}-\u{11bf9}\u{11db0}-\u{11de9}\u{11f02}-\u{11f59}\u{1342f}\u{13441}-\u{143fa}\u{16100}-\u{16139}\u{16d40}-\u{16d79}\u{16ea0}-\u{16ed3}\u{16ff2}-\u{16ff6}\u{187f8}-\u{187ff}\u{18cff}\u{18d09}-\u{18df2}\u{1b132}\u{1b155}\u{1ccd6}-\u{1ccf9}\u{1d2c0}-\u{1d2d3}\u{1df25}-\u{1df2a}\u{1e030}-\u{1e06d}\u{1e4d0}-\u{1e6ff}\u{2b739}-\u{2b73f}\u{2cea2}-\u{2cead}\u{2ebf0}-\u{2ee5d}\u{31350}-\u{33479}]/u
const laterRuns = new RegExp(`(${laterCharacters.source})`, 'u')

const blank = /[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/

/** `str.strip()` */
export function pythonStrip(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && blank.test(text.charAt(start))) start++
  while (end > start && blank.test(text.charAt(end - 1))) end--
  return text.slice(start, end)
}

/** `len()` */
export function pythonLength(text: string): number {
  let length = text.length
  for (let at = 0; at < text.length; at++) {
    if (text.charCodeAt(at) < 0xd800) continue
    if ((text.codePointAt(at) ?? 0) > 0xffff) {
      length--
      at++
    }
  }
  return length
}

/** `unicodedata.normalize('NFKC', …)` */
export function pythonNfkc(text: string): string {
  if (isAscii(text)) return text
  if (!laterCharacters.test(text)) return text.normalize('NFKC')
  return text
    .split(laterRuns)
    .map((part, index) => (index % 2 === 0 ? part.normalize('NFKC') : part))
    .join('')
}

/** Whether `str.lower()` would change nothing. */
export function isPythonLower(text: string): boolean {
  if (isAscii(text)) return !/[A-Z]/.test(text)
  for (const character of text) {
    if (character !== character.toLowerCase() && !laterCharacters.test(character)) return false
  }
  return true
}

/** Whether every character is a hyphen or alphanumeric by `str.isalnum()`. */
export function isPythonName(text: string): boolean {
  if (isAscii(text)) return /^[A-Za-z0-9-]*$/.test(text)
  return /^[\p{L}\p{N}-]*$/u.test(text) && !laterCharacters.test(text)
}

function isAscii(text: string): boolean {
  return !/[^\x00-\x7f]/.test(text)
}
