import { createRequire } from 'node:module'
import type * as Jsonc from 'jsonc-parser'
import type * as Toml from 'smol-toml'
import { deepestJson, isObject, parseJson, tooDeepAt } from '../../core/json.ts'
import { messageOf } from '../../core/errors.ts'
import { placesIn } from '../../core/text.ts'
import type { JsonValue } from '../../skill/model.ts'
import type { JsonObject } from '../model.ts'

export interface Document {
  ok: true
  root: JsonObject
  /** The line of the innermost key on the way that is there. */
  lineOf(place: readonly string[]): number | undefined
  /** The keys that the object at a place has more than once, with the lines of the later ones. */
  repeatedIn(place: readonly string[]): readonly { key: string; line: number }[]
}

type DocumentReading =
  | Document
  | { ok: false; message: string; line?: number | undefined; column?: number | undefined }

interface KeyLine {
  place: readonly string[]
  line: number
}

/** No field of a server is deeper: `projects`, PATH, `mcpServers`, NAME, `env`. */
const deepestKey = 5

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
  const deep = tooDeepAt(text)
  if (deep !== undefined) {
    const message = `it is nested deeper than ${deepestJson} levels`
    return { ok: false, message, ...placeOf(deep) }
  }
  const parser: typeof Jsonc = createRequire(import.meta.url)('jsonc-parser')
  const errors: Jsonc.ParseError[] = []
  const options = { allowTrailingComma: !strict, disallowComments: strict }
  const root: unknown =
    // Most files are plain JSON, and some are a program's own record of many megabytes.
    text.trim() === '' && !strict ? {} : (parseJson(text) ?? parser.parse(text, errors, options))
  const [error] = errors
  if (error !== undefined) {
    const name = parser.printParseErrorCode(error.error)
    const words = name.replace(/(?<!^)[A-Z]/g, ' $&').toLowerCase()
    return { ok: false, message: `it is not JSON: ${words}`, ...placeOf(error.offset) }
  }
  if (!isObject<JsonValue>(root)) return { ok: false, message: 'it must be a JSON object', line: 1 }
  return readingOf(root, () => {
    const keys: KeyLine[] = []
    const visitor: Jsonc.JSONVisitor = {
      onObjectProperty(name, _offset, _length, line, _column, parent) {
        const place = parent().map(String)
        if (place.length < deepestKey) keys.push({ place: [...place, name], line: line + 1 })
      },
    }
    parser.visit(text, visitor, options)
    return keys
  })
}

function readToml(text: string): DocumentReading {
  const { parse, TomlError }: typeof Toml = createRequire(import.meta.url)('smol-toml')
  try {
    const root: unknown = JSON.parse(JSON.stringify(parse(text)))
    const reading = readingOf(isObject<JsonValue>(root) ? root : {}, () => tomlKeys(text))
    // TOML has no repeated keys; lines of a long text can look like them.
    return { ...reading, repeatedIn: () => [] }
  } catch (error) {
    const [first = ''] = messageOf(error).split('\n')
    const at = error instanceof TomlError ? { line: error.line, column: error.column } : {}
    const problem = first.replace(/^Invalid TOML document: /, '')
    return { ok: false, message: `it is not TOML: ${problem}`, ...at }
  }
}

/** The keys are read when a line is asked for; of two with one place the later one counts. */
function readingOf(root: JsonObject, keysOf: () => readonly KeyLine[]): Document {
  const lines = new Map<string, number>()
  const repeated: { parent: string; key: string; line: number }[] = []
  const load = (): void => {
    if (lines.size > 0) return
    for (const { place, line } of keysOf()) {
      const [id, parent] = [JSON.stringify(place), JSON.stringify(place.slice(0, -1))]
      if (lines.has(id)) repeated.push({ parent, key: place.at(-1) ?? '', line })
      lines.set(id, line)
    }
  }
  return {
    ok: true,
    root,
    lineOf(place) {
      load()
      const ways = place.map((_, at) => lines.get(JSON.stringify(place.slice(0, at + 1))))
      return ways.findLast((line) => line !== undefined)
    },
    repeatedIn(place) {
      load()
      return repeated.filter(({ parent }) => parent === JSON.stringify(place))
    },
  }
}

/** Each table of a TOML file and each key in it. */
function tomlKeys(text: string): KeyLine[] {
  let table: readonly string[] = []
  return text.split('\n').flatMap((line, at): KeyLine[] => {
    const header = /^\s*\[+([^[\]]+)\]/.exec(line)?.[1]
    if (header !== undefined) table = namesIn(header)
    const key = /^\s*("[^"]+"|'[^']+'|[\w-]+)\s*=/.exec(line)?.[1]
    if (header === undefined && key === undefined) return []
    const place = header === undefined ? [...table, ...namesIn(key ?? '')] : table
    return [{ place, line: at + 1 }]
  })
}

function namesIn(dotted: string): string[] {
  return [...dotted.matchAll(/"([^"]*)"|'([^']*)'|([\w-]+)/g)].map(
    ([, double, single, bare]) => double ?? single ?? bare ?? '',
  )
}
