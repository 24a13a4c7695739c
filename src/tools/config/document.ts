import { createRequire } from 'node:module'
import type * as Jsonc from 'jsonc-parser'
import type * as Toml from 'smol-toml'
import { messageOf } from '#core/errors'
import { placesIn, withoutMark } from '#core/text'
import {
  deepestJson,
  isObject,
  parseJson,
  tooDeepAt,
  type JsonValue,
  type JsonObject,
} from '#core/json'

export interface Document {
  ok: true
  root: JsonObject
  /** Returns the line of the innermost existing key on the path. */
  lineOf(place: readonly string[]): number | undefined
  /** Returns the keys that occur again in the object at a place; the last one counts. Empty for TOML. */
  repeatedIn(place: readonly string[]): readonly string[]
}

type DocumentReading =
  | Document
  | { ok: false; message: string; line?: number | undefined; column?: number | undefined }

/** @param strict whether JSON must have no comments and trailing commas and must not be empty */
export function readDocument(
  text: string,
  syntax: 'json' | 'toml',
  strict = false,
): DocumentReading {
  const body = withoutMark(text)
  return syntax === 'json' ? readJson(body, strict) : readToml(body)
}

function readJson(text: string, strict: boolean): DocumentReading {
  const placeOf = placesIn(text)
  const deep = tooDeepAt(text)
  if (deep !== undefined) {
    const message = `it is nested deeper than ${deepestJson} levels`
    return { ok: false, message, ...placeOf(deep) }
  }
  const parser: typeof Jsonc = createRequire(import.meta.url)('jsonc-parser')
  const errors: Jsonc.ParseError[] = []
  const options = { allowTrailingComma: !strict, disallowComments: strict }
  // Most files are plain JSON, and some are a program's own record of many megabytes.
  const plainJson: unknown = text.trim() === '' && !strict ? {} : parseJson(text)
  const root: unknown = plainJson ?? parser.parse(text, errors, options)
  const [error] = errors
  if (error) {
    const name = parser.printParseErrorCode(error.error)
    // `PropertyNameExpected` reads `property name expected`.
    const words = name.replace(/(?<!^)[A-Z]/g, ' $&').toLowerCase()
    return { ok: false, message: `it is not JSON: ${words}`, ...placeOf(error.offset) }
  }
  if (!isObject<JsonValue>(root)) return { ok: false, message: 'it must be a JSON object', line: 1 }
  let tree: Jsonc.Node | undefined
  const members = new Map<Jsonc.Node, ReturnType<typeof membersOf>>()
  const nodeAt = (place: readonly string[]): Jsonc.Node | undefined => {
    tree ??= parser.parseTree(text, [], options)
    return place.reduce<Jsonc.Node | undefined>((node, key) => {
      if (!node) return undefined
      const nodesByKey = members.get(node) ?? membersOf(node)
      members.set(node, nodesByKey)
      return nodesByKey.get(key)
    }, tree)
  }
  return {
    ok: true,
    root,
    lineOf: (place) =>
      innermost(place, (keys) => {
        const node = nodeAt(keys)
        return (
          node && placeOf(node.parent?.type === 'property' ? node.parent.offset : node.offset).line
        )
      }),
    repeatedIn(place) {
      const node = nodeAt(place)
      const keys = new Set<string>()
      const properties = node?.type === 'object' ? (node.children ?? []) : []
      return properties.flatMap(({ children }) => {
        const key = String(children?.[0]?.value)
        const isRepeated = keys.has(key)
        keys.add(key)
        return isRepeated ? [key] : []
      })
    },
  }
}

/** Returns the values of an object by key, the first of each, or of a list by index. */
function membersOf({ type, children = [] }: Jsonc.Node): ReadonlyMap<string, Jsonc.Node> {
  const members = new Map<string, Jsonc.Node>()
  for (const [at, child] of children.entries()) {
    const [key, value] = type === 'object' ? (child.children ?? []) : [undefined, child]
    const name = key ? String(key.value) : String(at)
    if (value && !members.has(name)) members.set(name, value)
  }
  return members
}

function readToml(text: string): DocumentReading {
  const { parse, TomlError }: typeof Toml = createRequire(import.meta.url)('smol-toml')
  try {
    const root: unknown = JSON.parse(JSON.stringify(parse(text)))
    const tables = text.split('\n').map((line) => JSON.stringify(namesOfTable(line)))
    const lines = new Map(tables.map((table, at) => [table, at + 1] as const).toReversed())
    const lineOf: Document['lineOf'] = (place) =>
      innermost(place, (keys) => lines.get(JSON.stringify(keys)))
    const repeatedIn = (): string[] => []
    return { ok: true, root: isObject<JsonValue>(root) ? root : {}, lineOf, repeatedIn }
  } catch (error) {
    const [first = ''] = messageOf(error).split('\n')
    const at = error instanceof TomlError ? { line: error.line, column: error.column } : {}
    return { ok: false, message: `it is not TOML: ${first}`, ...at }
  }
}

function innermost(
  place: readonly string[],
  lineAt: (keys: string[]) => number | undefined,
): number | undefined {
  const lines = place.map((_, at) => lineAt(place.slice(0, at + 1)))
  return lines.findLast((line) => line !== undefined)
}

/** `["mcp_servers", "a b"]` for `[mcp_servers."a b"]`. */
function namesOfTable(line: string): string[] {
  const header = /^\s*\[+([^[\]]+)\]/.exec(line)?.[1] ?? ''
  return [...header.matchAll(/"([^"]*)"|'([^']*)'|([\w-]+)/g)].map(
    ([, double, single, bare]) => double ?? single ?? bare ?? '',
  )
}
