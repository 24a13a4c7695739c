export {
  type Activation,
  type ActivationEffects,
  type ActivationInput,
  type ActivationKey,
  activateSkill,
  checkInvocation,
  type InvocationSource,
} from './activation.ts'
export type { ActivePermissions } from './activation.ts'
export { currentTrust } from './discover.ts'
export { defineSkill, type SkillDefinition } from './registry.ts'
export { type EmbeddedCommand, findEmbeddedCommands } from './activation.ts'
export { type DiscoverOptions, discoverSkills } from './discover.ts'
export { findSkill, type FindSkillOptions, skillAt } from './find-skill.ts'
export { listResources, listSkillFiles } from './skill-files.ts'
export { loadSkill } from './find-skill.ts'
export { maxSkillBytes } from './model.ts'
export { type LocationOptions, locationTable, skillLocations } from './locations.ts'
export { type ActivateOptions, SkillManager, type SkillManagerOptions } from './manager.ts'
export type {
  BrokenSkill,
  Discovery,
  ResourceTree,
  Skill,
  SkillInfo,
  SkillLocation,
  SkillTokens,
} from './model.ts'
export { maxResourceBytes, readSkillResource, type Resource } from './skill-files.ts'
export { scoreSkills } from './score-skills.ts'
export { discoverOptionsFrom } from './discover.ts'
export type { OfferedTool, SkillTool } from './registry.ts'
export type { SkillChanges, SkillWatcher, WatchListener } from './watch.ts'
export {
  findSkillFiles,
  type FoundSkillFile,
  walkDirectories,
  type WalkLimits,
  walkLimits,
  type WalkOptions,
} from './walk.ts'
