import { createRequire } from 'node:module'
import type * as Jsonc from 'jsonc-parser'

/** JSON with comments as a tree, or what is wrong with it and where. */
export type JsonTextReading =
  | { ok: true; root: Jsonc.Node }
  | { ok: false; message: string; offset: number }

/** Deeper text would exhaust the stack of the parser. */
const maxDepth = 200

export function readJsonText(text: string): JsonTextReading {
  const deep = tooDeepAt(text)
  if (deep !== undefined) {
    return { ok: false, message: `nested deeper than ${maxDepth} levels`, offset: deep }
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

/** Line and column of an offset, from 1. */
export function placeAt(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset)
  return { line: before.split('\n').length, column: offset - before.lastIndexOf('\n') }
}

/** Loaded only when there is a file to read or to edit. */
export function jsonc(): typeof Jsonc {
  const parser: typeof Jsonc = createRequire(import.meta.url)('jsonc-parser')
  return parser
}

/** Brackets inside strings count too, which errs on the side of refusing. */
function tooDeepAt(text: string): number | undefined {
  let depth = 0
  for (let offset = 0; offset < text.length; offset++) {
    const character = text.charCodeAt(offset)
    if (character === 0x5b || character === 0x7b) depth++
    else if (character === 0x5d || character === 0x7d) depth--
    if (depth > maxDepth) return offset
  }
  return undefined
}

/** `PropertyNameExpected`, as the parser calls it, is `property name expected` to a person. */
function inWords(name: string): string {
  return name.replace(/(?<!^)[A-Z]/g, ' $&').toLowerCase()
}
