import { nearest } from '../../core/text.ts'
import type { Runtime } from '../../core/runtime.ts'
import { AgentUsageError } from '../errors.ts'
import { editTool, writeTool } from './writing.ts'
import { listTool, readTool, searchTool } from './reading.ts'
import type { Workspace } from './paths.ts'
import { shellTool } from './shell.ts'
import type { AgentTool } from '../types.ts'

export interface BuiltInToolOptions extends Workspace {
  runtime: Pick<Runtime, 'env' | 'platform'>
  /** Names of environment variables that commands get besides the few that programs need. */
  environment?: readonly string[] | undefined
}

function allBuiltIns(options: BuiltInToolOptions): AgentTool[] {
  const { runtime, environment = [], ...workspace } = options
  return [
    readTool(workspace),
    listTool(workspace),
    searchTool(workspace),
    writeTool(workspace),
    editTool(workspace),
    shellTool({ project: workspace.project, runtime, environment }),
  ]
}

/**
 * The built-in tools of these names, which may be aliases such as `Read` and `Bash`, in their own
 * order; `all` for all of them.
 *
 * @throws {AgentUsageError} for a name that none of them has.
 * @example createBuiltInTools(['read', 'Bash'], { project, runtime })
 */
export function createBuiltInTools(
  names: readonly string[],
  options: BuiltInToolOptions,
): AgentTool[] {
  const tools = allBuiltIns(options)
  const wanted = new Set(
    names.flatMap((name) => (name === 'all' ? tools : builtInNamed(name, tools))),
  )
  return tools.filter((tool) => wanted.has(tool))
}

/** @throws {AgentUsageError} for a name that no built-in tool has, before any is needed. */
export function requireBuiltIns(names: readonly string[]): void {
  for (const name of names) if (name !== 'all') builtInNamed(name, knownBuiltIns())
}

/** What built-in tools there are, for questions about their names: they belong to no project. */
export function knownBuiltIns(): readonly AgentTool[] {
  return allBuiltIns({ project: '', runtime: { env: {}, platform: process.platform } })
}

function builtInNamed(name: string, tools: readonly AgentTool[]): AgentTool {
  const tool = tools.find((candidate) => namesOf(candidate).includes(name.toLowerCase()))
  if (tool !== undefined) return tool
  const meant = nearest(name.toLowerCase(), tools.flatMap(namesOf))
  throw new AgentUsageError({
    code: 'tool-unknown',
    message: `There is no built-in tool called ${name}.${meant === undefined ? '' : ` Did you mean ${meant}?`}`,
    hint: `The built-in tools are ${tools.map(({ name: other }) => other).join(', ')}.`,
  })
}

function namesOf({ name, aliases = [] }: AgentTool): string[] {
  return [name, ...aliases].map((text) => text.toLowerCase())
}
