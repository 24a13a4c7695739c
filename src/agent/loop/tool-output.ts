import type { JsonValue } from '../../skill/index.ts'
import { longestResult } from './limits.ts'

/** What the model reads of a tool's result: text as it is, anything else as JSON, at most so long. */
export function outputText(output: JsonValue): string {
  return cutText(typeof output === 'string' ? output : JSON.stringify(output), longestResult)
}

/** The value itself where it is short enough, else its cut text. */
export function cutOutput(output: JsonValue): JsonValue {
  const text = typeof output === 'string' ? output : JSON.stringify(output)
  return text.length <= longestResult ? output : cutText(text, longestResult)
}

/** Keeps the beginning and the end, and says in between how much is missing. */
export function cutText(text: string, most: number): string {
  if (text.length <= most) return text
  const tail = Math.floor(most / 5)
  const head = most - tail
  const missing = text.length - most
  const notice = `[${missing} of ${text.length} characters were left out here: the result is too long. Ask for less.]`
  return `${wholeEnd(text.slice(0, head))}\n${notice}\n${wholeStart(text.slice(-tail))}`
}

/** A cut must not leave half of a character that takes two code units. */
function wholeEnd(text: string): string {
  return /[\uD800-\uDBFF]$/.test(text) ? text.slice(0, -1) : text
}

function wholeStart(text: string): string {
  return /^[\uDC00-\uDFFF]/.test(text) ? text.slice(1) : text
}
