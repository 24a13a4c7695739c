import { checkArgument, checkOptions, type OptionOwner, required, rule } from '#core/api-options'
import { isUtf8 } from 'node:buffer'
import { type Diagnostic, hasErrors } from '#core/errors'
import { commentsInValues, readAuthoredYaml } from './authored-yaml.ts'
import { metadataFields } from './field-table.ts'
import { readFields } from './fields.ts'
import { splitFrontmatter } from './frontmatter.ts'
import type { SkillReading } from './model.ts'
import { valuesOf } from './read-yaml.ts'
import { finding, type Position, type RuleCode } from './rules.ts'

const parseOptions: OptionOwner<{ path: string }> = {
  of: 'parseSkill',
  rules: { path: required(rule.text) },
}

const longestSkill: number = 1024 * 1024

/**
 * Reads a `SKILL.md`, as leniently as the client guide asks: a wrong name still loads, a missing
 * description does not. `skill` is undefined if the file cannot be used; the diagnostics say why
 * and list invalid fields. No content of the file makes it throw.
 *
 * @throws {UsageError} for an argument of a wrong kind.
 *
 * @example
 * const content = '---\nname: a\ndescription: Does a.\n---\n'
 * const { skill, diagnostics } = parseSkill(content, { path: 'a/SKILL.md' })
 */
export function parseSkill(content: string | Uint8Array, options: { path: string }): SkillReading {
  checkArgument(content, 'The content of the skill', rule.content)
  checkOptions(options, parseOptions)
  const reading = readFrontmatter(content, options.path)
  if (!reading.ok) return { skill: undefined, diagnostics: reading.diagnostics }
  const { root, split } = reading
  const { path } = options
  const { fields, diagnostics: fieldDiagnostics } = readFields(root, { path })
  const diagnostics = [...reading.diagnostics, ...fieldDiagnostics]
  if (fields.description === undefined) {
    const at = valuesOf(root).get('description') ?? root
    const message = 'The skill has no usable `description`, so it cannot be offered to a model.'
    const hint = 'Add `description:` with what the skill does and when to use it.'
    diagnostics.push(finding('description-missing', path, at, message, hint))
    return { skill: undefined, diagnostics }
  }
  const { body, bodyLine } = split
  return { skill: { path, fields, frontmatter: root, body: body.trim(), bodyLine }, diagnostics }
}

/** Reads the frontmatter of a file as a tree, or returns diagnostics. */
export function readFrontmatter(content: string | Uint8Array, path: string) {
  const diagnostics: Diagnostic[] = []
  const refuse = (code: RuleCode, message: string, at?: Position, hint?: string) => {
    diagnostics.push(finding(code, path, at, message, hint))
    return { ok: false as const, diagnostics }
  }
  const isText = typeof content === 'string'
  const size = isText ? Buffer.byteLength(content) : content.byteLength
  if (size > longestSkill) {
    const message = `The file has ${size} bytes; ${longestSkill} are allowed.`
    return refuse('file-too-large', message)
  }
  if (!isText && !isUtf8(content)) {
    return refuse('file-not-utf8', 'The file is not UTF-8 text.', undefined, 'Save it as UTF-8.')
  }
  const nul = isText ? content.indexOf('\0') : content.indexOf(0)
  if (nul !== -1) {
    return refuse('file-nul', `The file has a NUL character at offset ${nul}.`)
  }
  const split = splitFrontmatter(isText ? content : decode(content))
  const start = { line: 1, column: 1 }
  if (split.byteOrderMark) {
    const message = 'The file begins with a byte order mark.'
    const hint = '`skillrail validate --fix` removes it.'
    diagnostics.push(finding('byte-order-mark', path, start, message, hint))
  }
  if (!split.found && split.reason === 'missing') {
    const message = 'The file does not begin with a line `---`.'
    const hint = 'Begin with `name` and `description` between two lines `---`.'
    return refuse('frontmatter-missing', message, start, hint)
  }
  if (!split.found) {
    const message = 'The frontmatter that begins on line 1 is not closed.'
    return refuse('frontmatter-unclosed', message, start, 'Add a line `---` after it.')
  }
  const yaml = readAuthoredYaml(split.source, { firstLine: split.firstLine, path })
  diagnostics.push(...yaml.diagnostics)
  if (hasErrors(yaml.diagnostics)) return { ok: false as const, diagnostics }
  const { root } = yaml
  if (root) diagnostics.push(...commentsInValues(root, path, takesNoText))
  if (root?.kind === 'map') return { ok: true as const, root, split, diagnostics }
  const at = { line: 2, column: 1 }
  const hint = 'It needs at least a line `name: …` and a line `description: …`.'
  if (!root) return refuse('frontmatter-empty', 'The frontmatter is empty.', at, hint)
  const form = root.kind === 'list' ? 'a list' : 'a single text'
  const message = `The frontmatter is ${form}, not a mapping of fields.`
  return refuse('frontmatter-not-mapping', message, at, hint)
}

const kindsWithoutText: ReadonlySet<string> = new Set(['boolean', 'integer', 'choice', 'chain'])

/**
 * Whether a comment cuts nothing: a number, a flag or a choice has no text, and `#` begins a
 * comment in a chain.
 */
export function takesNoText(key: string): boolean {
  return kindsWithoutText.has(metadataFields.get(key)?.kind ?? '')
}

function decode(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
}
