import type { JsonValue } from '../../skill/model.ts'
import { objectOf } from '../../core/json.ts'
import { withoutEnd } from '../../core/text.ts'
import type { JsonObject, ToolSummary } from '../model.ts'
import { splitClauses } from '../parameters/clauses.ts'
import type { CallIndex } from './context.ts'
import { endOfJson, readJson, readJsonIn } from './directive-text.ts'
import { resolveTool } from './find-tool.ts'

export type PassthroughReading =
  | { kind: 'none' }
  | {
      kind: 'tool'
      tool: ToolSummary
      written: string
      /** The JSON behind the name; undefined where there is none. */
      params: JsonObject | undefined
    }
  | { kind: 'unknown'; written: string }
  | { kind: 'broken'; written: string; message: string }

const nameAlone =
  /^\s*(?:(?:please\s+)?(?:use|call|run|execute|invoke)\s+)?(?:the\s+tool\s+)?[`"']?([A-Za-z][A-Za-z0-9_.:-]{1,255})[`"']?/i

/**
 * Finds the call of a tool in a text, which is then made without routing: the first token with `__`
 * that is known, or any name of a tool with its parameters in JSON behind it. Other words with
 * `__`, such as `__init__.py`, are prose. `find` may know other spellings.
 */
export function parsePassthrough(
  text: string,
  index: Pick<CallIndex, 'tools'>,
  find: ToolFinder = exactly,
): PassthroughReading {
  const named = calledTools(text, (id) => find(id, index))
  const [first] = named
  if (first === undefined) {
    const written = loneName(text)
    return written === undefined ? { kind: 'none' } : { kind: 'unknown', written }
  }
  const [call = first, again] = named.filter(({ tool, reading }) => {
    return tool.id === first.tool.id && !(reading.ok && reading.value === undefined)
  })
  const { tool, written, reading, isBare } = call
  const names = index.tools.map(({ name }) => name)
  // The rest of such a request is found by routing its clauses.
  if (isBare && splitClauses(text, names).length > 1) return { kind: 'none' }
  if (!reading.ok) return { kind: 'broken', written, message: reading.message }
  const other = named.find((one) => one.tool.id !== tool.id)
  if (other !== undefined || again !== undefined) {
    const said = other === undefined ? `calls ${written} twice` : `names ${other.written} too`
    const message = `the text ${said}; put both into BATCH: […] or CHAIN: […]`
    return { kind: 'broken', written, message }
  }
  if (readJsonIn(text).objects.length < 2) {
    return { kind: 'tool', tool, written, params: reading.value }
  }
  const message = 'the text has two JSON objects; put its parameters into one'
  return { kind: 'broken', written, message }
}

type ToolFinder = (id: string, index: Pick<CallIndex, 'tools'>) => ToolSummary | undefined

function exactly(id: string, index: Pick<CallIndex, 'tools'>): ToolSummary | undefined {
  const resolution = resolveTool(id, index)
  return resolution.kind === 'found' ? resolution.tool : undefined
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

interface CalledTool {
  tool: ToolSummary
  written: string
  /** Not an id: only the JSON behind it makes it a name. */
  isBare: boolean
  reading: ParamsReading
}

function calledTools(
  text: string,
  find: (id: string) => ToolSummary | undefined,
): readonly CalledTool[] {
  return writtenNames(text).flatMap((name) => {
    const hit = knownTool(name, find)
    if (hit === undefined) return []
    const isBare = !hit.written.includes('__')
    return { ...hit, isBare, reading: paramsOf(text, name.opening) }
  })
}

function knownTool(
  { token, opening }: WrittenName,
  find: (id: string) => ToolSummary | undefined,
): { tool: ToolSummary; written: string } | undefined {
  const part = behindColon(token) ?? ''
  const isName = part.includes('__') || opening !== undefined
  for (const written of new Set([
    token,
    withoutEnd(token, '.:-'),
    withoutEnd(token.replace(/^[.:-]+/, ''), '.:_-'),
    isName ? part : '',
  ])) {
    const tool = written === '' ? undefined : find(written)
    if (tool !== undefined) return { tool, written }
  }
  return undefined
}

type ParamsReading = { ok: true; value: JsonObject | undefined } | { ok: false; message: string }

function paramsOf(text: string, opening: number | undefined): ParamsReading {
  if (opening === undefined) return { ok: true, value: undefined }
  const end = endOfJson(text, opening)
  if (end === undefined) return { ok: false, message: 'its parameters are never closed' }
  const reading = readJson(text.slice(opening, end))
  if (!reading.ok) return { ok: false, message: `its parameters are ${reading.problem}` }
  return { ok: true, value: objectOf<JsonValue>(reading.value) }
}

interface WrittenName {
  /** As it stands there, with the punctuation that may end its sentence. */
  token: string
  start: number
  /** Where the JSON behind it begins, readable or not. */
  opening: number | undefined
}

const token = /[A-Za-z0-9_.:-]+/g
/** An id, the prefix of a client and the punctuation around it are never as long. */
const longestToken = 1000

const widestGap = 120

/**
 * What may stand between a name and its parameters: a quote, `with params:`, a code fence, `(`.
 * It expects single blanks, to stay linear.
 */
const behind =
  /^[`"']? ?(?:with )?(?:the )?(?:following )?(?:json )?(?:params|parameters|arguments|args|input|json)? ?[:=,]? ?(?:```[a-z0-9]{0,10} ?)?[`"'(]? ?$/i

/** A name of several words: `take_screenshot`, `query-docs`, `takeScreenshot`. */
const isSeveralWords: RegExp = /[A-Za-z0-9][_.:-]+[A-Za-z0-9]|[a-z0-9][A-Z]/

/**
 * The words outside of JSON that may name a tool: those with `__` or `:`, and those before a JSON
 * object. Of those an ordinary word is a name only where it is unambiguous.
 */
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
    if (opening !== undefined || mayBeId(written)) names.push({ token: written, start, opening })
  }
  return names
}

/**
 * Whether no word of another script continues where a name ends, as in `db__dropé`. Before a name there
 * may be a letter of a script without spaces.
 */
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
