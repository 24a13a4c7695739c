import { withoutEnd } from '../../core/text.ts'
import type { ToolDefinition } from '../model.ts'
import { coerceText } from './coerce.ts'
import { type Parameter, wordsOf } from './parameter.ts'
import {
  type Finding,
  freeSlots,
  type MappingRule,
  mayHave,
  phrase,
  type RequestReading,
  spokenPart,
} from './request.ts'
import type { Slot } from './slots.ts'
import { spokenValues } from './synonym-table.ts'

/** A turn of speech introduces the value: `containing auth`, `labeled bug`, `docs for react`. */
export const phraseRule: MappingRule = {
  name: 'a phrase of the request',
  find: (parameter, reading) => {
    if (!isTextual(parameter)) return undefined
    for (const { parameter: wanted, phrases } of spokenValues) {
      const finding = wanted.test(parameter.name) ? spoken(phrases, parameter, reading) : undefined
      if (finding !== undefined) return finding
    }
    return undefined
  },
}

function spoken(
  phrases: readonly RegExp[],
  parameter: Parameter,
  reading: RequestReading,
): Finding | undefined {
  for (const pattern of phrases) {
    const match = pattern.exec(spokenPart(reading))
    const text = trimmed(match?.[1] ?? '')
    if (match === null || text === '') continue
    const start = match.index + match[0].lastIndexOf(match[1] ?? '')
    const slot = reading.slots.find((each) => each.start === start && isAsLong(each, text, start))
    const value = coerceText(slot?.value ?? unquoted(text), parameter)
    if (value !== undefined && !reading.spent.has(slot ?? nothing)) {
      return { value, text, slots: slot === undefined ? within(reading, start, text) : [slot] }
    }
  }
  return undefined
}

const nothing: Slot = { kind: 'quoted', value: '', start: -1, end: -1 }

/** The request begins with the tool's own name; the rest of it is what the one text parameter wants. */
export const commandRule: MappingRule = {
  name: 'the words after the tool’s name',
  find: (parameter, reading, tool) => {
    if (!isTextual(parameter) || !parameter.required || parameter.kind !== 'string')
      return undefined
    const name = wordsOf(tool.name)
    if (!mayHave(name, reading.lower)) return undefined
    const match = new RegExp(
      `^\\s*(?:please\\s+)?${phrase(name)}\\s+(\\S[\\s\\S]{0,4000})$`,
      'i',
    ).exec(spokenPart(reading))
    const text = trimmed(match?.[1] ?? '').replace(/^(?:with|for|of)\s+(?=["“`'])/i, '')
    const value =
      text === '' || isAmbiguous(tool) ? undefined : coerceText(unquoted(text), parameter)
    return value === undefined ? undefined : { value, text }
  },
}

/** Quoted text, then an identifier, that nothing else took, for the only required text that is left. */
export const remainingTextRule: MappingRule = {
  name: 'the text that is left',
  find: (parameter, reading) => {
    if (!isTextual(parameter)) return undefined
    const quoted = freeSlots(reading, 'quoted')
    const identifiers = parameter.required
      ? freeSlots(reading, 'identifier').filter(({ value }) => isNameFor(parameter, value))
      : []
    const [slot] = parameter.required || isFreeText(parameter) ? [...quoted, ...identifiers] : []
    const value = slot === undefined ? undefined : coerceText(slot.value, parameter)
    return slot === undefined || value === undefined
      ? undefined
      : { value, text: slot.value, slots: [slot] }
  },
}

function isTextual({ kind, choices, items }: Parameter): boolean {
  return (
    choices.length === 0 &&
    (kind === 'string' ||
      kind === 'unknown' ||
      (kind === 'array' && items?.kind === 'string' && items.choices.length === 0))
  )
}

function isFreeText({ name }: Parameter): boolean {
  return /^(?:query|q|search|text|message|value|content|body|title|term|pattern|prompt)$/i.test(
    name,
  )
}

/** An identifier is taken for a name; for an id only if it has a digit, since `e-mail` is a word. */
function isNameFor({ name }: Parameter, identifier: string): boolean {
  if (/uid$|id$/i.test(name)) return /\d/.test(identifier)
  return /name|key|symbol|type|field|query|search/i.test(name)
}

/** With several required texts nothing says which of them the rest of the request is. */
function isAmbiguous({ inputSchema }: ToolDefinition): boolean {
  const required = inputSchema['required']
  return Array.isArray(required) && required.length > 1
}

function isAsLong({ start, end }: Slot, text: string, at: number): boolean {
  return end - start >= Math.min(text.length, 1) && end >= at + text.length - 1
}

function within({ slots }: RequestReading, start: number, text: string): Slot[] {
  return slots.filter((slot) => slot.start >= start && slot.end <= start + text.length)
}

function trimmed(text: string): string {
  return withoutEnd(text.trim(), '.!?,;:')
    .replace(/(?<!\s)\s+(?:on|in|at)\s+(?:page|tab)\s+\d+$/i, '')
    .replace(/(?<!\s)\s+please$/i, '')
}

function unquoted(text: string): string {
  const quoted = /^(["'`“])([\s\S]*)["'`”]$/.exec(text)
  return quoted?.[2] ?? text
}
