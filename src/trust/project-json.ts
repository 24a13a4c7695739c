import { createRequire } from 'node:module'
import type * as Jsonc from 'jsonc-parser'
import { tooDeepAt } from '../core/json.ts'
import { placesIn } from '../core/text.ts'

type ProjectJson = { ok: true; value: unknown } | { ok: false; problem: JsonProblem }

export interface JsonProblem {
  /** As in "the file …": `is not JSON`. */
  message: string
  line: number
  column: number
}

const maxDepth = 16
const longestKey = 200

/** Parses JSON strictly: a key that is there twice, and nesting beyond any use, are problems. */
export function parseProjectJson(text: string): ProjectJson {
  const deep = tooDeepAt(text, maxDepth)
  if (deep !== undefined) return refused(text, deep, `is nested more than ${maxDepth} levels deep`)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return refused(text, syntaxErrorOffset(text), 'is not JSON from here on')
  }
  const twice = duplicateKey(text)
  if (twice === undefined) return { ok: true, value }
  return refused(text, twice.offset, `has the key ${twice.key} twice`)
}

function refused(text: string, offset: number, message: string): ProjectJson {
  return { ok: false, problem: { message, ...placesIn(text)(offset) } }
}

export function problemAt(
  text: string,
  place: readonly (string | number)[],
  message: string,
): JsonProblem {
  const { parseTree, findNodeAtLocation } = jsonc()
  const root = parseTree(text)
  const nearest = (depth: number): Jsonc.Node | undefined =>
    root && (findNodeAtLocation(root, place.slice(0, depth)) ?? nearest(depth - 1))
  return { message, ...placesIn(text)(nearest(place.length)?.offset ?? 0) }
}

export function syntaxErrorOffset(text: string): number {
  const deep = tooDeepAt(text)
  if (deep !== undefined) return deep
  const errors: Jsonc.ParseError[] = []
  jsonc().parseTree(text, errors, { disallowComments: true })
  return errors[0]?.offset ?? text.length
}

function duplicateKey(text: string): { key: string; offset: number } | undefined {
  const open: Set<string>[] = []
  let found: { key: string; offset: number } | undefined
  jsonc().visit(text, {
    onObjectBegin: () => void open.push(new Set()),
    onObjectEnd: () => void open.pop(),
    onObjectProperty(name, offset, length) {
      const keys = open.at(-1)
      if (found === undefined && keys?.has(name) === true) {
        const key = text.slice(offset, offset + length)
        found = { key: length > longestKey ? `${key.slice(0, longestKey)}…` : key, offset }
      }
      keys?.add(name)
    },
  })
  return found
}

function jsonc(): typeof Jsonc {
  return createRequire(import.meta.url)('jsonc-parser')
}
