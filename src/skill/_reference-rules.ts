import { compareText } from '../base/index.ts'
import {
  isPythonLower,
  isPythonName,
  pythonLength,
  pythonNfkc,
  pythonStrip,
} from './_python-text.ts'
import type { FieldRule } from './_rules-fields.ts'
import type { referenceRules } from './_rules-reference.ts'
import type { Mark } from './strictyaml/cursor.ts'
import type { StrictField } from './strictyaml/tree.ts'

/** One complaint of the reference validator, with the text it prints. */
export interface ReferenceFinding {
  code: FieldRule | keyof typeof referenceRules
  message: string
  mark: Mark | undefined
}

const allowed = ['allowed-tools', 'compatibility', 'description', 'license', 'metadata', 'name']

/** What the reference validator says about the fields, in its order. */
export function checkReferenceFields(
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
