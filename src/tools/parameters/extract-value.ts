import { plainWords } from '../../rank/words.ts'
import type { JsonValue } from '../../skill/model.ts'
import { answerJson } from '../workflow/gate.ts'

/** How a value is taken from what an earlier call returned, by the words of the request. */
export interface Extraction {
  /** An element or the open page of a browser, a library id such as `/a/b`, or an item of a list. */
  kind: 'element' | 'library-id' | 'item' | 'open-page'
  words: readonly string[]
}

export type Extracted =
  | { found: true; value: JsonValue }
  /** Several fit equally, or none: what there is to choose from, at most ten. */
  | { found: false; candidates: readonly string[] }

export function extractValue({ kind, words }: Extraction, text: string): Extracted {
  switch (kind) {
    case 'element':
      return elementIn(text, words)
    case 'item':
      return itemIn(text, words)
    case 'open-page':
      return openPage(text)
    case 'library-id': {
      const pattern = /(?<![\w:/.])(\/[\w.-]{1,100}\/[\w.-]{1,100}(?:\/[\w.-]{1,100})?)(?![\w/])/
      return extracted(pattern.exec(text)?.[1], [])
    }
  }
}

function extracted(value: JsonValue | undefined, candidates: readonly string[]): Extracted {
  if (value !== undefined) return { found: true, value }
  return { found: false, candidates: candidates.slice(0, 10) }
}

/** The page that is open: `1: about:blank [selected]`. */
function openPage(text: string): Extracted {
  const pages = [...text.matchAll(/^[^\S\n\r\u2028\u2029]*(\d{1,9}):\s(.*)$/gm)]
  const selected = pages.filter((match) => match[2]?.includes('[selected]'))
  const [open, ...others] = selected.length > 0 ? selected : pages
  const isClear = open !== undefined && others.length === 0
  return extracted(
    isClear ? Number(open[1]) : undefined,
    pages.map((match) => match[0].trim()),
  )
}

/** `uid=1_4 button "Send"` or `- button "Send" [ref=e5]`. */
const elementPattern =
  /^\s*(?:- )?(?:uid=(?<uid>\S{1,40})\s+)?(?<role>\w{1,40})(?:\s+"(?<label>[^"]{0,500})")?(?:.{0,200}?\[ref=(?<ref>\w{1,40})\])?/

function elementIn(snapshot: string, words: readonly string[]): Extracted {
  const elements = snapshot.split('\n').flatMap((line) => {
    const { uid, ref, role = '', label = '' } = elementPattern.exec(line)?.groups ?? {}
    const id = uid ?? ref ?? ''
    const own = new Set(plainWords(label.toLowerCase()))
    const named = words.filter((word) => own.has(word)).length
    const whole = own.size > 0 && named === own.size ? 0.5 : 0
    const score = named * 2 + whole + (words.includes(role.toLowerCase()) ? 1 : 0)
    return id === '' ? [] : [{ id, text: `${id} ${role}${label && ` "${label}"`}`, score }]
  })
  const scored = elements
    .filter(({ score }) => score > 0)
    .toSorted((one, other) => other.score - one.score)
  const [best, second] = scored
  const near = scored.length > 0 ? scored : elements
  return extracted(
    best?.score === second?.score ? undefined : best?.id,
    near.map(({ text }) => text),
  )
}

function itemIn(text: string, words: readonly string[]): Extracted {
  const json = answerJson(text)
  const lines = text
    .split('\n')
    .flatMap((line) => /^\s*(?:[-*•]\s*)?["'`]?([\w.$-]{1,128})["'`]?/.exec(line)?.[1] ?? [])
  const items = [...new Set(json === undefined ? lines : namesIn(json, 0))].slice(0, 1000)
  const said = ` ${words.join(' ')} `
  const [asked] = items
    .filter((item) => said.includes(` ${plainWords(item.toLowerCase()).join(' ')} `))
    .toSorted((one, other) => other.length - one.length)
  return extracted(asked ?? (items.length === 1 ? items[0] : undefined), items)
}

function namesIn(value: unknown, depth: number): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null || depth > 6) return []
  if (Array.isArray(value)) return value.flatMap((item) => namesIn(item, depth + 1))
  const entries: [string, unknown][] = Object.entries(value)
  const name = entries.find(([key]) => /^(?:name|id)$/i.test(key))?.[1]
  if (typeof name === 'string') return [name]
  return entries.flatMap(([, part]) => (typeof part === 'object' ? namesIn(part, depth + 1) : []))
}
