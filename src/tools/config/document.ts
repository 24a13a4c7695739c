import { createRequire } from 'node:module'
import type * as Jsonc from 'jsonc-parser'
import type * as Toml from 'smol-toml'
import { deepestJson, isObject, tooDeepAt } from '../../core/json.ts'
import { messageOf } from '../../core/errors.ts'
import { placesIn } from '../../core/text.ts'
import type { JsonValue } from '../../skill/model.ts'
import type { JsonObject } from '../model.ts'

/** A configuration file as a value, with the lines of what stands in it. */
export type DocumentReading =
  | {
      ok: true
      root: JsonObject
      repeated: readonly RepeatedKey[]
      lineOf(place: readonly string[]): number | undefined
    }
  | { ok: false; message: string; line?: number | undefined; column?: number | undefined }

export interface RepeatedKey {
  place: readonly string[]
  line: number
}

export function readDocument(text: string, syntax: 'json' | 'toml'): DocumentReading {
  return syntax === 'json' ? readJson(text) : readToml(text)
}

/** Above this a file is a program's own record, and is read the quick way where it is plain JSON. */
const treeLimit = 262_144

function readJson(text: string): DocumentReading {
  if (text.trim() === '') return document({}, [], () => undefined)
  const deep = tooDeepAt(text)
  if (deep !== undefined) {
    const message = `it is nested deeper than ${deepestJson} levels`
    return { ok: false, message, ...placesIn(text)(deep) }
  }
  const quick = text.length > treeLimit ? parsePlain(text) : undefined
  if (quick !== undefined) return document(quick, [], linesInJson(text))
  const placeOf = placesIn(text)
  const parser = jsonc()
  const errors: Jsonc.ParseError[] = []
  const tree = parser.parseTree(text, errors, { allowTrailingComma: true })
  const [error] = errors
  if (error !== undefined) {
    const name = parser.printParseErrorCode(error.error)
    const words = name.replace(/(?<!^)[A-Z]/g, ' $&').toLowerCase()
    return { ok: false, message: `it is not JSON: ${words}`, ...placeOf(error.offset) }
  }
  const repeated: RepeatedKey[] = []
  const lineAt = (offset: number): number => placeOf(offset).line
  const root = tree === undefined ? undefined : valueOf(tree, [], { repeated, lineAt })
  if (!isObject<JsonValue>(root)) return { ok: false, message: 'it must be a JSON object', line: 1 }
  return document(root, repeated, linesInJson(text, tree))
}

function document(
  root: JsonObject,
  repeated: readonly RepeatedKey[],
  lineOf: (place: readonly string[]) => number | undefined,
): DocumentReading {
  return { ok: true, root, repeated, lineOf }
}

function parsePlain(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject<JsonValue>(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Built with own properties only: a key called `__proto__` is a key like any other. */
function valueOf(
  node: Jsonc.Node,
  place: readonly string[],
  found: { repeated: RepeatedKey[]; lineAt(offset: number): number },
): JsonValue {
  if (node.type === 'array') {
    return (node.children ?? []).map((child, index) =>
      valueOf(child, [...place, String(index)], found),
    )
  }
  if (node.type !== 'object') return scalarOf(node.value)
  const entries = new Map<string, JsonValue>()
  for (const property of node.children ?? []) {
    const [key, child] = property.children ?? []
    if (key === undefined || child === undefined) continue
    const name = String(key.value)
    const inner = [...place, name]
    if (entries.has(name)) found.repeated.push({ place: inner, line: found.lineAt(key.offset) })
    entries.set(name, valueOf(child, inner, found))
  }
  return Object.fromEntries(entries)
}

function scalarOf(value: unknown): JsonValue {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? value
    : null
}

/** The line of the innermost key on the way that is there. A file may have thousands to ask for. */
function linesInJson(
  text: string,
  parsed?: Jsonc.Node,
): (place: readonly string[]) => number | undefined {
  const placeOf = placesIn(text)
  const members = new Map<Jsonc.Node, ReadonlyMap<string, Jsonc.Node>>()
  let root = parsed
  return (place) => {
    root ??= jsonc().parseTree(text)
    let node = root
    let property: Jsonc.Node | undefined
    for (const key of place) {
      const next: Jsonc.Node | undefined = node && membersOf(node).get(key)
      if (next === undefined) break
      property = next
      node = next.children?.[1]
    }
    return property && placeOf(property.offset).line
  }

  function membersOf(node: Jsonc.Node): ReadonlyMap<string, Jsonc.Node> {
    const known = members.get(node)
    if (known !== undefined) return known
    const all = (node.children ?? []).toReversed()
    const found = new Map(all.map((child) => [String(child.children?.[0]?.value), child]))
    members.set(node, found)
    return found
  }
}

function readToml(text: string): DocumentReading {
  const { parse, TomlError } = toml()
  try {
    const root: unknown = JSON.parse(JSON.stringify(parse(text)))
    return document(isObject<JsonValue>(root) ? root : {}, [], linesInToml(text))
  } catch (error) {
    const [first = ''] = messageOf(error).split('\n')
    const at = error instanceof TomlError ? { line: error.line, column: error.column } : {}
    return {
      ok: false,
      message: `it is not TOML: ${first.replace(/^Invalid TOML document: /, '')}`,
      ...at,
    }
  }
}

/** The line of the innermost table on the way, or of the key in it. A file may have thousands to ask for. */
function linesInToml(text: string): (place: readonly string[]) => number | undefined {
  let tables: Map<string, number> | undefined
  const keys = new Map<string, number[]>()
  return (place) => {
    tables ??= read()
    for (let length = place.length; length > 0; length--) {
      const at = tables.get(withoutQuotes(place.slice(0, length).join('.')))
      if (at === undefined) continue
      const key = place[length]
      return (key === undefined ? undefined : firstBehind(at, keys.get(key) ?? [])) ?? at
    }
    return undefined
  }

  function read(): Map<string, number> {
    const found = new Map<string, number>()
    for (const [index, line] of text.split('\n').entries()) {
      const written = line.trim()
      const name = withoutQuotes(written.replace(/^\[+/, '').split(']', 1)[0] ?? '')
      if (written.startsWith('[') && !found.has(name)) found.set(name, index + 1)
      const key = /^[\w-]+|(?<=^")[^"]+|(?<=^')[^']+/.exec(written)?.[0]
      if (key === undefined) continue
      const known = keys.get(key)
      if (known === undefined) keys.set(key, [index + 1])
      else known.push(index + 1)
    }
    return found
  }
}

function withoutQuotes(name: string): string {
  return name.replace(/["'\s]/g, '')
}

/** The first of ascending numbers that is greater. */
function firstBehind(than: number, numbers: readonly number[]): number | undefined {
  let low = 0
  for (let high = numbers.length; low < high;) {
    const middle = (low + high) >> 1
    if ((numbers[middle] ?? 0) > than) high = middle
    else low = middle + 1
  }
  return numbers[low]
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
