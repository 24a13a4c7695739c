import type { Runtime } from '../../core/runtime.ts'
import { didYouMean } from '../../core/text.ts'
import { usageError } from '../errors.ts'
import type { AgentTool } from '../types.ts'
import type { Workspace } from './paths.ts'
import { editTool, listTool, readTool, searchTool, writeTool } from './files.ts'
import { shellTool } from './shell.ts'

export interface BuiltInToolOptions extends Workspace {
  runtime: Pick<Runtime, 'env' | 'platform'>
  environment?: readonly string[] | undefined
}

/** The built-in tools of these names or aliases, such as `read` and `Bash`; or `all`. */
export function createBuiltInTools(
  names: readonly string[],
  { runtime, environment = [], ...workspace }: BuiltInToolOptions,
): AgentTool[] {
  const ofFiles = [readTool, listTool, searchTool, writeTool, editTool]
  const shell = shellTool(workspace.project, runtime, environment)
  const tools = [...ofFiles.map((make) => make(workspace)), shell]
  const wanted = names.flatMap((name) => (name === 'all' ? tools : builtInNamed(name, tools)))
  return tools.filter((tool) => wanted.includes(tool))
}

export function requireBuiltIns(names: readonly string[]): void {
  createBuiltInTools(names, nowhere)
}

/** What built-in tools there are, for questions about their names: they belong to no project. */
export function knownBuiltIns(): readonly AgentTool[] {
  return createBuiltInTools(['all'], nowhere)
}

const nowhere = { project: '', runtime: { env: {}, platform: process.platform } }

function builtInNamed(name: string, tools: readonly AgentTool[]): AgentTool {
  const namesOf = (tool: AgentTool): string[] =>
    [tool.name, ...(tool.aliases ?? [])].map((text) => text.toLowerCase())
  const found = tools.find((tool) => namesOf(tool).includes(name.toLowerCase()))
  if (found !== undefined) return found
  const guess = didYouMean(name.toLowerCase(), tools.flatMap(namesOf))
  const message = `There is no built-in tool called ${name}. ${guess}`.trim()
  const all = tools.map((tool) => tool.name).join(', ')
  throw usageError('tool-unknown', message, `The built-in tools are ${all}.`)
}
