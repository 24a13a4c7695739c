import { join } from 'node:path'
import { isInside, type Runtime } from '../../base/index.ts'
import { adapters } from '../adapters.ts'
import type { FolderTrust } from '../folder-trust.ts'
import { clientHome } from '../places.ts'
import { readClientFile, valueAt } from './_client-file.ts'
import { realPathOf } from './_folders.ts'
import { folderTrustKeys, placeOf, trustLevels } from './_trusted-folders.ts'

/**
 * Gemini CLI 0.61.0: variables first, then whether it asks at all (it does where no setting says
 * otherwise), then the rule with the longest path that has the folder in it.
 */
export function geminiTrust(folder: string, runtime: Runtime): FolderTrust {
  const { env } = runtime
  const variable = env['GEMINI_CLI_TRUST_WORKSPACE']
  if (env['GEMINI_RESTRICTED_MODE'] === 'true') {
    return { state: 'untrusted', reason: 'GEMINI_RESTRICTED_MODE is true' }
  }
  if (variable === 'true' || variable === 'false') {
    const state = variable === 'true' ? 'trusted' : 'untrusted'
    return { state, reason: `GEMINI_CLI_TRUST_WORKSPACE is ${variable}` }
  }
  const home = clientHome(adapters.gemini, runtime)
  const settingsPath = join(home, 'settings.json')
  const settings = readClientFile(settingsPath)
  if (settings.state === 'broken') return settings.trust
  const asks = settings.state === 'missing' || valueAt(settings.value, ...folderTrustKeys) !== false
  if (!asks) return { state: 'not-asked', reason: `${settingsPath} turns the question off` }
  const path = env['GEMINI_CLI_TRUSTED_FOLDERS_PATH'] || join(home, 'trustedFolders.json')
  const file = readClientFile(path)
  if (file.state === 'broken') return file.trust
  const rules = file.state === 'read' ? Object.entries(file.value) : []
  const [rule] = rules
    .filter(([place, level]) => isInside(realPathOf(placeOf(place, level)), folder))
    .toSorted(([a], [b]) => b.length - a.length)
  const [place, level] = rule ?? []
  if (!trustLevels.has(level) && level !== 'DO_NOT_TRUST') {
    return { state: 'open', reason: `no rule in ${path} is about it` }
  }
  const state = level === 'DO_NOT_TRUST' ? 'untrusted' : 'trusted'
  return { state, reason: `${path} says ${String(level)} of ${place}` }
}
