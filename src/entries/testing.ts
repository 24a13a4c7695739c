export {
  type SkillHarnessOptions,
  type SkillInvocation,
  type SkillInvokeOptions,
  type SkillRefusal,
  SkillTestHarness,
} from '../testing/harness.ts'
export { type LoadSkill, skillFixtures, type SkillFixtures } from '../testing/fixtures.ts'
export { type MatcherResult, skillMatchers, type SkillMatchers } from '../testing/matchers.ts'
export { type FixtureSkill, writeSkill } from '../testing/write-skill.ts'
export type { InvocationSource } from '../library/activation.ts'
export type { SkillDefinition, SkillTool } from '../library/manager.ts'
