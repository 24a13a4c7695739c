import { readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type * as Zod from 'zod'
import { type Runtime, userDirectories } from '../core/runtime.ts'
import { StateFileError, systemCode } from '../core/errors.ts'
import { writeFileAtomicSync } from '../core/write-files.ts'
import { platforms } from './adapters.ts'

/** What an installation did to one file, so that it can be undone to the byte. */
export type InstallRecord = Zod.infer<ReturnType<typeof recordSchema>>['files'][number]

function recordSchema() {
  const z: typeof Zod = createRequire(import.meta.url)('zod')
  const file = z.object({
    platform: z.enum(platforms),
    scope: z.enum(['user', 'project']),
    path: z.string(),
    /** The file that holds what was there before; null where there was nothing. */
    backup: z.string().nullable(),
    digest: z.string(),
    directories: z.array(z.string()).default([]),
  })
  return z.object({ version: z.literal(1), files: z.array(file) })
}

export function recordPath(runtime: Runtime): string {
  return join(userDirectories(runtime).state, 'hooks', 'installed.json')
}

export function readRecords(runtime: Runtime): InstallRecord[] {
  const path = recordPath(runtime)
  try {
    return recordSchema().parse(JSON.parse(readFileSync(path, 'utf8'))).files
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return []
    const message = `${path} is damaged, or was written by a newer skillrail`
    const hint =
      'Use the newer skillrail, or move the file away; hooks are then taken out entry by entry.'
    throw new StateFileError({ code: 'install-record-broken', message, hint })
  }
}

export function writeRecords(runtime: Runtime, files: readonly InstallRecord[]): void {
  const path = recordPath(runtime)
  const text = `${JSON.stringify({ version: 1, files }, undefined, 2)}\n`
  if (files.length === 0) rmSync(path, { force: true })
  else writeFileAtomicSync(path, text, { mode: 0o600 })
}
