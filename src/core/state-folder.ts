import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf, systemCode } from './errors.ts'
import { parseJson } from './json.ts'
import { readShape, type Schema } from './shapes.ts'

/** A JSON file of the user's state. An unreadable one may contain any restriction. */
export type StateFile<T> =
  | { kind: 'read'; path: string; value: T }
  | { kind: 'unreadable'; path: string; reason: string }

/**
 * Reads every `.json` file of a state folder. A missing folder has no files. If the folder cannot be
 * listed, the result is one unreadable file with the folder's path.
 */
export function readStateFolder<T>(directory: string, schema: Schema<T>): StateFile<T>[] {
  let names: string[]
  try {
    names = readdirSync(directory)
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return []
    return [{ kind: 'unreadable', path: directory, reason: messageOf(error) }]
  }
  return names
    .filter((name) => name.endsWith('.json'))
    .flatMap((name) => readStateFile(join(directory, name), schema) ?? [])
}

/** Reads one file; undefined if it does not exist. */
export function readStateFile<T>(path: string, schema: Schema<T>): StateFile<T> | undefined {
  try {
    const value = readShape(schema, parseJson(readFileSync(path, 'utf8')))
    return { kind: 'read', path, value }
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined
    return { kind: 'unreadable', path, reason: messageOf(error) }
  }
}
