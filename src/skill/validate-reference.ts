import { isUtf8 } from 'node:buffer'
import type { Diagnostic } from '../base/index.ts'
import { readReferenceFields } from './_reference-fields.ts'
import { checkReferenceFields } from './_reference-rules.ts'
import { referenceSource } from './_rules-reference.ts'
import { type Mark, StrictFailure, type StrictFailureKind } from './strictyaml/cursor.ts'
import type { StrictField } from './strictyaml/tree.ts'

export interface ReferenceOptions {
  path: string
  /** The last part of the directory's path; undefined leaves out the rule that compares it. */
  directoryName: string | undefined
}

export interface ReferenceVerdict {
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
