import type { SkillManager } from '#library/manager'
import type { Skill, SkillInfo } from '#library/model'
import { filesText } from '#library/skill-files'
import { findSkills } from '#trigger/examples'
import { renderCatalog } from '#skill/catalog'
import { textOf } from '#agent/built-in-tools/paths'
import { objectSchema, ownTool } from '#agent/tool'
import type { AgentTool, ToolContext } from '#agent/types'

/** The skills that a model can activate, and the text that lists them. */
export interface SkillCatalogue {
  text: string
  skills: readonly SkillInfo[]
  /** Some skills are not in the text and must be searched for. */
  incomplete: boolean
}

export function skillCatalogue(
  allSkills: readonly SkillInfo[],
  tokenBudget: number,
): SkillCatalogue {
  const skills = allSkills.filter(({ fields }) => !fields.disableModelInvocation)
  if (skills.length === 0) return { text: '', skills, incomplete: false }
  const entries = skills.map(({ name, description, path, fields, trustLevel }) => {
    const forks = fields.context === 'fork' && trustLevel === 'trusted'
    const text = `${forks ? '(runs in a subagent) ' : ''}${description}`
    return { name, description: text, location: path }
  })
  const { text, omitted, shortened } = renderCatalog(entries, { format: 'xml', tokenBudget })
  const lines = [
    'Skills are instructions for particular tasks. When a task fits the description of one, activate it with the tool `skill` before you begin, and follow what it says.',
    text,
    shortened.length > 0 && 'Some descriptions are shortened.',
    omitted.length > 0 &&
      `${omitted.length} skills are not listed: find them with the tool \`search_skills\`.`,
  ]
  return { text: lines.filter(Boolean).join('\n'), skills, incomplete: omitted.length > 0 }
}

interface SkillActions {
  use: (name: string, argumentText: string, context: ToolContext) => Promise<string>
  finish: (name: string) => Promise<string>
}

/** Creates the tool that activates a skill, and one that searches if not all skills are listed. */
export function findingTools(
  { skills, incomplete }: SkillCatalogue,
  { use, finish }: SkillActions,
): AgentTool[] {
  if (skills.length === 0) return []
  const forks = skills.some(({ fields }) => fields.context === 'fork')
  const hints = skills.flatMap(({ name, fields }) =>
    fields.argumentHint === undefined ? [] : [`${name} ${fields.argumentHint}`],
  )
  const examples = hints.length === 0 ? '' : ` As in: ${hints.slice(0, 10).join('; ')}.`
  // With many skills, a list of all names would exceed the budget of the list.
  const names = incomplete ? {} : { enum: skills.map(({ name }) => name) }
  const description = `What the skill is to work on, as a user would write it after its name.${examples}`
  const activate: AgentTool = {
    ...ownTool,
    name: 'skill',
    aliases: ['Skill'],
    description: `Activates a skill: gives its instructions, to be followed at once, and the tools that belong to it. ${forks ? 'A skill that runs in a subagent gives its result instead. ' : ''}It stays active until your turn ends, or until you set done.`,
    inputSchema: objectSchema(
      {
        name: { type: 'string', ...names },
        arguments: { type: 'string', description },
        done: { type: 'boolean', description: 'Ends the activation.' },
      },
      ['name'],
    ),
    patternText: (input) => textOf(input, 'name'),
    async execute(input, context) {
      const name = textOf(input, 'name')
      if (input['done'] === true) return await finish(name)
      return await use(name, textOf(input, 'arguments'), context)
    },
  }
  const query = { type: 'string', minLength: 1, description: 'The task in words.' }
  const search: AgentTool = {
    ...ownTool,
    name: 'search_skills',
    description: `Finds skills for a task among all ${skills.length}; activate one with the tool skill.`,
    inputSchema: objectSchema({ query }, ['query']),
    async execute(input) {
      const matches = findSkills(textOf(input, 'query'), skills, searchLimit)
      const lines = matches.map(({ name, description }) => `${name}: ${description}`)
      return lines.join('\n') || 'No skill fits these words.'
    },
  }
  return incomplete ? [activate, search] : [activate]
}

const searchLimit = 8

/** Creates the tool that reads files of these skills; none if they have no files. */
export function resourceTools(
  skills: readonly (Skill | undefined)[],
  manager: Pick<SkillManager, 'readResource'>,
): AgentTool[] {
  const withFiles = skills.flatMap((skill) => (skill?.resources.files.length ? [skill] : []))
  if (withFiles.length === 0) return []
  const names = { type: 'string', enum: withFiles.map(({ info }) => info.name) }
  const file = { type: 'string', description: 'From the directory of the skill.' }
  const resources: AgentTool = {
    ...ownTool,
    name: 'skill_resource',
    description:
      'Reads a file of an active skill, such as a reference that its instructions name; without path it lists the files.',
    inputSchema: objectSchema({ skill: names, path: file }, ['skill']),
    patternText: (input) => textOf(input, 'skill'),
    async execute(input) {
      const name = textOf(input, 'skill')
      const path = textOf(input, 'path')
      if (path !== '') return (await manager.readResource(name, path)).text
      const skill = withFiles.find(({ info }) => info.name === name)
      if (!skill) return `The skill ${name} is not active.`
      return filesText(skill.resources)
    },
  }
  return [resources]
}
