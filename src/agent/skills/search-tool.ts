import { scoreSkills, type SkillInfo } from '../../library/index.ts'
import { textOf } from '../hands/place.ts'
import type { AgentTool } from '../model.ts'

const answers = 8

/** Finds skills among more than the model is told of. */
export function searchSkillsTool(skills: readonly SkillInfo[]): AgentTool {
  return {
    name: 'search_skills',
    description: `Finds skills for a task among all ${skills.length}; activate one with the tool skill.`,
    inputSchema: {
      type: 'object',
      properties: { query: { type: 'string', minLength: 1, description: 'The task in words.' } },
      required: ['query'],
      additionalProperties: false,
    },
    readOnly: true,
    needsApproval: false,
    origin: { kind: 'agent' },
    execute(input) {
      const found = scoreSkills(textOf(input, 'query'), skills, answers)
      const lines = found.map(({ name, description }) => `${name}: ${description}`)
      return Promise.resolve(lines.length === 0 ? 'No skill fits these words.' : lines.join('\n'))
    },
  }
}
