import type { Diagnostic } from '../base/index.ts'
import { parseSkill, type SkillFields } from '../skill/index.ts'
import { type FileIdentity, longestHead, readHead, usualHead } from './_read-head.ts'
import { encodeFields } from './_fields-codec.ts'
import { skillName } from './_skill-name.ts'
import { selfReferences } from './self-reference.ts'

/** What the head of a `SKILL.md` says. */
export interface Metadata {
  /** Undefined where the file could not be read. */
  identity: FileIdentity | undefined
  /** Undefined where the skill cannot be used. */
  head: SkillHead | undefined
  bodyTokens: number
  /** With `path` as given to {@link readMetadata}. */
  diagnostics: readonly Diagnostic[]
}

/** What every list needs of the fields; the others are kept as text until they are asked for. */
export interface SkillHead {
  name: string
  description: string
  /** Whether skills inside this one count: the steps of a chain. */
  isChain: boolean
  /** For `decodeFields`. */
  fields: string
}

/** Reads as little of the file as its frontmatter needs. Never throws. */
export function readMetadata(path: string): Metadata {
  const usual = readPart(path, usualHead)
  return usual ?? readPart(path, longestHead) ?? unreadable
}

const unreadable: Metadata = {
  identity: undefined,
  head: undefined,
  bodyTokens: 0,
  diagnostics: [],
}

/** Undefined when the frontmatter may go on after what was read. */
function readPart(path: string, bytes: number): Metadata | undefined {
  const head = readHead(path, bytes)
  if (!head.ok) {
    const { code, message } = head
    const diagnostic: Diagnostic = { code, severity: 'error', message: `the file ${message}`, path }
    return { ...unreadable, diagnostics: [diagnostic] }
  }
  const { identity, text, length, unfinished } = head
  const { skill, diagnostics } = parseSkill(text, { path })
  if (skill === undefined) {
    if (unfinished && bytes < longestHead) return undefined
    const findings = unfinished ? [endless(path)] : diagnostics
    return { identity, head: undefined, bodyTokens: 0, diagnostics: findings }
  }
  const { name, diagnostics: nameFindings } = skillName(skill.fields.name, path)
  return {
    identity,
    head: headOf(name, skill.fields),
    // Bytes, not characters: the body has not been read. They are the same for ASCII text.
    bodyTokens: Math.ceil((identity.size - length) / 4),
    diagnostics: joined(diagnostics, nameFindings, selfReferences(skill.fields, path)),
  }
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

function headOf(name: string, fields: SkillFields): SkillHead {
  const description = detached(fields.description ?? '')
  const isChain = fields.chain !== undefined
  return { name, description, isChain, fields: encodeFields(fields, { name, description }) }
}

/** A copy: a piece of a longer text would keep all of that text in memory. */
function detached(text: string): string {
  return Buffer.from(text).toString()
}

function joined(...lists: readonly (readonly Diagnostic[])[]): readonly Diagnostic[] {
  return lists.every((list) => list.length === 0) ? none : lists.flat()
}

const none: readonly never[] = Object.freeze([])
