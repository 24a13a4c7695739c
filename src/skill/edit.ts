import { createRequire } from 'node:module'
import type * as Yaml from 'yaml'
import { placesIn } from '../core/text.ts'
import { SkillParseError } from './errors.ts'
import type { JsonValue } from './model.ts'
import { frontmatterLines } from './parse.ts'

/** New values by field name, in the order in which new fields are written; undefined removes one. */
export type FrontmatterEdits = Readonly<Record<string, JsonValue | undefined>>

/**
 * Changes fields at the top level of a `SKILL.md`. Everything else stays as it is, byte for byte:
 * comments, blank lines, the order of fields, quotes, the body. A comment beside a changed text
 * stays too; comments inside a list or map that is replaced go with it.
 *
 * @throws SkillParseError if there is no frontmatter, or it is no readable mapping.
 */
export function editFrontmatter(text: string, edits: FrontmatterEdits): string {
  const found = frontmatterLines(text)
  if (found === undefined) {
    throw new SkillParseError({
      code: 'frontmatter-missing',
      message: 'The text does not begin with frontmatter between two lines of `---`.',
    })
  }
  const yaml: typeof Yaml = createRequire(import.meta.url)('yaml')
  const isWindows = (found.lines[0] ?? '').endsWith('\r')
  const lines = found.lines.slice(1, found.close).map((line) => line.replace(/\r$/, ''))
  let source = lines.map((line) => `${line}\n`).join('')
  for (const [name, value] of Object.entries(edits)) source = edit(yaml, source, name, value)
  const written = isWindows ? source.replaceAll('\n', '\r\n') : source
  const close = found.lines.slice(found.close).join('\n')
  return `${found.lines[0] ?? ''}\n${written}${close}`
}

function edit(
  yaml: typeof Yaml,
  source: string,
  name: string,
  value: JsonValue | undefined,
): string {
  const document = readMapping(yaml, source)
  const map = document.contents
  if (!yaml.isMap(map) || map.flow === true || isIndented(map, source)) {
    return editDocument(yaml, document, name, value)
  }
  const pair = map.items.find(({ key }) => yaml.isScalar(key) && key.value === name)
  if (pair === undefined)
    return value === undefined ? source : source + entryText(yaml, name, value)
  if (!yaml.isNode(pair.key) || !(yaml.isNode(pair.value) || pair.value === null)) return source
  const start = pair.key.range?.[0] ?? 0
  const range = (pair.value ?? pair.key).range ?? [start, start, start]
  const isOneLine = yaml.isScalar(pair.value) && range[1] > range[0] && !isBlock(pair.value)
  if (isOneLine && value !== undefined && (typeof value !== 'object' || value === null)) {
    const before = source.slice(0, range[0])
    const gap = before.endsWith(':') ? ' ' : ''
    return before + gap + inlineText(yaml, value) + source.slice(range[1])
  }
  const replacement = value === undefined ? '' : entryText(yaml, name, value)
  return source.slice(0, start) + replacement + source.slice(endOfEntry(source, start, range[1]))
}

function isIndented(map: Yaml.YAMLMap, source: string): boolean {
  const start = map.range?.[0] ?? 0
  return start > 0 && source.charAt(start - 1) !== '\n'
}

function isBlock(node: Yaml.Scalar): boolean {
  return node.type === 'BLOCK_LITERAL' || node.type === 'BLOCK_FOLDED'
}

/** The end of the entry's last line; blank lines and comments behind it belong to the next one. */
function endOfEntry(source: string, start: number, end: number): number {
  const newline = source.charAt(end - 1) === '\n' ? end - 1 : source.indexOf('\n', end)
  const lines = source.slice(start, newline).split('\n')
  while (lines.length > 1 && /^\s*$|^#/.test(lines.at(-1) ?? '')) lines.pop()
  return start + lines.join('\n').length + 1
}

function readMapping(yaml: typeof Yaml, source: string): Yaml.Document.Parsed {
  // The library compares every key with every other, and copies the line of every error.
  const options = { uniqueKeys: false, prettyErrors: false }
  const document = guarded(() => yaml.parseDocument(source, options))
  const reason =
    document === undefined ? 'it is nested too deeply' : reasonIn(yaml, document, source)
  if (document !== undefined && reason === undefined) return document
  throw new SkillParseError({
    code: 'yaml-invalid',
    message: `The frontmatter cannot be edited: ${reason}.`,
    hint: 'Fix it first; `skillrail validate` shows the line.',
  })
}

/** Why it cannot be edited. */
function reasonIn(
  yaml: typeof Yaml,
  { contents, errors }: Yaml.Document.Parsed,
  source: string,
): string | undefined {
  const [error] = errors
  if (error !== undefined) {
    const { line, column } = placesIn(source)(error.pos[0])
    return `${error.message} at line ${line + 1}, column ${column}`
  }
  if (contents !== null && !yaml.isMap(contents)) return 'it is not a mapping'
  const repeated = contents === null ? undefined : repeatedKey(yaml, contents)
  return repeated === undefined ? undefined : `the key \`${repeated}\` is given twice`
}

function repeatedKey(yaml: typeof Yaml, root: Yaml.YAMLMap): string | undefined {
  let repeated: string | undefined
  yaml.visit(root, {
    Map(_, { items }) {
      const seen = new Set<unknown>()
      for (const { key } of items) {
        if (!yaml.isScalar(key)) continue
        if (seen.has(key.value)) repeated ??= String(key.value)
        seen.add(key.value)
      }
      return repeated === undefined ? undefined : yaml.visit.BREAK
    },
  })
  return repeated
}

const layout = { lineWidth: 0, blockQuote: false } as const

function entryText(yaml: typeof Yaml, name: string, value: JsonValue): string {
  return yaml.stringify({ [name]: value }, layout)
}

function inlineText(yaml: typeof Yaml, value: JsonValue): string {
  return yaml.stringify(value, layout).trimEnd()
}

/** For an empty, indented or flow mapping: the library writes the whole, comments included. */
function editDocument(
  yaml: typeof Yaml,
  document: Yaml.Document.Parsed,
  name: string,
  value: JsonValue | undefined,
): string {
  if (value === undefined) document.delete(name)
  else document.set(name, document.createNode(value))
  return document.contents === null ? '' : `${document.toString(layout).trimEnd()}\n`
}

/**
 * What the library reads, or undefined for a text that is nested so deeply that its stack does not
 * suffice. Text made for it has an error in every second character; errors come without a stack
 * here, since ten thousand of those take seconds.
 */
function guarded<T>(read: () => T): T | undefined {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  try {
    return read()
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}
