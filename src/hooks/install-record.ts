import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import {
  type Runtime,
  StateFileError,
  systemCode,
  userDirectories,
  writeFileAtomicSync,
} from '../base/index.ts'
import type { Made } from './edit-entries.ts'
import type { HookScope } from './registration.ts'
import { isPlatform, type Platform } from './adapters.ts'

/** What an installation did to one file, so that it can be undone to the byte. */
export interface InstallRecord {
  platform: Platform
  scope: HookScope
  path: string
  /** The file that holds what was there before; null where there was nothing. */
  backup: string | null
  /** Of what we wrote. */
  digest: string
  /** Directories that were made for it, deepest first. */
  directories: readonly string[]
  /** What was made in the file besides the entry; undefined where the whole file is ours. */
  made?: Made | undefined
}

export function recordPath(runtime: Runtime): string {
  return join(userDirectories(runtime).state, 'hooks', 'installed.json')
}

/** @throws {StateFileError} for a record that is broken or of a newer version. */
export function readRecords(runtime: Runtime): InstallRecord[] {
  const path = recordPath(runtime)
  const value = parse(path)
  if (value === undefined) return []
  const version = Reflect.get(value, 'version')
  const files: unknown = Reflect.get(value, 'files')
  if (version !== 1 || !Array.isArray(files)) throw notOurs(path)
  return files.map((item: unknown) => {
    const { platform, scope, path: file, backup, digest, directories } = { ...fieldsOf(item) }
    if (typeof platform !== 'string' || !isPlatform(platform)) throw notOurs(path)
    if (scope !== 'user' && scope !== 'project') throw notOurs(path)
    if (typeof file !== 'string' || typeof digest !== 'string') throw notOurs(path)
    if (typeof backup !== 'string' && backup !== null) throw notOurs(path)
    const known = Array.isArray(directories) ? directories.map(String) : []
    const made = madeIn(fieldsOf(item)['made'])
    return { platform, scope, path: file, backup, digest, directories: known, made }
  })
}

export function writeRecords(runtime: Runtime, files: readonly InstallRecord[]): void {
  const path = recordPath(runtime)
  if (files.length === 0) rmSync(path, { force: true })
  else
    writeFileAtomicSync(path, `${JSON.stringify({ version: 1, files }, undefined, 2)}\n`, {
      mode: 0o600,
    })
}

function madeIn(value: unknown): Made | undefined {
  const { found, blanks, frame } = fieldsOf(value)
  if (typeof found !== 'number') return undefined
  return {
    found,
    blanks: typeof blanks === 'string' ? blanks : null,
    frame: Array.isArray(frame) ? frame.map(String) : [],
  }
}

function parse(path: string): object | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'))
    if (typeof value === 'object' && value !== null) return value
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined
  }
  throw notOurs(path)
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

function notOurs(path: string): StateFileError {
  return new StateFileError({
    code: 'install-record-broken',
    message: `${path} is damaged, or was written by a newer skillrail`,
    hint: 'Use the newer skillrail, or move the file away; hooks are then taken out entry by entry.',
  })
}
