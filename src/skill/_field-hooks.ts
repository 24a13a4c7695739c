import { messageOf } from '../base/index.ts'
import { describe, type FieldContext, isNull } from './_field-values.ts'
import type { JsonValue } from './model.ts'
import { yamlToJson } from './read-yaml.ts'
import type { YamlNode } from './read-yaml.ts'

/** Hooks as a map, or as the same map in JSON text. What the map says is checked where it is used. */
export function readHooks(context: FieldContext, node: YamlNode): JsonValue | undefined {
  if (isNull(node)) return undefined
  if (node.kind === 'map') return yamlToJson(node)
  if (node.kind === 'list') {
    context.report('field-type', node, '`hooks` is a list, and a map by event is wanted.')
    return undefined
  }
  const parsed = parseJson(node.text)
  if (parsed.problem === undefined) return parsed.value
  const message = `\`hooks\` is ${describe(node)} that is no JSON object: ${parsed.problem}.`
  context.report('field-type', node, message, 'Write a map by event, or the same as JSON text.')
  return undefined
}

type ParsedHooks =
  | { value: JsonValue; problem?: undefined }
  | { value?: undefined; problem: string }

function parseJson(text: string): ParsedHooks {
  try {
    const value: JsonValue = JSON.parse(text)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject ? { value } : { problem: 'it has another type' }
  } catch (error) {
    return { problem: messageOf(error) }
  }
}
