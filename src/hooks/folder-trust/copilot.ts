import { join } from 'node:path'
import { isInside, type Runtime } from '../../base/index.ts'
import { adapters } from '../adapters.ts'
import type { FolderTrust } from '../folder-trust.ts'
import { clientHome } from '../places.ts'
import { readClientFile, valueAt } from './_client-file.ts'
import { realPathOf } from './_folders.ts'

/**
 * Copilot CLI 1.0.102: a list in the file that it manages itself, under a new name and an older one,
 * which it moves to the new one when it starts. A folder above counts too.
 */
export function copilotTrust(folder: string, runtime: Runtime): FolderTrust {
  const path = join(clientHome(adapters.copilot, runtime), 'config.json')
  const file = readClientFile(path)
  if (file.state === 'broken') return file.trust
  const listed =
    file.state === 'missing'
      ? []
      : ['trustedFolders', 'trusted_folders'].flatMap((key) => listOf(valueAt(file.value, key)))
  const trusted = listed.find((candidate) => isInside(realPathOf(candidate), folder))
  return trusted === undefined
    ? { state: 'open', reason: `it is in no folder that ${path} has as trusted` }
    : { state: 'trusted', reason: `${path} has ${trusted} as trusted` }
}

function listOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}
