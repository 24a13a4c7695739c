export type Fields = Readonly<Record<string, unknown>>

/** Values of an index as what they should be. Each throws where they are something else. */
export function fields(value: unknown): Fields {
  if (typeof value === 'object' && value !== null) return { ...value }
  throw new TypeError('an index holds no object where one belongs')
}

export function list(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value
  throw new TypeError('an index holds no list where one belongs')
}

export function text(value: unknown): string {
  if (typeof value === 'string') return value
  throw new TypeError('an index holds no text where one belongs')
}
