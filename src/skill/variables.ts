import type { AllowedTool } from './model.ts'

/** The values of a client's variables for one activation. Unknown values are absent. */
export interface VariableValues {
  /** The directory of the `SKILL.md`. */
  skill?: string | undefined
  /** The project's root. */
  project?: string | undefined
  session?: string | undefined
  /** The root of the plugin that the skill belongs to. */
  plugin?: string | undefined
}

interface SkillVariable {
  /** The variable as authors write it. */
  placeholder: string
  /** Undefined if only the client has the value. */
  value: keyof VariableValues | undefined
  client: string
}

/** The variables in the text of skills that a client documents. */
export const skillVariables: readonly SkillVariable[] = [
  { placeholder: '${CLAUDE_SKILL_DIR}', value: 'skill', client: 'Claude Code' },
  { placeholder: '${CLAUDE_PROJECT_DIR}', value: 'project', client: 'Claude Code' },
  { placeholder: '${CLAUDE_SESSION_ID}', value: 'session', client: 'Claude Code' },
  { placeholder: '${CLAUDE_PLUGIN_ROOT}', value: 'plugin', client: 'Claude Code' },
  { placeholder: '${CLAUDE_PLUGIN_DATA}', value: undefined, client: 'Claude Code' },
  { placeholder: '${CLAUDE_EFFORT}', value: undefined, client: 'Claude Code' },
  { placeholder: '{baseDir}', value: 'skill', client: 'OpenClaw' },
]

const byText: ReadonlyMap<string, SkillVariable> = new Map(
  skillVariables.map((variable) => [variable.placeholder, variable]),
)

/** Matches any of these variables; `${baseDir}` is a shell variable. */
export const variablePattern: RegExp = new RegExp(
  `(?<!\\$)(?:${skillVariables.map(({ placeholder }) => placeholder.replaceAll(/[${}]/g, '\\$&')).join('|')})`,
  'g',
)

/** Returns the value of a variable, or undefined if it is unknown. */
export function variableValue(placeholder: string, values: VariableValues): string | undefined {
  const { value } = byText.get(placeholder) ?? {}
  return value && values[value]
}

/**
 * Inserts values into the patterns of tools: `Bash(${CLAUDE_SKILL_DIR}/scripts/check.sh *)`. A
 * variable stays unchanged if it has no value, or if its value contains pattern syntax. Such a
 * pattern matches no call, so it approves nothing.
 */
export function insertVariables(
  tools: readonly AllowedTool[],
  values: VariableValues,
): { tools: AllowedTool[]; unknown: string[] } {
  const unknown = new Set<string>()
  const resolvedTools = tools.map((tool) => {
    const pattern = tool.pattern?.replace(variablePattern, (placeholder) => {
      const value = variableValue(placeholder, values)
      if (value !== undefined && !/[*?:()[\]{}\p{Cc}]/u.test(value)) return value
      unknown.add(placeholder)
      return placeholder
    })
    return { ...tool, pattern }
  })
  return { tools: resolvedTools, unknown: [...unknown] }
}
