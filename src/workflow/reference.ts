import { isObject } from '../base/index.ts'
import type { JsonValue } from '../skill/index.ts'
import { isJsonList } from './_json-values.ts'

/** What `$call.pageId?` refers to. */
export interface Reference {
  text: string
  root: { kind: 'call' | 'sql' } | { kind: 'step'; step: number } | { kind: 'output'; name: string }
  /** Keys, indexes, and `*` for the only element of a list. */
  path: readonly (string | number)[]
}

/** A parameter's text: one of several references, or the text at the end of them. */
export interface ReferenceChain {
  references: readonly Reference[]
  /** After the last `??`, where it is no reference. */
  fallback?: string | undefined
  /** A `?` at the end: left out where nothing has a value. */
  optional: boolean
}

const grammar =
  /^\$([A-Za-z][A-Za-z0-9_-]{0,63})((?:\.[A-Za-z0-9_-]{1,64}|\[(?:\d{1,6}|\*)\]){0,16})$/

/**
 * Reads the text of a parameter. Undefined for text that refers to nothing: it stays as it is.
 * `$a.b ?? $c ?? text` is the first that has a value; `$$x` is the text `$x`.
 */
export function parseReferences(text: string): ReferenceChain | undefined {
  if (!text.startsWith('$') || text.startsWith('$$') || text.length > 1000) return undefined
  const optional = text.endsWith('?') && !text.endsWith('??')
  const parts = (optional ? text.slice(0, -1) : text).split('??').map((part) => part.trim())
  const references: Reference[] = []
  for (const [index, part] of parts.entries()) {
    const reference = parseReference(part)
    if (reference !== undefined) references.push(reference)
    else if (index > 0 && index === parts.length - 1 && part !== '') {
      return { references, fallback: part, optional }
    } else return undefined
  }
  return { references, optional }
}

function parseReference(text: string): Reference | undefined {
  const [, root = '', rest = ''] = grammar.exec(text) ?? []
  if (root === '') return undefined
  const path = Array.from(rest.matchAll(/\.([A-Za-z0-9_-]+)|\[(\d+|\*)\]/g), ([, key, index]) =>
    key === undefined && index !== '*' ? Number(index) : (key ?? '*'),
  )
  if (root === 'call' || root === 'sql') return { text, root: { kind: root }, path }
  if (root !== 'steps') return { text, root: { kind: 'output', name: root }, path }
  const [step, ...inner] = path
  const number = Number(step)
  if (!Number.isInteger(number) || number < 1) return undefined
  return { text, root: { kind: 'step', step: number }, path: inner }
}

/** What a path leads to; undefined where it leads nowhere. Never follows inherited properties. */
export function valueAt(
  value: JsonValue | undefined,
  path: readonly (string | number)[],
): JsonValue | undefined {
  let current = value
  for (const key of path) {
    if (current === undefined) return undefined
    if (isJsonList(current)) current = elementOf(current, key)
    else if (isObject(current)) current = Object.hasOwn(current, key) ? current[key] : undefined
    else return undefined
  }
  return current === null ? undefined : current
}

function elementOf(list: readonly JsonValue[], key: string | number): JsonValue | undefined {
  if (key === '*') return list.length === 1 ? list[0] : undefined
  return Number.isInteger(Number(key)) ? list[Number(key)] : undefined
}
