import {
  type DiscoverOptions,
  discoverSkills,
  type Discovery,
  type SkillInfo,
} from '../library/index.ts'
import { findWorkspace, lockedTrust } from '../trust/index.ts'

export interface ListedSkills extends Discovery {
  /** How many skills are not trusted, though their place is. */
  heldBack: number
}

/**
 * What `list` shows. A skill has its level by its place; where the project has a lock, by all of it, for
 * which each file of a skill is read.
 */
export function listedSkills(options: DiscoverOptions): ListedSkills {
  const { runtime } = options
  const workspace = findWorkspace(runtime.cwd, runtime)
  const trustOf = lockedTrust(runtime, { ...options, workspace })
  if (trustOf === undefined) return { ...discoverSkills(options), heldBack: 0 }
  const discovery = discoverSkills(options)
  let heldBack = 0
  const asLocked = (info: SkillInfo): SkillInfo => {
    if (info.trustLevel !== 'trusted') return info
    const { level, code, reason, hint } = trustOf(info)
    if (level === 'trusted') return info
    heldBack++
    const message = `the skill is not trusted: ${reason}`
    const held = { code, severity: 'warning' as const, message, path: info.path, hint }
    return { ...info, trustLevel: level, diagnostics: [...info.diagnostics, held] }
  }
  const skills = discovery.skills.map(asLocked)
  const shadowed = discovery.shadowed.map(asLocked)
  const conflicts = discovery.conflicts.map(asLocked)
  return { ...discovery, skills, shadowed, conflicts, heldBack }
}
