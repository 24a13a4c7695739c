import { isObject } from '../../base/index.ts'
import type { JsonValue } from '../../skill/index.ts'
import type { JsonObject } from '../model.ts'
import { isList } from './_json.ts'

/** The answers of earlier steps by their `output_as`. */
export type Variables = ReadonlyMap<string, JsonValue>

export type Binding<T> = { ok: true; value: T } | { ok: false; message: string }

/**
 * Puts the answers of earlier steps into parameters.
 *
 * - A whole string `$name`, `$name.field`, `$name[0].field` or `$name["any key"]` becomes the value
 *   with its type. An unknown one is an error.
 * - Inside a longer text a reference becomes text: a string as it is, anything else as JSON. There
 *   `$word` is a reference only where a step of this chain has that name (`declared`), so that
 *   `$5.00` and the `$id` of a GraphQL query stay.
 * - `$$name` is the text `$name`.
 * - Only own members of JSON objects are reached; `__proto__` and the like are refused.
 */
export function bindParameters(
  params: JsonObject,
  variables: Variables,
  declared: ReadonlySet<string> = new Set(variables.keys()),
): Binding<JsonObject> {
  try {
    return { ok: true, value: bindObject(params, { variables, declared, written: 0 }, 0) }
  } catch (error) {
    if (error instanceof UnboundReference) return { ok: false, message: error.message }
    throw error
  }
}

/** The names that whole-string references in the parameters use, for a plan. */
export function referencedNames(params: JsonObject): string[] {
  const names = textsIn(params).flatMap(({ text }) => whole.exec(text)?.[1] ?? [])
  return [...new Set(names)]
}

/** The paths of texts in the parameters that an earlier answer changes. */
export function referencePaths(params: JsonObject): (readonly string[])[] {
  return textsIn(params).flatMap(({ text, path }) => (text.search(embedded) < 0 ? [] : [path]))
}

function textsIn(
  value: JsonValue,
  path: readonly string[] = [],
): { text: string; path: readonly string[] }[] {
  if (typeof value === 'string') return [{ text: value, path }]
  if (isList(value)) return value.flatMap((item, index) => textsIn(item, [...path, String(index)]))
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([name, member]) => textsIn(member, [...path, name]))
}

class UnboundReference extends Error {}

interface Scope {
  variables: Variables
  declared: ReadonlySet<string>
  /** Characters of answers in texts so far. */
  written: number
}

const path = String.raw`(?:\.[A-Za-z_][A-Za-z0-9_]*|\[\d{1,9}\]|\["[^"\\\]]{1,200}"\])*`
const whole = new RegExp(String.raw`^\$([A-Za-z_][A-Za-z0-9_]*)(${path})$`)
const embedded = new RegExp(String.raw`\$(\$?)([A-Za-z_][A-Za-z0-9_]*)(${path})`, 'g')

const forbidden: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])

/** Parameters nested deeper than this are refused. */
const deepest = 100

/** Many references to one long answer would come to more than a text can have. */
const mostWritten = 16 * 1024 * 1024

function bindObject(params: JsonObject, scope: Scope, depth: number): JsonObject {
  const entries = Object.entries(params)
  return Object.fromEntries(entries.map(([key, value]) => [key, bind(value, scope, depth + 1)]))
}

function bind(value: JsonValue, scope: Scope, depth: number): JsonValue {
  if (depth > deepest) throw new UnboundReference(`parameters are nested deeper than ${deepest}`)
  if (typeof value === 'string') return bindText(value, scope)
  if (isList(value)) return value.map((item) => bind(item, scope, depth + 1))
  return isObject(value) ? bindObject(value, scope, depth) : value
}

function bindText(text: string, scope: Scope): JsonValue {
  const [, name, path = ''] = whole.exec(text) ?? []
  if (name !== undefined) return resolve(name, path, scope)
  return text.replaceAll(embedded, (written, escape: string, name: string, path: string) => {
    if (escape !== '') return written.slice(1)
    if (!scope.declared.has(name)) return written
    const value = resolve(name, path, scope)
    const answer = typeof value === 'string' ? value : JSON.stringify(value)
    scope.written += answer.length
    if (scope.written <= mostWritten) return answer
    throw new UnboundReference(`the answers in its texts have more than ${mostWritten} characters`)
  })
}

function resolve(name: string, path: string, { variables, declared }: Scope): JsonValue {
  let value = variables.get(name)
  if (value === undefined) {
    const known = [...variables.keys()].map((variable) => `$${variable}`).join(', ')
    const why = declared.has(name) ? 'has no value yet' : 'is unknown'
    throw new UnboundReference(`$${name} ${why}; known here: ${known || 'none'}`)
  }
  let reached = `$${name}`
  for (const key of keysIn(path)) {
    if (forbidden.has(key.name)) throw new UnboundReference(`$${name}${path} is not allowed`)
    const next: JsonValue | undefined = member(value, key)
    if (next === undefined) {
      throw new UnboundReference(
        `${reached} has no ${key.isIndex ? `item ${key.name}` : `field ${key.name}`}`,
      )
    }
    value = next
    reached += key.isIndex ? `[${key.name}]` : `.${key.name}`
  }
  return value
}

interface Key {
  name: string
  isIndex: boolean
}

function keysIn(path: string): Key[] {
  return [...path.matchAll(/\.(\w+)|\[(\d+)\]|\["([^"]+)"\]/g)].map(([, field, index, quoted]) =>
    index === undefined
      ? { name: field ?? quoted ?? '', isIndex: false }
      : { name: index, isIndex: true },
  )
}

function member(value: JsonValue, { name, isIndex }: Key): JsonValue | undefined {
  if (isList(value)) return isIndex ? value[Number(name)] : undefined
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
}
