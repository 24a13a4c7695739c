export {
  type SkillHarnessOptions,
  type SkillInvocation,
  type SkillInvokeOptions,
  type SkillRefusal,
  SkillTestHarness,
} from './harness.ts'
export { type LoadSkill, skillFixtures, type SkillFixtures } from './fixtures.ts'
export { type MatcherResult, skillMatchers, type SkillMatchers } from './matchers.ts'
export { type FixtureSkill, writeSkill } from './write-skill.ts'
export type { InvocationSource, SkillDefinition, SkillTool } from '../library/index.ts'
