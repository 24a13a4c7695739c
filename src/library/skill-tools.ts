import { SkillConflictError } from '../skill/index.ts'

/** A tool that a program adds to a skill; it is offered while the skill is active. */
export interface SkillTool {
  /** Without the skill's name. */
  name: string
  description?: string | undefined
  /** JSON Schema of the input; absent means that there is none. */
  inputSchema?: Readonly<Record<string, unknown>> | undefined
  execute(input: unknown): unknown
}

/** A tool as it is offered: under its full name, with where it comes from. */
export interface OfferedTool extends SkillTool {
  /** `skill.tool`, or the bare name where names are not prefixed. */
  name: string
  skill: string
  /** The name without the prefix. */
  toolName: string
}

/** The programmatic tools of all skills, in the order in which they were registered. */
export interface SkillTools {
  /** @throws {SkillConflictError} when the skill has another tool of that name. */
  add(skill: string, tool: SkillTool): void
  remove(skill: string, tool?: string): void
  of(skill: string): OfferedTool[]
}

export function createSkillTools(options: { prefixed: boolean }): SkillTools {
  const tools = new Map<string, Map<string, SkillTool>>()
  return {
    add(skill, tool) {
      const own = tools.get(skill) ?? new Map<string, SkillTool>()
      const known = own.get(tool.name)
      if (known !== undefined && known !== tool) {
        throw new SkillConflictError({
          code: 'tool-conflict',
          message: `Skill ${skill} already has a tool called ${tool.name}.`,
          hint: 'Choose another name, or take the first one away with deregisterTool.',
        })
      }
      own.set(tool.name, tool)
      tools.set(skill, own)
    },
    remove(skill, tool) {
      if (tool === undefined) tools.delete(skill)
      else tools.get(skill)?.delete(tool)
    },
    of: (skill) =>
      Array.from(tools.get(skill)?.values() ?? [], (tool) => ({
        ...tool,
        execute: (input) => tool.execute(input),
        name: options.prefixed ? `${skill}.${tool.name}` : tool.name,
        toolName: tool.name,
        skill,
      })),
  }
}
