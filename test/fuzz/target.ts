/** A reader of text from strangers, and the properties that it must have for any input. */
export interface FuzzTarget {
  name: string
  /** The first inputs: ordinary ones and difficult ones. */
  seeds: readonly string[]
  /** Words of the language, beside those that the code itself compares with. */
  words: readonly string[]
  /** How often it reads an input, each time within the limit of the processor's time; default 1. */
  readings?: number
  /** Throws if a property is violated. */
  fuzz(data: Uint8Array): void
}

/** The input as text; bytes that are not UTF-8 become U+FFFD. */
export function textOf(data: Uint8Array): string {
  return Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('utf8')
}

/** The parts of an input, which a line `%%` separates; exactly `count`, the last with all the rest. */
export function partsOf(data: Uint8Array, count: number): string[] {
  const parts = textOf(data).split('\n%%\n')
  const rest = parts.slice(count - 1).join('\n%%\n')
  return Array.from({ length: count }, (_, at) => (at < count - 1 ? (parts[at] ?? '') : rest))
}

/** The first byte as a number, and the text of the others. */
export function choiceAndText(data: Uint8Array): { choice: number; text: string } {
  return { choice: data[0] ?? 0, text: textOf(data.subarray(1)) }
}

/** @throws if a required property is violated. */
export function demand(holds: boolean, what: string, ...facts: readonly unknown[]): asserts holds {
  if (holds) return
  const rendered = facts
    .map((fact) => JSON.stringify(fact)?.slice(0, 400) ?? 'undefined')
    .join(' | ')
  throw new Error(rendered === '' ? what : `${what}: ${rendered}`)
}

/** Whether two values are the same as JSON. */
export function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}

/** Nothing of this may reach a terminal. */
export const obeyedByTerminals =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/u
