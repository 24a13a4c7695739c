import { isObject } from '../../base/index.ts'
import type { JsonObject } from '../model.ts'
import { readJson } from './_json.ts'

/** Where a JSON object or list that begins at `start` ends; undefined when it is never closed. */
export function endOfJson(text: string, start: number): number | undefined {
  let depth = 0
  for (let at = start; at < text.length; at++) {
    const character = text[at]
    if (character === '"') {
      const end = endOfString(text, at)
      if (end === undefined) return undefined
      at = end
    } else if (character === '[' || character === '{') depth++
    else if (character === ']' || character === '}') {
      depth--
      if (depth === 0) return at + 1
    }
  }
  return undefined
}

/** The index of the closing quote. */
function endOfString(text: string, start: number): number | undefined {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === '"') return at
  }
  return undefined
}

/** A JSON object that stands in a text, with its place. */
export interface JsonInText {
  start: number
  /** Exclusive. */
  end: number
  value: JsonObject
}

/** So many beginnings are tried, which bounds the work on a text of nothing but braces. */
const mostTried = 20

/** The JSON objects of a text in their order; those within a list or another object are part of it. */
export function jsonObjectsIn(text: string): readonly JsonInText[] {
  return readJsonIn(text).objects
}

/** What was read of a text. */
export interface JsonReading {
  objects: readonly JsonInText[]
  /** Exclusive. Behind it may be JSON that was not tried: there no word counts as one of the text. */
  end: number
}

/** Like {@link jsonObjectsIn}, and how far it came. */
export function readJsonIn(text: string): JsonReading {
  const found: JsonInText[] = []
  const opening = /[{[]/g
  for (let tried = 0; ; tried++) {
    const start = opening.exec(text)?.index
    if (start === undefined) return { objects: found, end: text.length }
    if (tried === mostTried) return { objects: found, end: start }
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

/**
 * Whether a text is objects and lists of JSON and nothing beside them, be they well-formed or not:
 * their strings are data of somebody, and no words of whoever wrote the text.
 */
export function isOnlyJson(text: string): boolean {
  let rest = text.trim()
  rest = (fence.exec(rest)?.[1] ?? rest).trim()
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
  const parts: string[] = []
  let read = 0
  for (const { start, end } of objects) {
    parts.push(text.slice(read, start), ' '.repeat(end - start))
    read = end
  }
  return parts.join('') + text.slice(read)
}
