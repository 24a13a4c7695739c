import type { JsonValue } from '../../skill/model.ts'
import { answerJson } from '../workflow/gate.ts'
import { elementIn } from './_element.ts'

/** How a value is taken from what an earlier call returned. */
export type Extraction =
  /** The page that is open: `1: about:blank [selected]`. */
  | { kind: 'open-page' }
  /** The element of a page snapshot that these words of the request describe. */
  | { kind: 'element'; words: readonly string[] }
  /** A library id such as `/vercel/next.js`. */
  | { kind: 'library-id' }
  /** The item of a list that the request mentions, or the only one. */
  | { kind: 'item'; request: string }

export type Extracted =
  | { found: true; value: JsonValue }
  /** Several fit equally, or none: what there is to choose from, at most ten. */
  | { found: false; candidates: readonly string[] }

/** Takes a value out of a tool's text. Pure; a text of another form gives no value. */
export function extractValue(extraction: Extraction, text: string): Extracted {
  switch (extraction.kind) {
    case 'open-page':
      return openPage(text)
    case 'element':
      return elementIn(text, extraction.words)
    case 'library-id': {
      const id = /(?<![\w:/.])(\/[\w.-]{1,100}\/[\w.-]{1,100}(?:\/[\w.-]{1,100})?)(?![\w/])/.exec(
        text,
      )?.[1]
      return id === undefined ? { found: false, candidates: [] } : { found: true, value: id }
    }
    case 'item':
      return itemIn(text, extraction.request)
  }
}

function openPage(text: string): Extracted {
  const pages = [...text.matchAll(/^[^\S\n\r\u2028\u2029]*(\d{1,9}):\s(.*)$/gm)]
  const open = pages.find((match) => match[2]?.includes('[selected]')) ?? pages[0]
  return open === undefined || (pages.length > 1 && !/\[selected\]/.test(text))
    ? { found: false, candidates: pages.map((match) => match[0].trim()).slice(0, 10) }
    : { found: true, value: Number(open[1]) }
}

function itemIn(text: string, request: string): Extracted {
  const items = itemsOf(text)
  const asked = items.filter((item) => mentions(request, item))
  const [only] =
    asked.length === 0 ? items : asked.toSorted((one, other) => other.length - one.length)
  return only !== undefined && (asked.length > 0 || items.length === 1)
    ? { found: true, value: only }
    : { found: false, candidates: items.slice(0, 10) }
}

/** The names in a list: strings or `name` fields of JSON, else one a line. */
function itemsOf(text: string): string[] {
  const json = jsonNames(text)
  const lines = text
    .split('\n')
    .map((line) => /^\s*(?:(?:[-*•]|\d{1,4}[.)])\s*)?["'`]?([\w.$-]{1,128})["'`]?/.exec(line)?.[1])
  const names = json ?? lines.filter((name) => name !== undefined)
  return [...new Set(names)].slice(0, 1000)
}

function jsonNames(text: string): string[] | undefined {
  const value = answerJson(text)
  if (value === undefined) return undefined
  const names: string[] = []
  collect(value, names, 0)
  return names
}

function collect(value: unknown, names: string[], depth: number): void {
  if (depth > 6 || names.length >= 1000) return
  if (typeof value === 'string') names.push(value)
  else if (Array.isArray(value)) for (const item of value) collect(item, names, depth + 1)
  else if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value)
    const name = entries.find(([key]) => /^(?:name|id|.*_name|database|table)$/i.test(key))?.[1]
    if (typeof name === 'string') names.push(name)
    else
      for (const [, part] of entries) if (typeof part === 'object') collect(part, names, depth + 1)
  }
}

function mentions(request: string, item: string): boolean {
  const name = item.replaceAll(/[^\w]/g, '\\$&')
  return new RegExp(`(?<![\\w-])${name}(?![\\w-])`, 'i').test(request)
}
