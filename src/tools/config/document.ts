import { createRequire } from 'node:module'
import type * as Jsonc from 'jsonc-parser'
import type * as Toml from 'smol-toml'
import { deepestJson, isObject, tooDeepAt } from '../../core/json.ts'
import { messageOf } from '../../core/errors.ts'
import { placesIn } from '../../core/text.ts'
import type { JsonValue } from '../../skill/model.ts'
import type { JsonObject } from '../model.ts'

/** A configuration file as a value. */
export type DocumentReading =
  | {
      ok: true
      root: JsonObject
      /** The line of the innermost key on the way that is there. */
      lineOf(place: readonly string[]): number | undefined
      /** The keys that the object at a place has more than once, with the lines of the later ones. */
      repeatedIn(place: readonly string[]): readonly { key: string; line: number }[]
    }
  | { ok: false; message: string; line?: number | undefined; column?: number | undefined }

export function readDocument(text: string, syntax: 'json' | 'toml'): DocumentReading {
  return syntax === 'json' ? readJson(text) : readToml(text)
}

/** JSON, with comments and trailing commas. */
function readJson(text: string): DocumentReading {
  const placeOf = placesIn(text)
  const deep = tooDeepAt(text)
  if (deep !== undefined) {
    const message = `it is nested deeper than ${deepestJson} levels`
    return { ok: false, message, ...placeOf(deep) }
  }
  const parser = jsonc()
  const errors: Jsonc.ParseError[] = []
  const options = { allowTrailingComma: true }
  const root: unknown =
    text.trim() === '' ? {} : (plainJson(text) ?? parser.parse(text, errors, options))
  const [error] = errors
  if (error !== undefined) {
    const name = parser.printParseErrorCode(error.error)
    const words = name.replace(/(?<!^)[A-Z]/g, ' $&').toLowerCase()
    return { ok: false, message: `it is not JSON: ${words}`, ...placeOf(error.offset) }
  }
  if (!isObject<JsonValue>(root)) return { ok: false, message: 'it must be a JSON object', line: 1 }
  let tree: Jsonc.Node | undefined
  const members = new Map<Jsonc.Node, ReadonlyMap<string, Jsonc.Node>>()
  const treeOf = (): Jsonc.Node | undefined => (tree ??= parser.parseTree(text, [], options))
  const membersOf = (node: Jsonc.Node): ReadonlyMap<string, Jsonc.Node> => {
    const known = members.get(node)
    const found =
      known ?? new Map((node.children ?? []).map((member) => [keyOf(member) ?? '', member]))
    members.set(node, found)
    return found
  }
  return {
    ok: true,
    root,
    lineOf(place) {
      let node = treeOf()
      let member: Jsonc.Node | undefined
      for (const key of place) {
        const next: Jsonc.Node | undefined = node && membersOf(node).get(key)
        if (next === undefined) break
        member = next
        node = next.children?.[1]
      }
      return member && placeOf(member.offset).line
    },
    repeatedIn(place) {
      const whole = treeOf()
      const node = whole && parser.findNodeAtLocation(whole, [...place])
      const seen = new Set<string>()
      return (node?.children ?? []).flatMap((member) => {
        const key = keyOf(member) ?? ''
        const isFirst = !seen.has(key)
        seen.add(key)
        return isFirst ? [] : [{ key, line: placeOf(member.offset).line }]
      })
    },
  }
}

function keyOf(member: Jsonc.Node): string | undefined {
  return member.children?.[0] && String(member.children[0].value)
}

/** Most files are plain JSON, and some are a program's own record of many megabytes. */
function plainJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function readToml(text: string): DocumentReading {
  const { parse, TomlError } = toml()
  try {
    const root: unknown = JSON.parse(JSON.stringify(parse(text)))
    return {
      ok: true,
      root: isObject<JsonValue>(root) ? root : {},
      lineOf: linesInToml(text),
      repeatedIn: () => [],
    }
  } catch (error) {
    const [first = ''] = messageOf(error).split('\n')
    const at = error instanceof TomlError ? { line: error.line, column: error.column } : {}
    const problem = first.replace(/^Invalid TOML document: /, '')
    return { ok: false, message: `it is not TOML: ${problem}`, ...at }
  }
}

/** The line of the innermost table on the way, or of the key in it. */
function linesInToml(text: string): (place: readonly string[]) => number | undefined {
  let lines: Map<string, number> | undefined
  return (place) => {
    lines ??= readLines(text)
    for (let length = place.length; length > 0; length--) {
      const line = lines.get(JSON.stringify(place.slice(0, length)))
      if (line !== undefined) return line
    }
    return undefined
  }
}

/** The first line of each table and of each of its keys, by their place as JSON. */
function readLines(text: string): Map<string, number> {
  const found = new Map<string, number>()
  let table: readonly string[] = []
  for (const [index, line] of text.split('\n').entries()) {
    const header = /^\s*\[+([^[\]]+)\]/.exec(line)?.[1]
    const key =
      header === undefined ? /^\s*("[^"]+"|'[^']+'|[\w-]+)\s*=/.exec(line)?.[1] : undefined
    if (header !== undefined) table = namesIn(header)
    else if (key === undefined) continue
    const place = JSON.stringify(key === undefined ? table : [...table, ...namesIn(key)])
    if (!found.has(place)) found.set(place, index + 1)
  }
  return found
}

/** `a."b.c"` as its names. */
function namesIn(dotted: string): string[] {
  return [...dotted.matchAll(/"([^"]*)"|'([^']*)'|([\w-]+)/g)].map(
    ([, double, single, bare]) => double ?? single ?? bare ?? '',
  )
}

/** Both are loaded only when there is a file to read. */
function jsonc(): typeof Jsonc {
  const loaded: typeof Jsonc = createRequire(import.meta.url)('jsonc-parser')
  return loaded
}

function toml(): typeof Toml {
  const loaded: typeof Toml = createRequire(import.meta.url)('smol-toml')
  return loaded
}
