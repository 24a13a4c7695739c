import { isUtf8 } from 'node:buffer'
import type { Diagnostic } from '../core/diagnostic.ts'
import { finding } from './rules.ts'
import { readFields } from './fields.ts'
import type { SkillReading } from './model.ts'
import { readYaml, type YamlMap } from './read-yaml.ts'

/** The longest `SKILL.md` that is read, in bytes. */
const longestSkill: number = 1024 * 1024

/**
 * Reads a `SKILL.md`, as leniently as the client guide asks: a wrong name still loads, a missing
 * description does not. `skill` is undefined where the file cannot be used; the diagnostics say why
 * and what else is wrong with the fields. Never throws.
 *
 * @example
 * const { skill, diagnostics } = parseSkill('---\nname: a\ndescription: Does a.\n---\n', { path: 'a/SKILL.md' })
 */
export function parseSkill(content: string | Uint8Array, options: { path: string }): SkillReading {
  const reading = readFrontmatter(content, options.path)
  if (!reading.ok) return { skill: undefined, diagnostics: reading.diagnostics }
  const { root, split } = reading
  const { path } = options
  const { fields, diagnostics: fieldDiagnostics } = readFields(root, { path })
  const diagnostics = [...reading.diagnostics, ...fieldDiagnostics]
  if (fields.description === undefined) {
    diagnostics.push(withoutDescription(path, root))
    return { skill: undefined, diagnostics }
  }
  const { body, bodyLine } = split
  return { skill: { path, fields, frontmatter: root, body: body.trim(), bodyLine }, diagnostics }
}

/** The frontmatter of a file as a tree, or what stands in the way. */
export type FrontmatterReading =
  | {
      ok: true
      root: YamlMap
      split: FrontmatterSplit & { found: true }
      diagnostics: Diagnostic[]
    }
  | { ok: false; diagnostics: Diagnostic[] }

export function readFrontmatter(content: string | Uint8Array, path: string): FrontmatterReading {
  const refuse = (diagnostic: Diagnostic): FrontmatterReading => ({
    ok: false,
    diagnostics: [...marks, diagnostic],
  })
  const marks: Diagnostic[] = []
  const unusable = checkContent(content, path)
  if (unusable !== undefined) return refuse(unusable)
  const text = typeof content === 'string' ? content : decode(content)
  const split = splitFrontmatter(text)
  if (split.byteOrderMark) marks.push(byteOrderMark(path))
  if (!split.found) return refuse(notFound(path, split.reason))
  const { root, diagnostics } = readYaml(split.source, { firstLine: split.firstLine, path })
  if (diagnostics.length > 0) return { ok: false, diagnostics: [...marks, ...diagnostics] }
  if (root?.kind !== 'map') return refuse(notMapping(path, root?.kind))
  return { ok: true, root, split, diagnostics: marks }
}

function decode(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
}

function checkContent(content: string | Uint8Array, path: string): Diagnostic | undefined {
  const isText = typeof content === 'string'
  const size = isText ? Buffer.byteLength(content) : content.byteLength
  if (size > longestSkill) {
    const message = `The file has ${size} bytes; ${longestSkill} are allowed.`
    const hint = 'Move long material into files below `references/`.'
    return finding('file-too-large', path, undefined, message, hint)
  }
  if (!isText && !isUtf8(content)) {
    const hint = 'Save it as UTF-8.'
    return finding('file-not-utf8', path, undefined, 'The file is not UTF-8 text.', hint)
  }
  const nul = isText ? content.indexOf('\0') : content.indexOf(0)
  if (nul === -1) return undefined
  const message = `The file has a NUL character at offset ${nul}; it is not text.`
  return finding('file-nul', path, undefined, message)
}

function byteOrderMark(path: string): Diagnostic {
  const message = 'The file begins with a byte order mark, which some clients refuse.'
  const hint = '`skillrail validate --fix` removes it.'
  return finding('byte-order-mark', path, { line: 1, column: 1 }, message, hint)
}

function notFound(path: string, reason: 'missing' | 'unclosed'): Diagnostic {
  const at = { line: 1, column: 1 }
  if (reason === 'missing') {
    const message = 'The file does not begin with a line `---`.'
    const hint = 'Put `name` and `description` between two lines `---` at the very beginning.'
    return finding('frontmatter-missing', path, at, message, hint)
  }
  const message = 'The frontmatter that begins on line 1 is not closed.'
  return finding('frontmatter-unclosed', path, at, message, 'Add a line `---` behind it.')
}

function notMapping(path: string, kind: 'list' | 'scalar' | undefined): Diagnostic {
  const at = { line: 2, column: 1 }
  const hint = 'It has at least a line `name: …` and a line `description: …`.'
  if (kind === undefined) {
    return finding('frontmatter-empty', path, at, 'The frontmatter is empty.', hint)
  }
  const found = kind === 'list' ? 'a list' : 'a single text'
  const message = `The frontmatter is ${found}, not a mapping of fields.`
  return finding('frontmatter-not-mapping', path, at, message, hint)
}

function withoutDescription(path: string, root: YamlMap): Diagnostic {
  const written = root.entries.find(({ key }) => key.text === 'description')
  const at = written?.value ?? root
  const message = 'The skill has no usable `description`, so it cannot be offered to a model.'
  const hint = 'Add `description:` with what the skill does and when to use it.'
  return finding('description-missing', path, at, message, hint)
}

/**
 * Where the frontmatter of a `SKILL.md` stands. Offsets are UTF-16 units into the text that was
 * given; lines count from 1.
 */
export type FrontmatterSplit =
  | {
      found: true
      byteOrderMark: boolean
      /** The lines between the delimiters, each ended by `\n` (CRLF is turned into it). */
      source: string
      /** Offset of the first line between the delimiters. */
      start: number
      /** Offset of the closing `---`. */
      end: number
      /** The line on which `source` begins: always 2. */
      firstLine: number
      /** Everything behind the line of the closing `---`, as it stands. */
      body: string
      bodyStart: number
      bodyLine: number
    }
  | { found: false; byteOrderMark: boolean; reason: 'missing' | 'unclosed' }

/**
 * Finds the frontmatter by lines: `---` alone on the first line up to the next line that is `---`.
 * Blanks behind a delimiter do not count. `---` inside a line, or in the body, is not a delimiter.
 */
export function splitFrontmatter(text: string): FrontmatterSplit {
  const byteOrderMark = text.charCodeAt(0) === 0xfeff
  const opening = byteOrderMark ? 1 : 0
  const start = text.startsWith('---', opening) ? lineAfterDelimiter(text, opening + 3) : undefined
  if (start === undefined) return { found: false, byteOrderMark, reason: 'missing' }
  let from = start - 1
  for (;;) {
    const newline = text.indexOf('\n---', from)
    if (newline === -1) return { found: false, byteOrderMark, reason: 'unclosed' }
    const bodyStart = lineAfterDelimiter(text, newline + 4)
    if (bodyStart === undefined) {
      from = newline + 4
      continue
    }
    const end = newline + 1
    const source = withNewlines(text.slice(start, end))
    const bodyLine = 3 + countNewlines(source)
    const body = text.slice(bodyStart)
    return {
      found: true,
      byteOrderMark,
      source,
      start,
      end,
      firstLine: 2,
      body,
      bodyStart,
      bodyLine,
    }
  }
}

/** The offset of the next line where only blanks follow; the end of the text counts as one. */
function lineAfterDelimiter(text: string, offset: number): number | undefined {
  for (let at = offset; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 10) return at + 1
    if (code !== 32 && code !== 9 && !(code === 13 && text.charCodeAt(at + 1) === 10)) {
      return undefined
    }
  }
  return text.length
}

function withNewlines(text: string): string {
  return text.includes('\r') ? text.replaceAll('\r\n', '\n') : text
}

function countNewlines(text: string): number {
  let count = 0
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count++
  return count
}

/** A file as lines, with the frontmatter between `lines[0]` and `lines[close]`. */
export interface FrontmatterLines {
  lines: string[]
  close: number
}

const marker = /^---[ \t]*\r?$/

/** The lines of a file whose frontmatter is opened and closed; undefined of any other file. */
export function frontmatterLines(text: string): FrontmatterLines | undefined {
  const lines = text.split('\n')
  if (!marker.test((lines[0] ?? '').replace(/^\ufeff/, ''))) return undefined
  const close = lines.findIndex((line, index) => index > 0 && marker.test(line))
  return close < 0 ? undefined : { lines, close }
}
