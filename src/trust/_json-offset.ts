import { createRequire } from 'node:module'
import type * as Jsonc from 'jsonc-parser'
import { tooDeepAt } from '../base/index.ts'

/** Keys and indexes from the top of a JSON text. */
export type JsonPlace = readonly (string | number)[]

/** Where a value begins in a JSON text; that of the nearest value around it where it is missing. */
export function offsetOf(text: string, place: JsonPlace): number {
  if (tooDeepAt(text) !== undefined) return 0
  const parser = jsonc()
  const root = parser.parseTree(text)
  if (root === undefined) return 0
  for (let length = place.length; length > 0; length--) {
    const node = parser.findNodeAtLocation(root, place.slice(0, length))
    if (node !== undefined) return node.offset
  }
  return root.offset
}

/** Where a text stops being JSON. */
export function syntaxErrorOffset(text: string): number {
  const deep = tooDeepAt(text)
  if (deep !== undefined) return deep
  const errors: Jsonc.ParseError[] = []
  jsonc().parseTree(text, errors, { disallowComments: true })
  return errors[0]?.offset ?? text.length
}

/** Loaded only when something is wrong. */
function jsonc(): typeof Jsonc {
  const loaded: typeof Jsonc = createRequire(import.meta.url)('jsonc-parser')
  return loaded
}
