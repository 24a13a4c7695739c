import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Runtime } from '../../base/index.ts'
import { adapters } from '../adapters.ts'
import type { FolderTrust } from '../folder-trust.ts'
import { clientHome } from '../places.ts'
import { readClientFile, valueAt } from './_client-file.ts'
import { repositoryRoot, withParents } from './_folders.ts'

/**
 * Claude Code 2.1.197: `projects` of its own file, of the folder, of one above it, or of the root of
 * the repository. What is not there has not been asked.
 */
export function claudeTrust(folder: string, runtime: Runtime): FolderTrust {
  const path = stateFile(runtime)
  const file = readClientFile(path)
  if (file.state === 'broken') return file.trust
  const root = repositoryRoot(folder)
  const candidates = [...withParents(folder), ...(root === undefined ? [] : [root])]
  const accepted = candidates.find(
    (candidate) =>
      file.state === 'read' &&
      valueAt(file.value, 'projects', keyOf(candidate, runtime), 'hasTrustDialogAccepted') === true,
  )
  return accepted === undefined
    ? { state: 'open', reason: `it is in no folder that ${path} has as accepted` }
    : { state: 'trusted', reason: `${path} has ${accepted} as accepted` }
}

/** Beside its directory, or in it where a variable moves it; an older name in the directory wins. */
function stateFile(runtime: Runtime): string {
  const older = join(clientHome(adapters.claude, runtime), '.config.json')
  if (existsSync(older)) return older
  return join(runtime.env['CLAUDE_CONFIG_DIR'] || runtime.home, '.claude.json')
}

function keyOf(folder: string, { platform }: Runtime): string {
  return platform === 'win32' ? folder.replaceAll('\\', '/') : folder
}
