export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject

export type JsonObject = { readonly [key: string]: JsonValue }

/** Deeper JSON exhausts the stack of code that reads, writes or visits it recursively. */
export const deepestJson = 200

/** Returns the offset at which a JSON text, perhaps with comments, exceeds `most` levels. One pass. */
export function tooDeepAt(text: string, most: number = deepestJson): number | undefined {
  let depth = 0
  for (let offset = 0; offset < text.length; offset++) {
    switch (text.charCodeAt(offset)) {
      case 0x22: // "
        offset = endOfString(text, offset)
        break
      case 0x2f: // /
        offset = endOfComment(text, offset)
        break
      case 0x5b: // [
      case 0x7b: // {
        if (++depth > most) return offset
        break
      case 0x5d: // ]
      case 0x7d: // }
        depth--
        break
      default:
    }
  }
  return undefined
}

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x5c) at++
    else if (code === 0x22 || code === 0x0a) return at
  }
  return text.length
}

function endOfComment(text: string, start: number): number {
  const sign = text.charAt(start + 1)
  if (sign !== '/' && sign !== '*') return start
  const end = sign === '/' ? text.indexOf('\n', start) : text.indexOf('*/', start + 2)
  return end < 0 ? text.length : end
}

/**
 * Whether a value from JSON, YAML or TOML maps names to values: not a list, and not null. If the source
 * determines the type of the members, pass it as type argument: `isObject<JsonValue>(document)`.
 */
export function isObject<Member = unknown>(
  value: unknown,
): value is Readonly<Record<string, Member>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function parseJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Returns the JSON of a value for a file: two spaces per level, with a newline at the end. */
export function indentedJson(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`
}

/** Whether a value is a list. The type of `Array.isArray` does not cover read-only lists. */
export function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value)
}

/** Keys that change an object's prototype: names from outside must not use them. */
export const prototypeKeys: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])

/** Returns a text unchanged, any other value as JSON. */
export function plainText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Returns the value if {@link isObject} is true, else an empty object. */
export function objectOf<Member = unknown>(value: unknown): { readonly [key: string]: Member } {
  return isObject<Member>(value) ? value : {}
}

/** Removes undefined members, for callees that distinguish them from absent ones. */
export function present<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> }
export function present(values: object): object {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
}

/** Returns a member of the object itself, never an inherited one. */
export function ownMember<T>(object: { readonly [key: string]: T }, key: string): T | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined
}

/** Returns `sha256:` and 64 hexadecimal digits. Text is hashed as UTF-8. */
export function sha256(data: string | Uint8Array): string {
  return `sha256:${process.getBuiltinModule('node:crypto').hash('sha256', data)}`
}

/** Returns the first digits of {@link sha256}, as a short name for a long text; default: all 64. */
export function hexDigest(data: string, length = 64): string {
  return sha256(data).slice('sha256:'.length, 'sha256:'.length + length)
}
