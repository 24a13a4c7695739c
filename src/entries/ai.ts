export {
  createSkills,
  type OwnSettings,
  type Skills,
  type SkillSettings,
  type SkillsOptions,
} from '../agent/ai/skills.ts'
export type { SkillOutput, SkillTools } from '../agent/ai/skill-tool-set.ts'
export {
  type SubagentOutput,
  subagentTool,
  type SubagentToolOptions,
  totalUsage,
} from '../agent/ai/subagent-tool.ts'
export { fromToolSet, toToolSet } from '../agent/ai/tool-set.ts'
