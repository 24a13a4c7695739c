import { loadConfiguration, type Runtime } from '../base/index.ts'
import { currentTrust, discoverOptionsFrom, skillAt } from '../library/index.ts'
import { buildIndex } from './build-index.ts'

/** What the hook loads only when it needs it. */
export interface IndexWork {
  buildIndex: typeof buildIndex
  /** Whether what acts in the skill is still what was accepted for its workspace. */
  isStillTrusted(runtime: Runtime, path: string): boolean
}

export const indexWork: IndexWork = { buildIndex, isStillTrusted }

function isStillTrusted(runtime: Runtime, path: string): boolean {
  const { settings } = loadConfiguration(runtime)
  const options = discoverOptionsFrom(runtime, settings)
  return currentTrust(skillAt(path, options), options).level === 'trusted'
}
