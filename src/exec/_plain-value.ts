import type { JsonValue, YamlNode } from '../skill/index.ts'

/** A YAML tree as a plain value. Maps have no prototype, so no key can reach one. */
export function plainValue(node: YamlNode): JsonValue {
  switch (node.kind) {
    case 'scalar':
      return node.value
    case 'list':
      return node.items.map((item) => plainValue(item))
    case 'map': {
      const map: Record<string, JsonValue> = Object.create(null)
      for (const { key, value } of node.entries) map[key.text] = plainValue(value)
      return map
    }
  }
}
