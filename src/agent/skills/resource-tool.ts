import type { Skill, SkillManager } from '../../library/index.ts'
import { textOf } from '../hands/place.ts'
import type { AgentTool } from '../model.ts'

const listLimit = 200

/** Lists and reads the files of active skills; only text that really lies in the skill. */
export function resourceTool(
  skills: readonly Skill[],
  manager: Pick<SkillManager, 'readResource'>,
): AgentTool {
  return {
    name: 'skill_resource',
    description:
      'Reads a file of an active skill, such as a reference that its instructions name; without path it lists the files.',
    inputSchema: {
      type: 'object',
      properties: {
        skill: { type: 'string', enum: skills.map(({ info }) => info.name) },
        path: { type: 'string', description: 'From the directory of the skill.' },
      },
      required: ['skill'],
      additionalProperties: false,
    },
    readOnly: true,
    needsApproval: false,
    origin: { kind: 'agent' },
    patternText: (input) => textOf(input, 'skill'),
    async execute(input) {
      const name = textOf(input, 'skill')
      const path = textOf(input, 'path')
      if (path !== '') return (await manager.readResource(name, path)).text
      const skill = skills.find(({ info }) => info.name === name)
      return skill === undefined ? `The skill ${name} is not active.` : listed(skill)
    },
  }
}

function listed({ resources: { files, truncated } }: Skill): string {
  const lines = files.slice(0, listLimit).map(({ path, size }) => `${path} (${size} bytes)`)
  if (truncated || files.length > listLimit) lines.push('[There are more files.]')
  return lines.join('\n')
}
