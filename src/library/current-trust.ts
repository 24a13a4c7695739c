import { confirmTrust, type TrustVerdict } from '../trust/index.ts'
import { type DiscoverOptions, trustPolicy } from './discover.ts'
import type { SkillInfo } from './model.ts'

/**
 * The level of a skill now, and why: unlike `info.trustLevel` everything of it that can act is
 * compared with what was accepted. Reads the files of this one skill.
 */
export function currentTrust(info: SkillInfo, options: DiscoverOptions): TrustVerdict {
  return confirmTrust(info, trustPolicy(options).policy)
}
