import { join } from 'node:path'
import { isInside, type Runtime } from '../../base/index.ts'
import { adapters } from '../adapters.ts'
import type { FolderTrust } from '../folder-trust.ts'
import { clientHome } from '../places.ts'
import { readClientFile, valueAt } from './_client-file.ts'
import { folderTrustKeys, placeOf, trustLevels } from './_trusted-folders.ts'

/**
 * Qwen Code 0.15.10: it asks only where a setting says so; a rule that trusts holds for everything
 * below, one that does not for its folder alone, and trust wins.
 */
export function qwenTrust(folder: string, runtime: Runtime): FolderTrust {
  const home = clientHome(adapters.qwen, runtime)
  const settingsPath = join(home, 'settings.json')
  const settings = readClientFile(settingsPath)
  if (settings.state === 'broken') return settings.trust
  const asks = settings.state === 'read' && valueAt(settings.value, ...folderTrustKeys) === true
  if (!asks) return { state: 'not-asked', reason: `${settingsPath} does not turn the question on` }
  const path = runtime.env['QWEN_CODE_TRUSTED_FOLDERS_PATH'] || join(home, 'trustedFolders.json')
  const file = readClientFile(path)
  if (file.state === 'broken') return file.trust
  const rules = file.state === 'read' ? Object.entries(file.value) : []
  const trusting = rules.find(
    ([place, level]) => trustLevels.has(level) && isInside(placeOf(place, level), folder),
  )
  if (trusting !== undefined) {
    return { state: 'trusted', reason: `${path} says ${String(trusting[1])} of ${trusting[0]}` }
  }
  return valueAt(file.state === 'read' ? file.value : undefined, folder) === 'DO_NOT_TRUST'
    ? { state: 'untrusted', reason: `${path} says DO_NOT_TRUST of ${folder}` }
    : { state: 'open', reason: `no rule in ${path} is about it` }
}
