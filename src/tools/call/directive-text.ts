import { messageOf } from '#core/errors'
import {
  deepestJson,
  isList,
  isObject,
  tooDeepAt,
  type JsonValue,
  type JsonObject,
} from '#core/json'
import { ToolRequestError } from '#tools/errors'

export interface ToolStep {
  tool: string
  params: JsonObject
  outputAs?: string | undefined
  /** Notes on how it was written, such as keys that mean nothing. */
  notes?: readonly string[] | undefined
}

export type DirectiveKind = 'batch' | 'chain'

export interface Directive {
  kind: DirectiveKind
  steps: readonly ToolStep[]
}

/** A word and a colon right before a list; anything else in prose is not a directive. */
const directive = /(?<![A-Za-z0-9_])(BATCH|CHAIN):\s*(?=\[)/g

/** @throws {ToolRequestError} `batch-syntax`, `chain-syntax` */
export function readDirective(text: string): Directive | undefined {
  directive.lastIndex = 0
  const found = directive.exec(text)
  if (found === null) return undefined
  const kind = found[1] === 'BATCH' ? 'batch' : 'chain'
  const start = directive.lastIndex
  const end = endOfJson(text, start)
  if (end === undefined) throw broken(kind, 'its list is never closed')
  directive.lastIndex = end
  if (directive.test(text)) throw broken(kind, 'a text can have only one BATCH or CHAIN')
  return { kind, steps: readSteps(text.slice(start, end), kind) }
}

/** The steps of a text that must have them, in a directive or as a list alone. */
export function parseDirective(text: string, wanted: DirectiveKind): readonly ToolStep[] {
  const bare = text.trim()
  if (bare.startsWith('[')) return readSteps(bare, wanted)
  const { kind = 'text', steps = [] } = readDirective(text) ?? {}
  if (kind === wanted) return steps
  const example = `${wanted.toUpperCase()}: [{"tool": "name", "params": {}}]`
  throw broken(wanted, `this is a ${kind}, not a ${wanted} such as ${example}`)
}

function readSteps(json: string, kind: DirectiveKind): readonly ToolStep[] {
  const reading = readJson(json)
  if (!reading.ok) throw broken(kind, `its list is ${reading.problem}`)
  if (!isList(reading.value)) throw broken(kind, 'it must be a list')
  return reading.value.map((item, index) => {
    const step = readStep(item, kind)
    if (typeof step === 'string') throw broken(kind, `member ${index + 1} ${step}`)
    return step
  })
}

function readStep(item: JsonValue, kind: DirectiveKind): ToolStep | string {
  if (!isObject(item)) return 'must be an object such as {"tool": "name", "params": {}}'
  const { tool, params = {}, output_as: outputAs } = item
  if (typeof tool !== 'string' || tool.trim() === '') return 'has no "tool"'
  if (!isObject(params)) return 'has "params" that are not an object'
  const step = { tool: tool.trim(), params, outputAs: undefined, ...notesOn(item, kind) }
  if (outputAs === undefined) return step
  if (kind === 'batch') return 'has "output_as", which only a chain can have'
  return typeof outputAs === 'string' && /^[A-Za-z_][A-Za-z0-9_]{0,99}$/.test(outputAs)
    ? { ...step, outputAs }
    : 'has an "output_as" that is not a name of letters, digits and _'
}

/** Misspelt `params` would call the tool without any. */
function notesOn(item: JsonObject, kind: DirectiveKind): Pick<ToolStep, 'notes'> {
  const keys = ['tool', 'params', ...(kind === 'chain' ? ['output_as'] : [])]
  const unknown = Object.keys(item).filter((key) => !keys.includes(key))
  const notes = unknown.map(
    (key) => `\`${key}\` is not a key of a ${kind} member; it has ${keys.join(', ')}.`,
  )
  return notes.length === 0 ? {} : { notes }
}

function broken(kind: DirectiveKind, problem: string): ToolRequestError {
  const message = `the ${kind} cannot be read: ${problem}`
  return new ToolRequestError({ code: `${kind}-syntax`, message })
}

export function endOfJson(text: string, start: number): number | undefined {
  let depth = 0
  let isString = false
  for (let at = start; at < text.length; at++) {
    const character = text[at]
    if (character === '"') isString = !isString
    else if (isString) at += character === '\\' ? 1 : 0
    else if (character === '[' || character === '{') depth++
    else if (character === ']' || character === '}') {
      depth--
      if (depth === 0) return at + 1
    }
  }
  return undefined
}

export interface JsonInText {
  start: number
  end: number
  value: JsonObject
}

/** At most this many beginnings are tried, which bounds the work on a text of nothing but braces. */
const maxTried = 20

/** The outermost JSON objects of a text. Behind `end` may be JSON that was not tried. */
export function readJsonIn(text: string): { objects: readonly JsonInText[]; end: number } {
  const found: JsonInText[] = []
  const opening = /[{[]/g
  for (let tried = 0; ; tried++) {
    const start = opening.exec(text)?.index
    if (start === undefined) return { objects: found, end: text.length }
    if (tried === maxTried) return { objects: found, end: start }
    const end = endOfJson(text, start)
    const reading = end === undefined ? undefined : readJson(text.slice(start, end))
    if (end === undefined || reading?.ok !== true) continue
    opening.lastIndex = end
    if (isObject(reading.value)) found.push({ start, end, value: reading.value })
  }
}

/** How an object or a list of strings, objects and lists begins. */
const beginning = /^[{[]\s*["{[]/
const fence = /^```\w{0,10}\s([\s\S]*)```$/

/** Whether a text is JSON alone, well-formed or not: its strings are data, not words. */
export function isOnlyJson(text: string): boolean {
  const bare = text.trim()
  let rest = (fence.exec(bare)?.[1] ?? bare).trim()
  if (rest === '') return false
  while (rest !== '') {
    const end = beginning.test(rest) ? endOfJson(rest, 0) : undefined
    if (end === undefined) return false
    rest = rest.slice(end).trimStart()
  }
  return true
}

/** The text with spaces in the place of the objects, so that every other place stays as it is. */
export function blankObjects(text: string, objects: readonly JsonInText[]): string {
  let read = 0
  const parts = objects.map(({ start, end }) => {
    const before = text.slice(read, start)
    read = end
    return before + ' '.repeat(end - start)
  })
  return parts.join('') + text.slice(read)
}

export function readJson(
  text: string,
): { ok: true; value: JsonValue } | { ok: false; problem: string } {
  if (tooDeepAt(text) !== undefined) {
    return { ok: false, problem: `nested deeper than ${deepestJson} levels` }
  }
  try {
    return { ok: true, value: JSON.parse(text) }
  } catch (error) {
    return { ok: false, problem: `not JSON: ${messageOf(error)}` }
  }
}
