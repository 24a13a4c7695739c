import { createRequire } from 'node:module'
import type * as Jsonc from 'jsonc-parser'
import type * as Toml from 'smol-toml'
import { isObject, parseJson, tooDeepAt } from '../../core/json.ts'
import { messageOf } from '../../core/errors.ts'
import { placesIn } from '../../core/text.ts'
import type { JsonValue } from '../../skill/model.ts'
import type { JsonObject } from '../model.ts'
import { jsonc, readJsonText } from '../workflow/read-workflows.ts'

export interface Document {
  ok: true
  root: JsonObject
  /** The line of the innermost key on the way that is there. */
  lineOf(place: readonly string[]): number | undefined
}

type DocumentReading =
  | Document
  | { ok: false; message: string; line?: number | undefined; column?: number | undefined }

/** @param strict whether JSON may have no comments and trailing commas, nor be empty */
export function readDocument(
  text: string,
  syntax: 'json' | 'toml',
  strict = false,
): DocumentReading {
  return syntax === 'json' ? readJson(text, strict) : readToml(text)
}

function readJson(text: string, strict: boolean): DocumentReading {
  const placeOf = placesIn(text)
  let tree: Jsonc.Node | undefined
  // Most files are plain JSON, and some are a program's own record of many megabytes.
  let root: unknown = tooDeepAt(text) === undefined ? parseJson(text) : undefined
  if (root === undefined && text.trim() === '' && !strict) root = {}
  if (root === undefined) {
    const reading = readJsonText(text)
    if (!reading.ok)
      return { ...reading, message: `it is ${reading.message}`, ...placeOf(reading.offset) }
    if (strict) return { ok: false, message: 'it has comments or trailing commas' }
    tree = reading.root
    root = jsonc().getNodeValue(tree)
  }
  if (!isObject<JsonValue>(root)) return { ok: false, message: 'it must be a JSON object', line: 1 }
  return {
    ok: true,
    root,
    lineOf(place) {
      tree ??= jsonc().parseTree(text)
      return innermost(place, (keys) => {
        const value = tree && jsonc().findNodeAtLocation(tree, keys)
        return value?.parent && placeOf(value.parent.offset).line
      })
    },
  }
}

function readToml(text: string): DocumentReading {
  const { parse, TomlError }: typeof Toml = createRequire(import.meta.url)('smol-toml')
  try {
    const root: unknown = JSON.parse(JSON.stringify(parse(text)))
    const tables = text.split('\n').map((line) => JSON.stringify(namesOfTable(line)))
    const lineOf: Document['lineOf'] = (place) =>
      innermost(place, (keys) => tables.indexOf(JSON.stringify(keys)) + 1 || undefined)
    return { ok: true, root: isObject<JsonValue>(root) ? root : {}, lineOf }
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
