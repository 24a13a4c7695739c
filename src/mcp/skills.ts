import { discoverOptionsFrom, SkillManager } from '../library/index.ts'
import type { McpWorld } from './world.ts'

/** The skills as they are on disk now. */
export function skillsOf({
  runtime,
  settings,
}: Pick<McpWorld, 'runtime' | 'settings'>): SkillManager {
  return new SkillManager(discoverOptionsFrom(runtime, settings))
}
