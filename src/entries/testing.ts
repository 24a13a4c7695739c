export {
  type SkillHarnessOptions,
  type SkillInvocation,
  type SkillInvokeOptions,
  type SkillRefusal,
  SkillTestHarness,
} from '#testing/harness'
export { type LoadSkill, skillFixtures, type SkillFixtures } from '#testing/fixtures'
export { type MatcherResult, skillMatchers, type SkillMatchers } from '#testing/matchers'
export { type FixtureSkill, writeSkill } from '#testing/write-skill'
export type { InvocationSource } from '#library/activation'
export type { SkillDefinition, SkillTool } from '#library/manager'
