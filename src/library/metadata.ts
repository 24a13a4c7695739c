import { basename, dirname, posix } from 'node:path'
import type { Diagnostic } from '../core/diagnostic.ts'
import { readRegularFile } from '../core/read-files.ts'
import { parseSkill } from '../skill/parse.ts'
import type { SkillFields } from '../skill/model.ts'
import { maxSkillBytes } from './model.ts'

/** What the head of a `SKILL.md` says: plain JSON, so that a cache can keep it. */
export interface Metadata {
  /** Undefined where the file could not be read. */
  identity?: FileIdentity | undefined
  head?: SkillHead | undefined
  bodyTokens: number
  /** With `path` as given to {@link readMetadata}. */
  diagnostics: readonly Diagnostic[]
}

interface SkillHead {
  /** The name by which the skill is known; that in `fields` is the one that is written. */
  name: string
  description: string
  fields: Partial<SkillFields>
}

const none: readonly never[] = Object.freeze([])
const noMetadata: Record<string, string> = Object.create(null)

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
  const metadata: Record<string, string> = Object.assign(Object.create(null), fields.metadata)
  return { ...noFields, ...fields, description, metadata }
}

export function readMetadata(path: string): Metadata {
  const reading = readRegularFile(path, { maxBytes: maxSkillBytes, binary: true })
  if (!reading.ok) {
    // The message begins with the path.
    const message = `the file${reading.message.slice(path.length)}`
    return {
      bodyTokens: 0,
      diagnostics: [{ code: reading.code, severity: 'error', message, path }],
    }
  }
  const { bytes, size, mtimeMs, ctimeMs, ino } = reading
  const identity = { size, mtimeMs, ctimeMs, ino }
  const { skill, diagnostics } = parseSkill(bytes, { path })
  if (skill === undefined) return { identity, bodyTokens: 0, diagnostics }
  const { fields, bodyLine } = skill
  const { description = '', ...others } = fields
  const { name, diagnostics: nameFindings } = skillName(fields.name, path)
  const findings = [...diagnostics, ...nameFindings, ...selfReferences(fields, path)]
  let start = 0
  for (let line = 1; line < bodyLine; line++) start = bytes.indexOf(10, start) + 1 || size
  return {
    identity,
    // A copy: a piece of a longer text would keep all of that text in memory.
    head: JSON.parse(JSON.stringify({ name, description, fields: others })),
    bodyTokens: Math.ceil((size - start) / 4),
    diagnostics: findings.length === 0 ? none : findings,
  }
}

/** The name that the skill gives itself, unless it could be taken for a path; else that of its directory. */
function skillName(written: string | undefined, path: string) {
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

export interface FileIdentity {
  size: number
  mtimeMs: number
  ctimeMs: number
  ino: number
}

/** Where a chain names its own skill, which is listed, and refused when it is to be used. */
export function selfReferences(fields: SkillFields, path: string): Diagnostic[] {
  if (fields.chain === undefined && fields.triggers.length === 0) return []
  const own = new Set([fields.name, basename(dirname(path))])
  const steps = (fields.chain?.steps ?? []).filter(({ name }) => own.has(name))
  const finding = { code: selfReferenceCode, severity: 'error', path } as const
  return steps.map(({ name, line }) => {
    const message = `the chain names its own skill, ${name}`
    return { ...finding, message, line, hint: 'Take it out of `chain`.' }
  })
}

/** Whether a path, relative to a skill, leads to the `SKILL.md` of that skill. */
export function isOwnSkillFile(path: string): boolean {
  return /^skill\.md$/i.test(posix.normalize(path))
}

export const selfReferenceCode = 'skill-refers-to-itself'
