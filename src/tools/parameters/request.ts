import type { JsonValue } from '../../skill/model.ts'
import type { ToolDefinition } from '../model.ts'
import type { Parameter } from './parameter.ts'
import { findSlots, maxRequestLength, type Slot, type SlotKind } from './slots.ts'

/** A request while it is mapped: its text, its typed pieces, and which of them are spent. */
export interface RequestReading {
  text: string
  /** The text in lower case. */
  lower: string
  slots: readonly Slot[]
  /** Pieces that have become a value, so that no second parameter takes them. */
  spent: Set<Slot>
}

/** A value for a parameter, and the words it was read from. */
export interface Finding {
  value: JsonValue
  text: string
  /** Pieces of the request that it used up. */
  slots?: readonly Slot[] | undefined
}

/** One way to find a value. The first rule that finds one takes precedence. */
export interface MappingRule {
  name: string
  find: (parameter: Parameter, reading: RequestReading, tool: ToolDefinition) => Finding | undefined
}

export function readRequest(request: string): RequestReading {
  const text = request.trim().slice(0, maxRequestLength)
  return { text, lower: text.toLowerCase(), slots: findSlots(text), spent: new Set() }
}

/** The pieces of these kinds that no parameter has taken. */
export function freeSlots(reading: RequestReading, ...kinds: readonly SlotKind[]): Slot[] {
  return reading.slots.filter(
    (slot) =>
      kinds.includes(slot.kind) &&
      ![...reading.spent].some((spent) => spent.start < slot.end && slot.start < spent.end),
  )
}

/** The piece that begins at this offset, the longest one. */
export function slotFrom(reading: RequestReading, offset: number): Slot | undefined {
  return reading.slots
    .filter(({ start, end }) => start <= offset && offset < end)
    .toSorted((one, other) => other.end - other.start - (one.end - one.start))[0]
}

/** A pattern that finds these words in a row, whatever separates them. */
export function phrase(words: readonly string[]): string {
  return words.map((word) => word.replaceAll(/[^\w]/g, '\\$&')).join('[\\s_-]?')
}

/**
 * Whether a text may have these words in a row; `lower` is the text in lower case. To be asked before
 * {@link phrase}: compiling patterns costs a command more than everything else that it maps.
 */
export function mayHave(words: readonly string[], lower: string): boolean {
  return words.every((word) => lower.includes(word.toLowerCase()))
}

/** Phrases are looked for in the beginning of a request, which bounds the work of their patterns. */
export function spokenPart({ text }: RequestReading): string {
  return text.slice(0, 2000)
}
