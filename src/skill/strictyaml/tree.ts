import { type Mark, StrictFailure } from './cursor.ts'
import type { StrictMap, StrictNode } from './parser.ts'

/** What the rules of the reference validator need of one field: its text where it is a string. */
export interface StrictField {
  name: string
  /** Undefined where the value is no string: a collection, or a lone `=` or `<<`. */
  text: string | undefined
  mark: Mark
}

/** The fields of a root mapping; undefined where the root is something else. Throws as the parser does. */
export function fieldsOf(root: StrictNode | undefined): StrictField[] | undefined {
  if (root === undefined) return undefined
  checkNode(root)
  return root.kind === 'map' ? rootFields(root) : undefined
}

function rootFields(root: StrictMap): StrictField[] {
  return root.entries.flatMap(({ key, value }) => {
    // A merge key brings nothing into the root that the rules could see.
    if (key.kind !== 'scalar' || isMergeKey(key)) return []
    return [{ name: key.text, text: textOf(value), mark: key.mark }]
  })
}

function textOf(node: StrictNode): string | undefined {
  if (node.kind !== 'scalar') return undefined
  return node.plain && (node.text === '=' || node.text === '<<') ? undefined : node.text
}

function isMergeKey(key: StrictNode): boolean {
  return key.kind === 'scalar' && key.plain && key.text === '<<'
}

function checkNode(node: StrictNode): void {
  if (node.kind === 'list') node.items.forEach(checkNode)
  if (node.kind === 'map') checkMap(node)
}

function checkMap(map: StrictMap): void {
  checkMerges(map)
  const entries = map.entries.filter(({ key }) => !isMergeKey(key))
  const seen = new Set<string>()
  for (const { key, value } of entries) {
    checkNode(key)
    const identity = keyIdentity(key)
    checkNode(value)
    if (seen.has(identity)) {
      throw new StrictFailure(
        'duplicate',
        `Duplicate key '${textOf(key) ?? '[…]'}' found`,
        key.mark,
      )
    }
    seen.add(identity)
  }
  checkIndentation(entries)
  const list = entries.find(({ key }) => key.kind === 'list')
  if (list !== undefined) {
    throw new StrictFailure('crash', 'a list cannot be a key', list.key.mark)
  }
}

/** What makes two keys the same. Lists of texts count as keys until the mapping is complete. */
function keyIdentity(key: StrictNode): string {
  if (key.kind === 'scalar') return `text ${key.text}`
  if (key.kind === 'map') throw new StrictFailure('syntax', 'found unhashable key', key.mark)
  const texts = key.items.map((item) => (item.kind === 'scalar' ? item.text : undefined))
  if (texts.includes(undefined)) {
    throw new StrictFailure('crash', 'a list with collections cannot be a key', key.mark)
  }
  return `list ${JSON.stringify(texts)}`
}

function checkIndentation(entries: StrictMap['entries']): void {
  const maps = entries.flatMap(({ value }) => (value.kind === 'map' ? [value] : []))
  const odd = maps.find(({ mark }) => mark.column !== maps[0]?.mark.column)
  if (odd === undefined) return
  const message = 'Found mapping with indentation inconsistent with previous mapping'
  throw new StrictFailure('indentation', message, odd.mark)
}

/** A merge key must lead to a mapping or a list of mappings, and there may be only one. */
function checkMerges(map: StrictMap): void {
  const merges = map.entries.filter(({ key }) => isMergeKey(key))
  for (const { key, value } of merges) {
    const sources = value.kind === 'list' ? value.items : [value]
    for (const source of sources) {
      if (source.kind !== 'map') {
        throw new StrictFailure(
          'syntax',
          'expected a mapping or list of mappings for merging',
          source.mark,
        )
      }
      checkNode(source)
    }
    if (key !== merges[0]?.key) {
      throw new StrictFailure('crash', 'found duplicate key "<<"', key.mark)
    }
  }
}
