import { readFastYaml } from './fast-yaml/fast-yaml.ts'
import { type Mark, StrictFailure } from './strictyaml/cursor.ts'
import { parseStrictDocument } from './strictyaml/parser.ts'
import { fieldsOf, type StrictField } from './strictyaml/tree.ts'
import type { YamlMap, YamlNode } from './yaml-tree.ts'

/**
 * The fields of a frontmatter as the reference validator reads them; undefined where it is no
 * mapping. `raw` is what stands between the first two `---` of the file. Throws a
 * {@link StrictFailure}, whose position counts from 0 and from the beginning of `raw`.
 */
export function readReferenceFields(raw: string): StrictField[] | undefined {
  const isSimple = raw.startsWith('\n') && !commentForValue.test(raw)
  const root = isSimple ? readFastYaml(raw.slice(1), 1) : undefined
  if (root === undefined) return fieldsOf(parseStrictDocument(raw))
  checkFlow(root)
  checkIndentation(root)
  return root.entries.map(({ key, value }) => ({
    name: key.text,
    text: textOf(value),
    mark: markOf(key),
  }))
}

/**
 * The reference carries such a comment on to the value below, and crashes where that has blank lines
 * behind it.
 */
const commentForValue = /[:-][ \t]+#/

function textOf(value: YamlNode): string | undefined {
  if (value.kind !== 'scalar') return undefined
  const isIndicator = value.text === '=' || value.text === '<<'
  return isIndicator && value.style === 'plain' ? undefined : value.text
}

function checkFlow(node: YamlNode): void {
  if (node.kind === 'scalar') return
  if (node.flow) {
    const message =
      "Found ugly disallowed JSONesque flow mapping (surround with ' and ' to make text appear literally)"
    throw new StrictFailure('flow', message, markOf(node))
  }
  if (node.kind === 'list') node.items.forEach(checkFlow)
  else for (const { value } of node.entries) checkFlow(value)
}

function checkIndentation(node: YamlNode): void {
  if (node.kind === 'list') return node.items.forEach(checkIndentation)
  if (node.kind === 'scalar') return
  let first: YamlMap | undefined
  for (const { value } of node.entries) checkIndentation(value)
  for (const { value } of node.entries) {
    if (value.kind !== 'map') continue
    first ??= value
    if (value.column === first.column) continue
    const message = 'Found mapping with indentation inconsistent with previous mapping'
    throw new StrictFailure('indentation', message, markOf(value))
  }
}

function markOf({ line, column }: { line: number; column: number }): Mark {
  return { line, column: column - 1 }
}
