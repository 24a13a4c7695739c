import type { Diagnostic } from '../core/diagnostic.ts'
import { withoutEnd } from '../core/text.ts'
import { parseSkill, splitFrontmatter } from '../skill/parse.ts'
import { readFields } from '../skill/fields.ts'
import { readYaml, type YamlNode } from '../skill/read-yaml.ts'
import type { TriggerDeclaration } from '../skill/model.ts'

interface TriggerReading {
  triggers: readonly TriggerDeclaration[]
  diagnostics: readonly Diagnostic[]
}

/** The triggers of a `SKILL.md`, also of one that cannot be installed. */
export function readTriggers(text: string, path: string): TriggerReading {
  const yaml = readFrontmatterYaml(text, path)
  if (yaml === undefined)
    return { triggers: [], diagnostics: parseSkill(text, { path }).diagnostics }
  const { root, diagnostics } = yaml
  if (root?.kind !== 'map') return { triggers: [], diagnostics }
  const { fields, diagnostics: found } = readFields(root, { path })
  return { triggers: fields.triggers, diagnostics: [...diagnostics, ...found] }
}

function readFrontmatterYaml(text: string, path: string): ReturnType<typeof readYaml> | undefined {
  const split = splitFrontmatter(text)
  return split.found ? readYaml(split.source, { firstLine: split.firstLine, path }) : undefined
}

/**
 * The triggers of a `SKILL.md` as a reader without YAML finds them, or where and why it cannot.
 *
 * The portable format: `triggers:` alone at the beginning of a line; below it a list, every item of
 * which is `- match: VALUE` and, on the next line that is neither blank nor a comment, `inject:
 * VALUE` under the `m`. A value stands on its line and is plain, in single quotes (`''` is a quote),
 * or in double quotes (a backslash only before a backslash or a quote). A comment may stand on a
 * line of its own. Line ends may be CRLF.
 */
type PortableReading =
  | { portable: true; triggers: readonly TriggerDeclaration[] }
  | { portable: false; line: number; reason: string }

/** Where the answer is portable it is exactly what a YAML reader gives. */
export function readPortableTriggers(text: string): PortableReading {
  const split = splitFrontmatter(text)
  if (!split.found) return { portable: true, triggers: [] }
  return readPortableLines(split.source.split('\n'), split.firstLine)
}

const blank = /^ *(?:#.*)?$/
const item = /^( *)- match:(?: (.*))?$/
/** Anywhere else in the frontmatter, another way to write the field. */
const elsewhere =
  /^(?:["']triggers["']|triggers) *:|^ +["']?triggers["']? *:|[{,] *["']?triggers["']? *:/

function readPortableLines(lines: readonly string[], firstLine: number): PortableReading {
  const refuse = (index: number, reason: string): PortableReading => ({
    portable: false,
    line: firstLine + index,
    reason,
  })
  const start = lines.findIndex((line) => /^triggers: *$/.test(line))
  const other = lines.findIndex((line, index) => index !== start && elsewhere.test(line))
  if (other >= 0) return refuse(other, 'write `triggers:` alone, at the beginning of a line')
  if (start < 0) return { portable: true, triggers: [] }
  const triggers: TriggerDeclaration[] = []
  let indent: number | undefined
  for (let index = start + 1; index < lines.length; index++) {
    const line = lines[index] ?? ''
    if (blank.test(line)) continue
    if (/^[^ \t-]/.test(line)) break
    const [, spaces = '', value = ''] = item.exec(line) ?? []
    const written = withoutEnd(value.replace(/^ +/, ''), ' ')
    const match = readScalar(written)
    if (written === '') return refuse(index, 'an item begins with `- match: PATTERN`')
    if (match === undefined) return refuse(index, 'the pattern is not plain or simply quoted text')
    indent ??= spaces.length
    if (spaces.length !== indent) return refuse(index, 'items are indented alike')
    const at = nextContent(lines, index + 1)
    const prefix = `${' '.repeat(indent + 2)}inject: `
    const below = lines[at] ?? ''
    if (!below.startsWith(prefix)) return refuse(at, '`inject: FILE` stands under `match`')
    const inject = readScalar(below.slice(prefix.length).trim())
    if (inject === undefined) return refuse(at, 'the file is not plain or simply quoted text')
    triggers.push({ match, inject, line: firstLine + index })
    index = at
  }
  return { portable: true, triggers }
}

function nextContent(lines: readonly string[], from: number): number {
  const found = lines.findIndex((line, index) => index >= from && !blank.test(line))
  return found < 0 ? lines.length - 1 : found
}

/** A value of one line; undefined for what needs a YAML reader. */
function readScalar(written: string): string | undefined {
  if (
    /[^\u0020-\u007e\u00a0-\ud7ff\ue000-\ufffd]/.test(
      written.replace(/[\ud800-\udbff][\udc00-\udfff]/g, ''),
    )
  )
    return undefined
  if (written.startsWith('"')) {
    const inner = /^"((?:[^"\\]|\\[\\"])+)"$/.exec(written)?.[1]
    return inner?.replace(/\\(.)/g, '$1')
  }
  if (written.startsWith("'")) {
    const inner = /^'((?:[^']|'')+)'$/.exec(written)?.[1]
    return inner?.replaceAll("''", "'")
  }
  return isPlain(written) ? written : undefined
}

/** Plain for every YAML reader: no sign that means something, and no comment or key inside. */
function isPlain(written: string): boolean {
  if (written === '' || /^[-?:,[\]{}#&*!|>'"%@`=<~]/.test(written)) return false
  return !/: |:$| #/.test(written)
}

/** An entry of `triggers` that cannot be used, and why. */
type UnusableTrigger = TriggerDeclaration & { problems: readonly string[] }

/** Entries of `triggers` that are not usable, with the `diagnostics` of reading the same text. */
export function leftOutTriggers(
  text: string,
  path: string,
  triggers: readonly TriggerDeclaration[],
  diagnostics: readonly Diagnostic[],
): UnusableTrigger[] {
  const errors = diagnostics.filter(({ severity }) => severity === 'error')
  const entries = writtenEntries(text, path)
  return entries.flatMap(({ match, inject, line }, index): UnusableTrigger[] => {
    const isRead = triggers.some(
      (trigger) => trigger.line === line && trigger.match === match && trigger.inject === inject,
    )
    if (isRead) return []
    const end = entries[index + 1]?.line ?? Infinity
    const problems = errors
      .filter((error) => error.line !== undefined && error.line >= line)
      .filter((error) => error.line === line || Number(error.line) < end)
      .map(({ message }) => message)
    return [{ match, inject, line, problems: problems.length > 0 ? problems : [noTrigger] }]
  })
}

const noTrigger = 'A trigger has one `match` and one `inject`, each a text.'

function writtenEntries(text: string, path: string): TriggerDeclaration[] {
  const root = readFrontmatterYaml(text, path)?.root
  const node = memberOf(root, 'triggers')
  if (node?.kind === 'list') {
    return node.items.map((entry) => {
      const part = (name: string): string => {
        const value = memberOf(entry, name)
        return value?.kind === 'scalar' && value.text !== '' ? value.text : '(none)'
      }
      return { match: part('match'), inject: part('inject'), line: entry.line }
    })
  }
  if (node?.kind !== 'scalar' || node.value === null) return []
  return node.text.split('\n').flatMap((written, index) => {
    if (written.trim() === '') return []
    const arrow = written.lastIndexOf(' => ')
    const match = arrow < 0 ? written : written.slice(0, arrow)
    const inject = arrow < 0 ? '(none)' : written.slice(arrow + 4)
    const line = node.style === 'literal' ? node.line + 1 + index : node.line
    return [{ match: match.trim(), inject: inject.trim(), line }]
  })
}

function memberOf(node: YamlNode | undefined, name: string): YamlNode | undefined {
  const entries = node?.kind === 'map' ? node.entries : []
  return entries.find(({ key }) => key.text === name)?.value
}

/** Whether a line of a `SKILL.md` belongs to its field `triggers`. */
export function isInTriggers(text: string, path: string, line: number | undefined): boolean {
  if (line === undefined) return false
  const isInside = (node: YamlNode | undefined, end: number): boolean =>
    node?.kind === 'map' &&
    node.entries.some(({ key, value }, index) => {
      const next = node.entries[index + 1]?.key.line ?? end
      if (key.text === 'metadata') return isInside(value, next)
      return key.text === 'triggers' && key.line <= line && line < next
    })
  return isInside(readFrontmatterYaml(text, path)?.root, Infinity)
}
