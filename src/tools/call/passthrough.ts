import { type JsonValue, objectOf, type JsonObject } from '#core/json'
import { withoutEnd } from '#core/text'
import type { ToolSummary } from '#tools/model'
import { only } from '#tools/parameters/reading'
import { splitClauses } from '#tools/parameters/slots'
import type { CallIndex } from './context.ts'
import { endOfJson, readJson, readJsonIn } from './directive-text.ts'
import { ToolRequestError } from '#tools/errors'
import { resolveTool, serverOf } from './find-tool.ts'

export type PassthroughReading =
  | { kind: 'none' }
  | {
      kind: 'tool'
      tool: ToolSummary
      written: string
      /** Only its letters and digits are those of the tool. */
      isLoose: boolean
      /** The JSON behind the name; undefined where there is none. */
      params: JsonObject | undefined
    }
  | { kind: 'unknown'; written: string }

const nameAlone =
  /^\s*(?:(?:please\s+)?(?:use|call|run|execute|invoke)\s+)?(?:the\s+tool\s+)?[`"']?([A-Za-z][A-Za-z0-9_.:-]+)[`"']?/i

/**
 * Finds a call that needs no routing: the first known id, or a name before JSON. A tool is spelt
 * otherwise only where it stands alone or before JSON; `__init__.py` is prose.
 *
 * @throws {ToolRequestError} `passthrough-syntax`
 */
export function parsePassthrough(
  text: string,
  index: Pick<CallIndex, 'tools'>,
): PassthroughReading {
  const lone = loneName(text)
  const named = writtenNames(text)
    .flatMap((name) => calledTool(name, index) ?? [])
    .filter(({ isLoose, opening }) => !isLoose || opening !== undefined || lone !== undefined)
  const [first] = named
  if (!first) {
    const written = lone ?? unknownId(text, index)
    return written === undefined ? { kind: 'none' } : { kind: 'unknown', written }
  }
  const [call = first, again] = named.filter(
    ({ tool, opening }) => tool.id === first.tool.id && opening !== undefined,
  )
  const { tool, written, isLoose, opening } = call
  const names = index.tools.map(({ name }) => name)
  // Where only the JSON makes a word a name, the rest of the request is found by routing its clauses.
  if (!written.includes('__') && splitClauses(text, names).length > 1) return { kind: 'none' }
  const params = opening === undefined ? undefined : paramsAt(text, opening, written)
  const other = named.find((one) => one.tool.id !== tool.id)
  if (other || again) {
    const said = other ? `names ${other.written} too` : `calls ${written} twice`
    throw broken(written, `the text ${said}; put both into BATCH: […] or CHAIN: […]`)
  }
  if (readJsonIn(text).objects.length > 1) {
    throw broken(written, 'the text has two JSON objects; put its parameters into one')
  }
  return { kind: 'tool', tool, written, isLoose, params }
}

function broken(written: string, problem: string): ToolRequestError {
  const message = `${written} cannot be called: ${problem}`
  return new ToolRequestError({ code: 'passthrough-syntax', message })
}

/** An id within a sentence that no tool has: of a server that is there, or one that is to be called. */
function unknownId(text: string, { tools }: Pick<CallIndex, 'tools'>): string | undefined {
  const ids = writtenNames(text).filter(({ token: whole }) => isId(withoutEnd(whole, '.:-')))
  const unknown = ids.find(({ token: whole, start }) => {
    const before = text.slice(Math.max(0, start - widestGap), start)
    const isQuoted = /["'“‘]$/.test(before)
    const isOfPath = /[\\/]$/.test(before) || /^[\\/]/.test(text.slice(start + whole.length))
    if (isOfPath) return false
    return calling.test(before) || (!isQuoted && serverOf(whole, tools) !== undefined)
  })
  return unknown && withoutEnd(unknown.token, '.:-')
}

const calling =
  /(?:\b(?:use|using|call|run|execute|invoke)\s{1,9}(?:the\s{1,9})?(?:tool\s{1,9})?|\btool\s{1,9})[`"']?$/i

/** `github__get_issue`, and not `__init__` or `my__script.py`. */
function isId(name: string): boolean {
  return /[A-Za-z0-9-]__[A-Za-z0-9]/.test(name) && !/\.[a-z]{1,4}$/i.test(name)
}

/** The name that the text consists of, but for a verb before it and parameters after it. */
function loneName(text: string): string | undefined {
  const found = nameAlone.exec(text)
  const written = withoutEnd(found?.[1] ?? '', '.:-')
  const rest = text.slice(found?.[0].length ?? 0).trim()
  const isCall = rest.startsWith('{') && rest.endsWith('}')
  if (/\.[a-z]{1,4}$/i.test(written) || (!isCall && !/^[.!]?$/.test(rest))) return undefined
  const isId = /[^_]__[A-Za-z0-9]/.test(written)
  return isId || (isCall && isSeveralWords.test(written)) ? written : undefined
}

function calledTool({ token: whole, opening }: WrittenName, index: Pick<CallIndex, 'tools'>) {
  const part = behindColon(whole) ?? ''
  const isName = part.includes('__') || opening !== undefined
  for (const written of [withoutEnd(whole, '.:-'), isName ? part : '']) {
    const { found, isLoose } = resolveTool(written, index)
    const tool = only(found)
    if (tool) return { tool, isLoose, written, opening }
  }
  return undefined
}

function paramsAt(text: string, opening: number, written: string): JsonObject {
  const end = endOfJson(text, opening)
  if (end === undefined) throw broken(written, 'its parameters are never closed')
  const reading = readJson(text.slice(opening, end))
  if (!reading.ok) throw broken(written, `its parameters are ${reading.problem}`)
  return objectOf<JsonValue>(reading.value)
}

interface WrittenName {
  /** UTF-16 offset in the text. */
  start: number
  /** As it stands there, with the punctuation that may end its sentence. */
  token: string
  /** Where the JSON behind it begins, readable or not. */
  opening: number | undefined
}

const token = /[A-Za-z0-9_.:-]+/g
/** An id, the prefix of a client and the punctuation around it are never as long. */
const longestToken = 1000

const widestGap = 120

/** What may stand between a name and its JSON. It expects single blanks, to stay linear. */
const behind =
  /^[`"']? ?(?:with )?(?:the )?(?:following )?(?:json )?(?:params|parameters|arguments|args|input|json)? ?[:=,]? ?(?:```[a-z0-9]{0,10} ?)?[`"'(]? ?$/i

/** A name of several words: `take_screenshot`, `query-docs`, `takeScreenshot`. */
const isSeveralWords = /[A-Za-z0-9][_.:-]+[A-Za-z0-9]|[a-z0-9][A-Z]/

/** The words outside of JSON that may name a tool: with `__` or `:`, or right before JSON. */
export function writtenNames(text: string): WrittenName[] {
  const { objects, end: readTo } = readJsonIn(text)
  const names: WrittenName[] = []
  for (const found of text.matchAll(token)) {
    const [written] = found
    const { index: start } = found
    if (start >= readTo) break
    const isInside = objects.some((object) => object.start <= start && start < object.end)
    if (isInside || written.length > longestToken) continue
    if (!isWholeWord(text, start, start + written.length)) continue
    const opening = openingBehind(text, start + withoutEnd(written, '.:-').length, written)
    if (opening !== undefined || mayBeId(written)) names.push({ start, token: written, opening })
  }
  return names
}

/** Whether no letter of another script continues a name, as in `db__dropé`. */
export function isWholeWord(text: string, start: number, end: number): boolean {
  // The patterns that know Unicode take milliseconds to compile.
  const isAscii = !(text.charCodeAt(start - 1) > 0x7f || text.charCodeAt(end) > 0x7f)
  if (isAscii) return true
  const before = /[\p{Lu}\p{Ll}\p{Lt}\p{M}\p{N}]$/u.test(text.slice(Math.max(0, start - 2), start))
  return !before && !/^[\p{L}\p{M}\p{N}]/u.test(text.slice(end, end + 2))
}

/** What `tool:db__write` names where no tool has the whole name: the part behind its last `:`. */
export function behindColon(written: string): string | undefined {
  const whole = withoutEnd(written, '.:-')
  const part = whole.slice(whole.lastIndexOf(':') + 1)
  return part !== whole && isSeveralWords.test(part) ? part : undefined
}

function mayBeId(written: string): boolean {
  return written.includes('__') || /[A-Za-z0-9]:[A-Za-z0-9]/.test(written)
}

function openingBehind(text: string, end: number, written: string): number | undefined {
  const near = text.slice(end, end + widestGap)
  const at = near.indexOf('{')
  if (at < 0 || !behind.test(near.slice(0, at).replaceAll(/\s+/g, ' '))) return undefined
  const isClear = isSeveralWords.test(written) || /^\{\s*["}]/.test(near.slice(at))
  return isClear ? end + at : undefined
}
