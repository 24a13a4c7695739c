import { type JsonInText, jsonObjectsIn } from './json-in-text.ts'

/** A word of a text that may name a tool, and the parameters beside it. */
export interface WrittenName {
  /** As it stands there, with the punctuation that may end its sentence. */
  token: string
  start: number
  /** Where the JSON behind it begins, readable or not. */
  opening?: number | undefined
  /** The JSON object before it. */
  before?: JsonInText | undefined
}

/** A run of the characters that ids are made of. */
const token = /[A-Za-z0-9_.:-]+/g
/** An id, the prefix of a client and the punctuation around it are never as long. */
const longestToken = 1000

/** Further away nothing belongs to a name. */
const widestGap = 120

/** What may stand between a name and its parameters: a quote, `with params:`, a code fence, `(`. */
const behind =
  /^[`"']?\s*(?:with\s+)?(?:the\s+)?(?:following\s+)?(?:json\s+)?(?:params|parameters|arguments|args|input|json)?\s*[:=,]?\s*(?:```[a-z0-9]{0,10}\s*)?[`"'(]?\s*$/i

/** What may stand between parameters and a name behind them. */
const ahead =
  /^[`"']?\s*(?:```)?\s*[,;:.]?\s*(?:(?:and|then|as|are|is|please|the|to|into|for|of|in|on|by|with|using|use|call|run|execute|invoke|tool|params|parameters|arguments|args|input)\s+){0,6}[`"']?$/i

/** Said right before a word, this makes a name of it. */
const calls = /(?:use|call|run|execute|invoke|tool)\s+[`"']?$|[`"']$/i

/** A name of several words: `take_screenshot`, `query-docs`, `takeScreenshot`. */
export const isSeveralWords: RegExp = /[A-Za-z0-9][_.:-]+[A-Za-z0-9]|[a-z0-9][A-Z]/

/**
 * The words outside of JSON that may name a tool: those with `__` or `:` in them, and those that
 * stand beside a JSON object, as a call is written. Beside JSON a word like any other is a name only
 * where nothing else can be meant.
 */
export function writtenNames(text: string): WrittenName[] {
  const objects = jsonObjectsIn(text)
  const names: WrittenName[] = []
  for (const found of text.matchAll(token)) {
    const [written] = found
    const { index: start } = found
    const isInside = objects.some((object) => object.start <= start && start < object.end)
    if (isInside || written.length > longestToken) continue
    const name = { token: written, start }
    const opening = openingBehind(text, start + written.replace(/[.:-]+$/, '').length, written)
    const before = objectBefore(text, start, written, objects)
    if (opening !== undefined || before !== undefined || mayBeId(written)) {
      names.push({ ...name, opening, before })
    }
  }
  return names
}

function mayBeId(written: string): boolean {
  return written.includes('__') || /[A-Za-z0-9]:[A-Za-z0-9]/.test(written)
}

function openingBehind(text: string, end: number, written: string): number | undefined {
  const near = text.slice(end, end + widestGap)
  const at = near.indexOf('{')
  if (at < 0 || !behind.test(near.slice(0, at))) return undefined
  const isClear = isSeveralWords.test(written) || /^\{\s*["}]/.test(near.slice(at))
  return isClear ? end + at : undefined
}

function objectBefore(
  text: string,
  start: number,
  written: string,
  objects: readonly JsonInText[],
): JsonInText | undefined {
  const object = objects.findLast(({ end }) => end <= start)
  if (object === undefined || start - object.end > widestGap) return undefined
  const gap = text.slice(object.end, start)
  const isClear = isSeveralWords.test(written) || calls.test(gap)
  return isClear && ahead.test(gap) ? object : undefined
}
