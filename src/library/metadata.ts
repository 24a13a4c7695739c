import { isUtf8 } from 'node:buffer'
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { basename, dirname, posix } from 'node:path'
import type { Diagnostic } from '../core/diagnostic.ts'
import { messageOf, systemCode } from '../core/errors.ts'
import { parseSkill } from '../skill/parse.ts'
import type { SkillFields } from '../skill/model.ts'

/** What the head of a `SKILL.md` says: plain JSON, so that a cache can keep it. */
export interface Metadata {
  /** Undefined where the file could not be read. */
  identity?: FileIdentity | undefined
  /** Undefined where the skill cannot be used. */
  head?: SkillHead | undefined
  bodyTokens: number
  /** With `path` as given to {@link readMetadata}. */
  diagnostics: readonly Diagnostic[]
}

interface SkillHead {
  /** The name by which the skill is known; that in `fields` is the one that is written. */
  name: string
  description: string
  /** Only what differs from {@link noFields}. */
  fields: Partial<SkillFields>
}

const none: readonly never[] = Object.freeze([])
const noMetadata: Record<string, string> = Object.create(null)

/** A frontmatter in which nothing is set. Shared: ten thousand skills keep one empty list. */
export const noFields: SkillFields = Object.freeze({
  name: undefined,
  description: undefined,
  license: undefined,
  compatibility: undefined,
  metadata: Object.freeze(noMetadata),
  allowedTools: undefined,
  triggers: none,
  chain: undefined,
  run: undefined,
  model: undefined,
  context: undefined,
  agent: undefined,
  disableModelInvocation: false,
  userInvocable: true,
  argumentHint: undefined,
  arguments: none,
  hooks: undefined,
})

/** All fields of a skill, without a prototype where keys are the author's. */
export function fieldsOf({ description, fields }: SkillHead): SkillFields {
  if (fields.metadata === undefined) return { ...noFields, ...fields, description }
  const bare: Record<string, string> = Object.create(null)
  return { ...noFields, ...fields, description, metadata: Object.assign(bare, fields.metadata) }
}

/** Reads as little of the file as its frontmatter needs. Never throws. */
export function readMetadata(path: string): Metadata {
  return (
    readPart(path, usualHead) ?? readPart(path, longestHead) ?? { bodyTokens: 0, diagnostics: none }
  )
}

/** Undefined when the frontmatter may continue after what was read. */
function readPart(path: string, bytes: number): Metadata | undefined {
  const head = readHead(path, bytes)
  if (!head.ok) {
    const { code, message } = head
    const diagnostic: Diagnostic = { code, severity: 'error', message: `the file ${message}`, path }
    return { bodyTokens: 0, diagnostics: [diagnostic] }
  }
  const { identity, text, length, unfinished } = head
  const { skill, diagnostics } = parseSkill(text, { path })
  if (skill === undefined) {
    if (unfinished && bytes < longestHead) return undefined
    return { identity, bodyTokens: 0, diagnostics: unfinished ? [endless(path)] : diagnostics }
  }
  const { fields } = skill
  const { name, diagnostics: nameFindings } = skillName(fields.name, path)
  const findings = [...diagnostics, ...nameFindings, ...selfReferences(fields, path)]
  return {
    identity,
    head: detached({ name, description: fields.description ?? '', fields: setFields(fields) }),
    // Bytes, not characters: the body has not been read. They are the same for ASCII text.
    bodyTokens: Math.ceil((identity.size - length) / 4),
    diagnostics: findings.length === 0 ? none : findings,
  }
}

/** A copy: a piece of a longer text would keep all of that text in memory. */
function detached(head: SkillHead): SkillHead {
  return JSON.parse(JSON.stringify(head))
}

/** Without what is not set and what {@link fieldsOf} knows. */
function setFields(fields: SkillFields): Partial<SkillFields> {
  const { description: _description, ...others } = fields
  const defaults: Readonly<Record<string, unknown>> = { ...noFields }
  return Object.fromEntries(
    Object.entries(others).filter(
      ([name, value]) => value !== undefined && !isDefault(value, defaults[name]),
    ),
  )
}

function isDefault(value: unknown, absent: unknown): boolean {
  if (typeof absent !== 'object') return value === absent
  return value !== null && typeof value === 'object' && Object.keys(value).length === 0
}

function endless(path: string): Diagnostic {
  return {
    code: 'frontmatter-too-large',
    severity: 'error',
    message: 'the frontmatter does not end within 64 KiB',
    path,
    hint: 'Close it with a line `---`, and move long material behind it.',
  }
}

interface SkillName {
  name: string
  diagnostics: readonly Diagnostic[]
}

/**
 * The name by which a skill is known: the one it gives itself, even where that breaks the rules,
 * unless it could be taken for a path. Then, and where there is none, it is the directory's.
 */
function skillName(written: string | undefined, path: string): SkillName {
  const directory = basename(dirname(path))
  const name = written?.trim()
  if (name === undefined || name === '') {
    const message = `the skill has no name; it is known by that of its directory, ${directory}`
    return { name: directory, diagnostics: [warning('name-missing', path, message)] }
  }
  if (/[\\/\p{Cc}]/u.test(name) || name === '.' || name === '..') {
    const message = `the name ${JSON.stringify(name)} could be taken for a path; the skill is known by that of its directory, ${directory}`
    return { name: directory, diagnostics: [warning('name-unusable', path, message)] }
  }
  if (name === directory) return { name, diagnostics: none }
  const message = `the skill is named ${name} and its directory ${directory}; some clients go by one, some by the other`
  return { name, diagnostics: [warning('name-directory-mismatch', path, message)] }
}

function warning(code: string, path: string, message: string): Diagnostic {
  const hint = 'Give the skill and its directory the same name, of a-z, 0-9 and hyphens.'
  return { code, severity: 'warning', message, path, hint }
}

/** What tells whether a file changed. */
export interface FileIdentity {
  size: number
  mtimeMs: number
  ctimeMs: number
  ino: number
}

type HeadReading =
  | {
      ok: true
      identity: FileIdentity
      /** The file up to the end of its frontmatter, or as much as was read where that is not in it. */
      text: string
      /** Bytes of `text`. */
      length: number
      /** Whether the rest of the file could hold the end of the frontmatter. */
      unfinished: boolean
    }
  | { ok: false; code: HeadProblem; message: string }

type HeadProblem = 'file-missing' | 'file-unreadable' | 'file-not-regular' | 'file-not-utf8'

/** Of 956 published skills none had a frontmatter that ended after 1.4 KB. */
const usualHead = 4096
/** The longest frontmatter that is accepted (64 KiB), with its delimiters. */
const longestHead = 68 * 1024

/**
 * The first `bytes` of a text file with one open and one read: listing thousands of skills is
 * bound by system calls. Waits for nothing and never throws.
 */
function readHead(path: string, bytes: number): HeadReading {
  let descriptor: number
  try {
    descriptor = openSync(path, openFlags)
  } catch (error) {
    return openingFailed(error)
  }
  try {
    return readOpened(descriptor, bytes)
  } catch (error) {
    return { ok: false, code: 'file-unreadable', message: `cannot be read: ${messageOf(error)}` }
  } finally {
    closeSync(descriptor)
  }
}

// Opening a named pipe for reading would wait for a writer. The flag does not exist on Windows.
const openFlags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)

let buffer = Buffer.allocUnsafeSlow(usualHead)

function readOpened(descriptor: number, bytes: number): HeadReading {
  const stats = fstatSync(descriptor)
  if (!stats.isFile()) {
    const kind = stats.isDirectory() ? 'a directory' : stats.isFIFO() ? 'a named pipe' : 'no file'
    return { ok: false, code: 'file-not-regular', message: `is ${kind}, not a regular file` }
  }
  if (buffer.length < bytes) buffer = Buffer.allocUnsafeSlow(bytes)
  const count = readSync(descriptor, buffer, 0, bytes, 0)
  const end = frontmatterEnd(buffer.subarray(0, count))
  const isWhole = end !== undefined || count >= stats.size
  const head = buffer.subarray(0, end ?? (isWhole ? count : characterEnd(buffer, count)))
  if (!isUtf8(head)) return { ok: false, code: 'file-not-utf8', message: 'is not UTF-8 text' }
  const { size, mtimeMs, ctimeMs, ino } = stats
  return {
    ok: true,
    identity: { size, mtimeMs, ctimeMs, ino },
    // The body is left out: a piece of a string keeps all of it in memory.
    text: head.toString(),
    length: head.length,
    unfinished: !isWhole,
  }
}

/** The offset behind the first line after the first that is `---`, as `splitFrontmatter` has it. */
function frontmatterEnd(bytes: Buffer): number | undefined {
  for (let at = bytes.indexOf('\n---'); at !== -1; at = bytes.indexOf('\n---', at + 1)) {
    let end = at + 4
    while (bytes[end] === 0x20 || bytes[end] === 0x09 || bytes[end] === 0x0d) end++
    if (bytes[end] === 0x0a) return end + 1
  }
  return undefined
}

/** The end of the last character that is not cut in two, at most three bytes before `count`. */
function characterEnd(bytes: Buffer, count: number): number {
  for (let start = count - 1; start >= Math.max(0, count - 4); start--) {
    const byte = bytes[start] ?? 0
    if (byte < 0x80) return count
    if (byte < 0xc0) continue
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2
    return start + length > count ? start : count
  }
  return count
}

function openingFailed(error: unknown): HeadReading {
  const code = systemCode(error)
  if (code === 'ENOENT' || code === 'ENOTDIR') {
    return { ok: false, code: 'file-missing', message: 'does not exist' }
  }
  if (code === 'ENXIO' || code === 'EISDIR') {
    return { ok: false, code: 'file-not-regular', message: 'is not a regular file' }
  }
  if (code === 'ELOOP') {
    return { ok: false, code: 'file-unreadable', message: 'is a symbolic link in a circle' }
  }
  return { ok: false, code: 'file-unreadable', message: `cannot be read: ${messageOf(error)}` }
}

/**
 * Where a skill leads back to itself: a chain that names its own skill, or a trigger that injects
 * the `SKILL.md` it stands in. Such a skill is listed, and refused when it is to be used.
 */
export function selfReferences(fields: SkillFields, path: string): Diagnostic[] {
  if (fields.chain === undefined && fields.triggers.length === 0) return []
  const own = new Set([fields.name, basename(dirname(path))])
  const steps = (fields.chain?.steps ?? []).filter(({ name }) => own.has(name))
  const triggers = fields.triggers.filter(({ inject }) => isOwnSkillFile(inject))
  return [
    ...steps.map(({ name, line }) =>
      selfReference(
        path,
        line,
        `the chain names its own skill, ${name}`,
        'Take it out of `chain`.',
      ),
    ),
    ...triggers.map(({ inject, line }) =>
      selfReference(
        path,
        line,
        `a trigger injects ${inject}, which is this file itself`,
        'Move what it shall inject to a file in `references`.',
      ),
    ),
  ]
}

/** Whether a path, relative to a skill, leads to the `SKILL.md` of that skill. */
export function isOwnSkillFile(path: string): boolean {
  return /^skill\.md$/i.test(posix.normalize(path))
}

function selfReference(path: string, line: number, message: string, hint: string): Diagnostic {
  return { code: selfReferenceCode, severity: 'error', message, path, line, hint }
}

export const selfReferenceCode = 'skill-refers-to-itself'
