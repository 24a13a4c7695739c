export {
  type Activation,
  type ActivationEffects,
  type ActivationInput,
  type ActivationKey,
  activateSkill,
  checkInvocation,
  type InvocationSource,
} from './activation.ts'
export type { ActivePermissions } from './active-skills.ts'
export { currentTrust } from './current-trust.ts'
export { defineSkill, type SkillDefinition } from './define-skill.ts'
export { type EmbeddedCommand, findEmbeddedCommands } from './embedded-commands.ts'
export { type DiscoverOptions, discoverSkills, summarizeSkills } from './discover.ts'
export { findSkill, type FindSkillOptions, skillAt } from './find-skill.ts'
export { listResources, listSkillFiles } from './list-skill-files.ts'
export { loadSkill, maxSkillBytes } from './load-skill.ts'
export { type LocationOptions, locationTable, skillLocations } from './locations.ts'
export { type ActivateOptions, SkillManager, type SkillManagerOptions } from './manager.ts'
export type {
  BrokenSkill,
  Discovery,
  ResourceTree,
  Skill,
  SkillInfo,
  SkillLocation,
  SkillSummary,
  SkillTokens,
} from './model.ts'
export { maxResourceBytes, readSkillResource, type Resource } from './read-resource.ts'
export { scoreSkills } from './score-skills.ts'
export { discoverOptionsFrom } from './settings-options.ts'
export type { OfferedTool, SkillTool } from './skill-tools.ts'
export type { SkillChanges, SkillWatcher, WatchListener } from './watch.ts'
export {
  findSkillFiles,
  type FoundSkillFile,
  walkDirectories,
  type WalkLimits,
  walkLimits,
  type WalkOptions,
} from './walk.ts'
