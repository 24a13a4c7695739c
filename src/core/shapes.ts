import { isList, isObject } from './json.ts'

// Shapes of the files that the hook reads while a person waits: zod/mini costs each event of a rail 8 ms
// of its 10 (docs/decisions/2026-11-28-settings-schemas.md). Everything else reads files with zod.

/** Returns a value of one shape, or throws {@link WrongShape}. `place`: the keys that lead to the value. */
export type Schema<T> = (value: unknown, place: readonly string[]) => T

/**
 * @param place the keys that lead to the value
 * @throws {WrongShape} for the first problem: a list can have thousands of wrong items
 */
export function readShape<T>(schema: Schema<T>, value: unknown, place: readonly string[] = []): T {
  return schema(value, place)
}

export class WrongShape extends Error {
  constructor(place: readonly string[], expected: string) {
    super(`"${place.join('.')}" is not ${expected}`)
  }
}

export const text: Schema<string> = (value, place) => {
  if (typeof value !== 'string') throw new WrongShape(place, 'a text')
  return value
}

export const flag: Schema<boolean> = (value, place) => {
  if (typeof value !== 'boolean') throw new WrongShape(place, 'true or false')
  return value
}

/** A whole number from 0. */
export const integer: Schema<number> = (value, place) => {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) {
    throw new WrongShape(place, 'a whole number from 0')
  }
  return value
}

export const anything: Schema<unknown> = (value) => value

export function choice<const Choice extends string | number | boolean>(
  ...choices: readonly Choice[]
): Schema<Choice> {
  return (value, place) => {
    const match = choices.find((one) => one === value)
    if (match === undefined) throw new WrongShape(place, choices.join(' or '))
    return match
  }
}

export function optional<T>(schema: Schema<T>): Schema<T | undefined> {
  return (value, place) => (value === undefined ? undefined : schema(value, place))
}

export function list<T>(schema: Schema<T>): Schema<T[]> {
  return (value, place) => {
    if (!isList(value)) throw new WrongShape(place, 'a list')
    return value.map((item, index) => schema(item, [...place, String(index)]))
  }
}

export function record<T>(schema: Schema<T>): Schema<Record<string, T>> {
  return (value, place) => {
    if (!isObject(value)) throw new WrongShape(place, 'an object')
    const entries = Object.entries(value).map(([key, item]) => [key, schema(item, [...place, key])])
    return Object.assign(Object.create(null), Object.fromEntries(entries))
  }
}

type Shape = Readonly<Record<string, Schema<unknown>>>
type Shaped<S extends Shape> = { [Key in keyof S]: ReturnType<S[Key]> }

export function object<const S extends Shape>(shape: S): Schema<Shaped<S>> {
  return (value, place) => {
    if (!isObject(value)) throw new WrongShape(place, 'an object')
    const entries = Object.entries(shape).map(([key, schema]) => {
      return [key, schema(value[key], [...place, key])]
    })
    return Object.assign(Object.create(null), Object.fromEntries(entries))
  }
}

/** An object with no keys other than those of the shape. */
export function closedObject<const S extends Shape>(shape: S): Schema<Shaped<S>> {
  const schema = object(shape)
  return (value, place) => {
    const unknownKey = Object.keys(Object(value)).find((key) => !Object.hasOwn(shape, key))
    if (unknownKey !== undefined) throw new WrongShape([...place, unknownKey], 'allowed here')
    return schema(value, place)
  }
}
