export {
  createSkills,
  type OwnSettings,
  type Skills,
  type SkillSettings,
  type SkillsOptions,
} from '#agent/ai/skills'
export type { SkillOutput, SkillTools } from '#agent/ai/skill-tool-set'
export {
  type SubagentOutput,
  subagentTool,
  type SubagentToolOptions,
  totalUsage,
} from '#agent/ai/subagent-tool'
export { fromToolSet, toToolSet } from '#agent/ai/tool-set'
