import type { JsonValue } from './model.ts'
import type { YamlNode } from './yaml-tree.ts'

/** A tree as JSON has it. Objects have no prototype, so that no key can mean anything to us. */
export function yamlToJson(node: YamlNode): JsonValue {
  if (node.kind === 'scalar') return node.value
  if (node.kind === 'list') return node.items.map((item) => yamlToJson(item))
  const object: Record<string, JsonValue> = Object.create(null)
  for (const { key, value } of node.entries) object[key.text] = yamlToJson(value)
  return object
}
