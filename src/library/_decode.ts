/**
 * Narrowing of parsed JSON that this program wrote itself. Each function throws when it meets
 * something else, and the reader of the file takes that as "rebuild".
 */

export function record(value: unknown): Readonly<Record<string, unknown>> {
  if (isRecord(value)) return value
  throw new TypeError('no object')
}

export function text(value: unknown): string {
  if (typeof value === 'string') return value
  throw new TypeError('no string')
}

export function number(value: unknown): number {
  if (typeof value === 'number') return value
  throw new TypeError('no number')
}

export function list<T>(value: unknown, item: (value: unknown) => T): T[] {
  if (Array.isArray(value)) return value.map((entry: unknown) => item(entry))
  throw new TypeError('no list')
}

/** A list of anything. */
export function cells(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value
  throw new TypeError('no list')
}

export function choice<const T>(value: unknown, choices: readonly T[]): T {
  for (const candidate of choices) if (candidate === value) return candidate
  throw new TypeError('none of the choices')
}

/** What was not written is undefined. */
export function optional<T>(value: unknown, read: (value: unknown) => T): T | undefined {
  return value === undefined || value === null ? undefined : read(value)
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
