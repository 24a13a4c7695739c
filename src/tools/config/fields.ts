import { isObject } from '../../base/index.ts'
import type { JsonValue } from '../../skill/index.ts'
import type { JsonObject } from '../model.ts'

/** Reads the fields of one entry; a value of the wrong type is reported and counts as missing. */
export interface Fields {
  has(key: string): boolean
  text(key: string): string | undefined
  texts(key: string): readonly string[] | undefined
  /** Numbers and booleans among the values become text. */
  textMap(key: string): Readonly<Record<string, string>>
  flag(key: string): boolean | undefined
  /** A number that is not negative. */
  amount(key: string): number | undefined
  objectOrAmount(key: string): JsonObject | number | undefined
  /** Reports that the entry as a whole, or one of its keys, cannot be used. */
  wrong(message: string, key?: string): void
}

export function fieldsOf(
  entry: JsonObject,
  report: (message: string, key?: string) => void,
): Fields {
  function read<T>(key: string, accept: (value: JsonValue) => T | undefined, kind: string) {
    const value = Object.hasOwn(entry, key) ? entry[key] : undefined
    if (value === undefined || value === null) return undefined
    const accepted = accept(value)
    if (accepted === undefined) report(`"${key}" must be ${kind}; it is ignored`, key)
    return accepted
  }
  return {
    has: (key) => Object.hasOwn(entry, key) && entry[key] !== null,
    text: (key) => read(key, asText, 'text'),
    texts: (key) => read(key, asTexts, 'a list of texts'),
    textMap: (key) => read(key, asTextMap, 'an object of texts') ?? {},
    flag: (key) =>
      read(key, (value) => (typeof value === 'boolean' ? value : undefined), 'true or false'),
    amount: (key) => read(key, asAmount, 'a number that is not negative'),
    objectOrAmount: (key) =>
      read(key, (value) => (isObject(value) ? value : asAmount(value)), 'a number or an object'),
    wrong: report,
  }
}

function asText(value: JsonValue): string | undefined {
  return typeof value === 'string' && !value.includes('\0') ? value : undefined
}

function asTexts(value: JsonValue): readonly string[] | undefined {
  if (!Array.isArray(value)) return undefined
  const texts = value.flatMap((item) => scalarText(item) ?? [])
  return texts.length === value.length ? texts : undefined
}

function asTextMap(value: JsonValue): Readonly<Record<string, string>> | undefined {
  if (!isObject(value)) return undefined
  const entries = Object.entries(value).filter(([, item]) => item !== null)
  const texts = entries.flatMap(([name, item]) => {
    const text = scalarText(item)
    return text === undefined ? [] : [[name, text] as const]
  })
  return texts.length === entries.length ? Object.fromEntries(texts) : undefined
}

function asAmount(value: JsonValue): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined
}

function scalarText(value: JsonValue): string | undefined {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  return asText(value)
}
