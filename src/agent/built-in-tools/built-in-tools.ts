import { nearest, type Runtime } from '../../base/index.ts'
import { AgentUsageError } from '../errors.ts'
import { editTool, writeTool } from './writing.ts'
import { listTool, readTool, searchTool } from './reading.ts'
import type { Ground } from './paths.ts'
import { shellTool } from './shell.ts'
import type { AgentTool } from '../types.ts'

export interface BuiltInToolOptions extends Ground {
  runtime: Pick<Runtime, 'env' | 'platform'>
  /** Names of environment variables that commands get besides the few that programs need. */
  environment?: readonly string[] | undefined
}

function allBuiltIns(options: BuiltInToolOptions): AgentTool[] {
  const { runtime, environment = [], ...ground } = options
  return [
    readTool(ground),
    listTool(ground),
    searchTool(ground),
    writeTool(ground),
    editTool(ground),
    shellTool({ project: ground.project, runtime, environment }),
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
  const hands = allBuiltIns(options)
  const wanted = new Set(
    names.flatMap((name) => (name === 'all' ? hands : builtInNamed(name, hands))),
  )
  return hands.filter((hand) => wanted.has(hand))
}

/** @throws {AgentUsageError} for a name that no built-in tool has, before any is needed. */
export function requireBuiltIns(names: readonly string[]): void {
  for (const name of names) if (name !== 'all') builtInNamed(name, knownBuiltIns())
}

/** What built-in tools there are, for questions about their names: they belong to no project. */
export function knownBuiltIns(): readonly AgentTool[] {
  anywhere ??= allBuiltIns({ project: '', runtime: { env: {}, platform: process.platform } })
  return anywhere
}

let anywhere: readonly AgentTool[] | undefined

function builtInNamed(name: string, hands: readonly AgentTool[]): AgentTool {
  const hand = hands.find((candidate) => namesOf(candidate).includes(name.toLowerCase()))
  if (hand !== undefined) return hand
  const meant = nearest(name.toLowerCase(), hands.flatMap(namesOf))
  throw new AgentUsageError({
    code: 'tool-unknown',
    message: `There is no built-in tool called ${name}.${meant === undefined ? '' : ` Did you mean ${meant}?`}`,
    hint: `The built-in tools are ${hands.map((tool) => tool.name).join(', ')}.`,
  })
}

function namesOf({ name, aliases = [] }: AgentTool): string[] {
  return [name, ...aliases].map((text) => text.toLowerCase())
}
