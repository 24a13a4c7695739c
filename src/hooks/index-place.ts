import { join } from 'node:path'
import { type Runtime, userDirectories } from '../base/index.ts'

/** Where the index of a working directory lies, and what it is valid for besides the files. */
export interface IndexPlace {
  path: string
  key: string
}

/** Variables besides our own that say where skills and configuration lie. */
const variables = ['XDG_CONFIG_HOME', 'XDG_STATE_HOME']

/**
 * One index for every working directory, home and set of `SKILLRAIL_*` variables, and for the file
 * that reads it: another version may understand the same skills differently.
 */
export function indexPlace(runtime: Runtime): IndexPlace {
  const { cwd, home, env } = runtime
  const names = Object.keys(env).filter((name) => name.startsWith('SKILLRAIL_'))
  const settings = [...variables, ...names.toSorted()].map((name) => `${name}=${env[name] ?? ''}`)
  const key = JSON.stringify([import.meta.url, cwd, home, ...settings])
  const path = join(indexDirectory(runtime), `${fingerprint(key)}.index`)
  return { path, key }
}

export function indexDirectory(runtime: Runtime): string {
  return join(userDirectories(runtime).cache, 'hooks')
}

/** FNV-1a, twice: a name for a file, made without loading a library. The key itself is in the file. */
export function fingerprint(text: string): string {
  return hash(text, 0x811c9dc5) + hash(text, 0x01000193)
}

function hash(text: string, seed: number): string {
  let value = seed
  for (let at = 0; at < text.length; at++) {
    value = Math.imul(value ^ text.charCodeAt(at), 0x01000193)
  }
  return (value >>> 0).toString(16).padStart(8, '0')
}
