import { withoutEnd } from '../../base/index.ts'
import { type JsonInText, readJsonIn } from './json-in-text.ts'

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

/**
 * What may stand between a name and its parameters: a quote, `with params:`, a code fence, `(`. Like
 * the next two it is for texts of which every gap is one blank: of many it would try each division.
 */
const behind =
  /^[`"']? ?(?:with )?(?:the )?(?:following )?(?:json )?(?:params|parameters|arguments|args|input|json)? ?[:=,]? ?(?:```[a-z0-9]{0,10} ?)?[`"'(]? ?$/i

/** What may stand between parameters and a name behind them. */
const ahead =
  /^[`"']? ?(?:```)? ?[,;:.]? ?(?:(?:and|then|as|are|is|please|the|to|into|for|of|in|on|by|with|using|use|call|run|execute|invoke|tool|params|parameters|arguments|args|input) ){0,6}[`"']?$/i

/** Said right before a word, this makes a name of it. */
const calls = /(?:use|call|run|execute|invoke|tool) [`"']?$|[`"']$/i

/** A name of several words: `take_screenshot`, `query-docs`, `takeScreenshot`. */
export const isSeveralWords: RegExp = /[A-Za-z0-9][_.:-]+[A-Za-z0-9]|[a-z0-9][A-Z]/

/**
 * The words outside of JSON that may name a tool: those with `__` or `:` in them, and those that
 * stand beside a JSON object, as a call is written. Beside JSON a word like any other is a name only
 * where nothing else can be meant.
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
    const name = { token: written, start }
    const opening = openingBehind(text, start + withoutEnd(written, '.:-').length, written)
    const before = objectBefore(text, start, written, objects)
    if (opening !== undefined || before !== undefined || mayBeId(written)) {
      names.push({ ...name, opening, before })
    }
  }
  return names
}

/**
 * Whether no word of another script goes on where a name ends, as in `db__dropé`. Before a name there
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
  if (at < 0 || !behind.test(oneBlank(near.slice(0, at)))) return undefined
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
  const gap = oneBlank(text.slice(object.end, start))
  const isClear = isSeveralWords.test(written) || calls.test(gap)
  return isClear && ahead.test(gap) ? object : undefined
}

function oneBlank(text: string): string {
  return text.replaceAll(/\s+/g, ' ')
}
