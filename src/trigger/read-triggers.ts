import type { Diagnostic } from '#core/errors'
import { withoutEnd } from '#core/text'
import { readFrontmatter } from '#skill/parse'
import { splitFrontmatter } from '#skill/frontmatter'
import { readFields } from '#skill/fields'
import type { YamlNode } from '#skill/read-yaml'
import type { TriggerDeclaration } from '#skill/model'

/** Reads the triggers of a `SKILL.md`, even if the skill cannot be installed. */
export function readTriggers(
  text: string,
  path: string,
): { triggers: readonly TriggerDeclaration[]; diagnostics: readonly Diagnostic[] } {
  const reading = readFrontmatter(text, path)
  if (!reading.ok) return { triggers: [], diagnostics: reading.diagnostics }
  const { fields, diagnostics } = readFields(reading.root, { path })
  return { triggers: fields.triggers, diagnostics: [...reading.diagnostics, ...diagnostics] }
}

/**
 * The portable format: `triggers:` alone on a line, below it items `- match: VALUE`, `inject:
 * VALUE`.
 */
type PortableReading =
  | { portable: true; triggers: readonly TriggerDeclaration[] }
  | { portable: false; line: number; reason: string }

/** If the result is portable, it equals a YAML reader's result. */
export function readPortableTriggers(text: string): PortableReading {
  const split = splitFrontmatter(text)
  if (!split.found) return { portable: true, triggers: [] }
  const lines = split.source.split('\n')
  const { firstLine } = split
  const refuse = (index: number, reason: string): PortableReading => {
    return { portable: false, line: firstLine + index, reason }
  }
  const start = lines.findIndex((line) => /^triggers: *$/.test(line))
  const other = lines.findIndex((line, index) => index !== start && elsewhere.test(line))
  if (other >= 0) return refuse(other, 'write `triggers:` alone, at the beginning of a line')
  if (start < 0) return { portable: true, triggers: [] }
  const triggers: TriggerDeclaration[] = []
  let indent: number | undefined
  let isOther = false
  for (let index = start + 1; index < lines.length; index++) {
    const line = lines[index] ?? ''
    if (blank.test(line)) continue
    if (/^[^ \t-]/.test(line)) break
    // Only a full reader reads items of other kinds.
    if (/^ *- (?:examples|paths|command|tool):/.test(line)) isOther = true
    else if (item.test(line)) isOther = false
    if (isOther) continue
    const [, spaces = '', value = ''] = item.exec(line) ?? []
    const rawValue = withoutEnd(value.replace(/^ +/, ''), ' ')
    const match = readScalar(rawValue)
    if (rawValue === '') return refuse(index, 'an item begins with `- match: PATTERN`')
    if (match === undefined) return refuse(index, 'the pattern is not plain or simply quoted text')
    indent ??= spaces.length
    if (spaces.length !== indent) return refuse(index, 'items are indented alike')
    const next = lines.findIndex((one, place) => place > index && !blank.test(one))
    const at = next < 0 ? lines.length - 1 : next
    const prefix = `${' '.repeat(indent + 2)}inject: `
    const below = lines[at] ?? ''
    if (!below.startsWith(prefix)) return refuse(at, '`inject: FILE` belongs below `match`')
    const inject = readScalar(below.slice(prefix.length).trim())
    if (inject === undefined) return refuse(at, 'the file is not plain or simply quoted text')
    triggers.push({ match, inject, line: firstLine + index })
    index = at
  }
  return { portable: true, triggers }
}

const blank = /^ *(?:#.*)?$/
const item = /^( *)- match:(?: (.*))?$/
/** Anywhere else in the frontmatter, another way to write the field. */
const elsewhere =
  /^(?:["']triggers["']|triggers) *:|^ +["']?triggers["']? *:|[{,] *["']?triggers["']? *:/

/** Reads a value of one line; undefined if it needs a YAML reader. */
function readScalar(rawValue: string): string | undefined {
  if (/[^\u0020-\u007e\u00a0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u.test(rawValue))
    return undefined
  if (rawValue.startsWith('"')) {
    const inner = /^"((?:[^"\\]|\\[\\"])+)"$/.exec(rawValue)?.[1]
    return inner?.replace(/\\(.)/g, '$1')
  }
  if (rawValue.startsWith("'")) {
    const inner = /^'((?:[^']|'')+)'$/.exec(rawValue)?.[1]
    return inner?.replaceAll("''", "'")
  }
  // Plain for every YAML reader: no indicator, and no comment or key inside.
  const isPlain = rawValue !== '' && !/^[-?:,[\]{}#&*!|>'"%@`=<~]|: |:$| #/.test(rawValue)
  return isPlain ? rawValue : undefined
}

export function isInTriggers(text: string, path: string, line: number | undefined): boolean {
  if (line === undefined) return false
  const isInside = (node: YamlNode | undefined, end: number): boolean =>
    node?.kind === 'map' &&
    node.entries.some(({ key, value }, index) => {
      const next = node.entries[index + 1]?.key.line ?? end
      if (key.text === 'metadata') return isInside(value, next)
      return key.text === 'triggers' && key.line <= line && line < next
    })
  const reading = readFrontmatter(text, path)
  return reading.ok && isInside(reading.root, Infinity)
}
