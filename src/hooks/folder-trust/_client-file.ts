import { createRequire } from 'node:module'
import type * as Jsonc from 'jsonc-parser'
import { readRegularFile, isObject } from '../../base/index.ts'
import type { FolderTrust } from '../folder-trust.ts'

export type ClientFile =
  | { state: 'read'; value: Readonly<Record<string, unknown>> }
  | { state: 'missing' }
  | { state: 'broken'; trust: FolderTrust }

/** The text of a file of a client. */
export function readClientText(
  path: string,
): { state: 'read'; text: string } | Exclude<ClientFile, { state: 'read' }> {
  const reading = readRegularFile(path, { maxBytes: 64 * 1024 * 1024 })
  if (reading.ok) return { state: 'read', text: reading.text }
  if (reading.code === 'file-missing') return { state: 'missing' }
  return { state: 'broken', trust: unreadable(reading.message) }
}

/** The object in a JSON file of a client, comments and all. */
export function readClientFile(path: string): ClientFile {
  const reading = readClientText(path)
  if (reading.state !== 'read') return reading
  const parser: typeof Jsonc = createRequire(import.meta.url)('jsonc-parser')
  const errors: Jsonc.ParseError[] = []
  const value: unknown = parser.parse(reading.text, errors, { allowTrailingComma: true })
  if (errors.length > 0 || !isObject(value)) {
    return { state: 'broken', trust: unreadable(`${path} holds no JSON object`) }
  }
  return { state: 'read', value }
}

/** The value below some keys, or undefined. */
export function valueAt(value: unknown, ...keys: readonly string[]): unknown {
  return keys.reduce<unknown>(
    (inner, key) => (isObject(inner) && Object.hasOwn(inner, key) ? inner[key] : undefined),
    value,
  )
}

export function unreadable(reason: string): FolderTrust {
  return { state: 'unknown', reason }
}
