import type { YamlNode } from './read-yaml.ts'

/** Whether two trees have the same keys, texts and values, wherever they stand in the file. */
export function sameTree(a: YamlNode, b: YamlNode, exceptKey: string): boolean {
  if (a.kind === 'scalar') return b.kind === 'scalar' && a.text === b.text && a.value === b.value
  if (a.kind === 'list') {
    if (b.kind !== 'list' || a.items.length !== b.items.length) return false
    return a.items.every((item, index) => {
      const other = b.items[index]
      return other !== undefined && sameTree(item, other, '')
    })
  }
  if (b.kind !== 'map' || a.entries.length !== b.entries.length) return false
  return a.entries.every(({ key, value }, index) => {
    const other = b.entries[index]
    if (other === undefined || other.key.text !== key.text) return false
    return key.text === exceptKey || sameTree(value, other.value, '')
  })
}
