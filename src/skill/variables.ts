import type { AllowedTool } from './model.ts'

/** What a client puts in place of a variable, for one activation. What is not known is absent. */
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
  /** As authors write it. */
  written: string
  /** Undefined: nothing outside of its client has the value. */
  value: keyof VariableValues | undefined
  client: string
}

/** The variables in the text of skills that a client documents. */
export const skillVariables: readonly SkillVariable[] = [
  { written: '${CLAUDE_SKILL_DIR}', value: 'skill', client: 'Claude Code' },
  { written: '${CLAUDE_PROJECT_DIR}', value: 'project', client: 'Claude Code' },
  { written: '${CLAUDE_SESSION_ID}', value: 'session', client: 'Claude Code' },
  { written: '${CLAUDE_PLUGIN_ROOT}', value: 'plugin', client: 'Claude Code' },
  { written: '${CLAUDE_PLUGIN_DATA}', value: undefined, client: 'Claude Code' },
  { written: '${CLAUDE_EFFORT}', value: undefined, client: 'Claude Code' },
  { written: '{baseDir}', value: 'skill', client: 'OpenClaw' },
]

const byText: ReadonlyMap<string, SkillVariable> = new Map(
  skillVariables.map((variable) => [variable.written, variable]),
)

/** Any of these variables; `${baseDir}` is one of a shell. */
export const variablePattern: RegExp = new RegExp(
  `(?<!\\$)(?:${skillVariables.map(({ written }) => written.replaceAll(/[${}]/g, '\\$&')).join('|')})`,
  'g',
)

/** The value of a variable, or undefined where it is not known. */
export function variableValue(written: string, values: VariableValues): string | undefined {
  const { value } = byText.get(written) ?? {}
  return value && values[value]
}

/**
 * Puts values into the patterns of tools: `Bash(${CLAUDE_SKILL_DIR}/scripts/check.sh *)`. A variable
 * without a value stays as it is, and one whose value would be read as a part of the pattern: such a
 * pattern fits no call, so it approves nothing.
 */
export function insertVariables(
  tools: readonly AllowedTool[],
  values: VariableValues,
): { tools: AllowedTool[]; unknown: string[] } {
  const unknown = new Set<string>()
  const inserted = tools.map((tool) => {
    const pattern = tool.pattern?.replace(variablePattern, (written) => {
      const value = variableValue(written, values)
      if (value !== undefined && !/[*?:()[\]{}\p{Cc}]/u.test(value)) return value
      unknown.add(written)
      return written
    })
    return { ...tool, pattern }
  })
  return { tools: inserted, unknown: [...unknown] }
}
