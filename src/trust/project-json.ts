import { createRequire } from 'node:module'
import type * as Jsonc from 'jsonc-parser'
import { tooDeepAt } from '../core/json.ts'

/** A value of a JSON file that a project brought along, or what is wrong with the text and where. */
type ProjectJson = { ok: true; value: unknown } | { ok: false; problem: JsonProblem }

export interface JsonProblem {
  /** As in "the file …": `is not JSON`. */
  message: string
  line: number
  column: number
}

const maxDepth = 16

const longestWord = 200

/**
 * Parses JSON strictly: a key that is there twice means one thing to one reader and another to the
 * next, so it is refused, and so is a text that is nested beyond any use.
 */
export function parseProjectJson(text: string): ProjectJson {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    const structure = structureProblem(text, false)
    return structure === undefined
      ? refused(text, syntaxErrorOffset(text), 'is not JSON from here on')
      : refused(text, structure.offset, structure.message)
  }
  const structure = structureProblem(text, true)
  return structure === undefined
    ? { ok: true, value }
    : refused(text, structure.offset, structure.message)
}

/** A problem with the value at a place in a text that {@link parseProjectJson} took. */
export function problemAt(text: string, place: JsonPlace, message: string): JsonProblem {
  return positioned(text, offsetOf(text, place), message)
}

function refused(text: string, offset: number, message: string): ProjectJson {
  return { ok: false, problem: positioned(text, offset, message) }
}

function positioned(text: string, offset: number, message: string): JsonProblem {
  const before = text.slice(0, offset)
  const start = before.lastIndexOf('\n') + 1
  return { message, line: before.split('\n').length, column: offset - start + 1 }
}

/** Looks at each character once, whatever the text: one that is not JSON must not cost more. */
function structureProblem(
  text: string,
  isJson: boolean,
): { offset: number; message: string } | undefined {
  const open: Set<string>[] = []
  for (let index = 0; index < text.length; index++) {
    const token = text[index]
    if (token === '{' || token === '[') {
      if (open.length === maxDepth) {
        return { offset: index, message: `is nested more than ${maxDepth} levels deep` }
      }
      open.push(new Set())
    } else if (token === '}' || token === ']') open.pop()
    else if (token === '"') {
      const start = index
      index = endOfString(text, start)
      if (!isJson || !isKey(text, index)) continue
      const word = text.slice(start, index + 1)
      const key = word.includes('\\') ? String(JSON.parse(word)) : word.slice(1, -1)
      const keys = open.at(-1)
      if (keys?.has(key) === true) {
        return { offset: start, message: `has the key ${shortened(word)} twice` }
      }
      keys?.add(key)
    }
  }
  return undefined
}

/** Where a string that begins at `start` ends; the end of the text where it does not. */
function endOfString(text: string, start: number): number {
  for (let index = start + 1; index < text.length; index++) {
    if (text[index] === '"') return index
    if (text[index] === '\\') index++
  }
  return text.length
}

/** In JSON nothing but space stands between a key and its colon. */
function isKey(text: string, end: number): boolean {
  let index = end + 1
  while (index < text.length && /\s/.test(text.charAt(index))) index++
  return text[index] === ':'
}

function shortened(word: string): string {
  return word.length > longestWord ? `${word.slice(0, longestWord)}…` : word
}

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
