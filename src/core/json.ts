export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject

export type JsonObject = { readonly [key: string]: JsonValue }

/** JSON nested deeper exhausts the stack of what reads it, writes it or walks through it. */
export const deepestJson = 200

/** The place where a JSON text, comments allowed, has more than `most` levels. One pass. */
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
 * Whether a value read from JSON, YAML or TOML is a map of names to values: no list, and not null. Where
 * the type of the value does not say what its members are, but its source does, they are named:
 * `isObject<JsonValue>(document)`.
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

/** The value as a file has it: two blanks a level, with a newline at the end. */
export function indentedJson(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`
}

/** Whether a value is a list; `Array.isArray` does not see that a read-only list is one. */
export function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value)
}

/** Keys that change what an object is: nothing that a stranger names can be called so. */
export const prototypeKeys: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])

/** A text as it is, any other value as JSON. */
export function plainText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** The value where {@link isObject} is true, else an empty object. */
export function objectOf<Member = unknown>(value: unknown): { readonly [key: string]: Member } {
  return isObject<Member>(value) ? value : {}
}

/** The members that are not undefined, for what tells an absent one from an undefined one. */
export function present<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> }
export function present(values: object): object {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
}

/** A member that the object itself has; nothing inherited. */
export function ownMember<T>(object: { readonly [key: string]: T }, key: string): T | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined
}

/** `sha256:` and 64 hexadecimal digits. Text is hashed as UTF-8. */
export function sha256(data: string | Uint8Array): string {
  return `sha256:${process.getBuiltinModule('node:crypto').hash('sha256', data)}`
}

/** The first digits of {@link sha256}, as a name for what may have any length; default: all 64. */
export function hexDigest(data: string, length = 64): string {
  return sha256(data).slice('sha256:'.length, 'sha256:'.length + length)
}
