import { createRequire } from 'node:module'
import type * as Jsonc from 'jsonc-parser'
import { deepestJson, tooDeepAt } from '../base/index.ts'

/** JSON with comments as a tree, or what is wrong with it and where. */
export type JsonTextReading =
  | { ok: true; root: Jsonc.Node }
  | { ok: false; message: string; offset: number }

export function readJsonText(text: string): JsonTextReading {
  const deep = tooDeepAt(text)
  if (deep !== undefined) {
    return { ok: false, message: `nested deeper than ${deepestJson} levels`, offset: deep }
  }
  const parser = jsonc()
  const errors: Jsonc.ParseError[] = []
  const root = parser.parseTree(text, errors, { allowTrailingComma: true })
  const [first] = errors
  if (first !== undefined || root === undefined) {
    const name = first === undefined ? 'EmptyFile' : parser.printParseErrorCode(first.error)
    return { ok: false, message: `no JSON: ${inWords(name)}`, offset: first?.offset ?? 0 }
  }
  return { ok: true, root }
}

/** Loaded only when there is a file to read or to edit. */
export function jsonc(): typeof Jsonc {
  const parser: typeof Jsonc = createRequire(import.meta.url)('jsonc-parser')
  return parser
}

/** `PropertyNameExpected`, as the parser calls it, is `property name expected` to a person. */
function inWords(name: string): string {
  return name.replace(/(?<!^)[A-Z]/g, ' $&').toLowerCase()
}
