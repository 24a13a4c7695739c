import type { SkillInfo } from '../../library/index.ts'
import type { JsonObject } from '../../tools/index.ts'
import { textOf } from '../hands/place.ts'
import type { AgentTool, ToolContext } from '../model.ts'
import type { SkillCatalogue } from './catalogue.ts'

export interface SkillUses {
  /** What the model gets for a skill that it activates. */
  use: (name: string, argumentText: string, context: ToolContext) => Promise<string>
  /** What the model gets for one that it is done with. */
  finish: (name: string) => Promise<string>
}

/** Activates a skill, or ends its activation. */
export function skillTool({ skills, incomplete }: SkillCatalogue, uses: SkillUses): AgentTool {
  const forks = skills.filter(({ fields }) => fields.context === 'fork').map(({ name }) => name)
  return {
    name: 'skill',
    aliases: ['Skill'],
    description: [
      'Activates a skill: gives its instructions, to be followed at once, and the tools that belong to it.',
      forks.length === 0 ? '' : 'A skill that runs in a subagent gives its result instead.',
      'It stays active until your turn ends, or until you set done.',
    ]
      .filter((text) => text !== '')
      .join(' '),
    inputSchema: {
      type: 'object',
      properties: {
        // With many skills a list of names would cost more than the budget that it is left out for.
        name: incomplete ? { type: 'string' } : { type: 'string', enum: namesOf(skills) },
        arguments: { type: 'string', description: hintOf(skills) },
        done: { type: 'boolean', description: 'Ends the activation; default false.' },
      },
      required: ['name'],
      additionalProperties: false,
    },
    readOnly: true,
    needsApproval: false,
    origin: { kind: 'agent' },
    patternText: (input) => textOf(input, 'name'),
    execute: (input, context) => execute(input, context, uses),
  }
}

function execute(input: JsonObject, context: ToolContext, uses: SkillUses): Promise<string> {
  const name = textOf(input, 'name')
  return input['done'] === true
    ? uses.finish(name)
    : uses.use(name, textOf(input, 'arguments'), context)
}

function namesOf(skills: readonly SkillInfo[]): string[] {
  return skills.map(({ name }) => name)
}

function hintOf(skills: readonly SkillInfo[]): string {
  const hints = skills.flatMap(({ name, fields }) =>
    fields.argumentHint === undefined ? [] : [`${name} ${fields.argumentHint}`],
  )
  const examples = hints.length === 0 ? '' : ` As in: ${hints.slice(0, 10).join('; ')}.`
  return `What the skill is to work on, as a person would write it behind its name.${examples}`
}
