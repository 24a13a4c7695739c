import { statSync } from 'node:fs'
import { type Diagnostic, hasErrors, UsageError } from '../base/index.ts'
import { discoverOptionsFrom, discoverSkills } from '../library/index.ts'
import { agentFilesIn } from '../trust/index.ts'
import type { CommandContext } from './command.ts'

/** What `agents validate` found out about one file. */
export interface AgentVerdict {
  path: string
  name: string | null
  valid: boolean
  diagnostics: readonly Diagnostic[]
}

/**
 * Checks the given files, or all that are found: their fields, the tools, skills and models they name, and circles.
 *
 * @throws {UsageError} for a path where nothing is.
 */
export async function verdictsOf(
  context: CommandContext,
  paths: readonly string[],
): Promise<AgentVerdict[]> {
  const { runtime, settings } = context
  const [agents, { serverConfiguration }] = await Promise.all([
    import('../agent/index.ts'),
    import('./_asked-servers.ts'),
  ])
  const { agentPlaces, readAgentAt } = agents
  const files =
    paths.length > 0
      ? paths.flatMap(filesAt)
      : agentPlaces({ runtime }).flatMap(({ directory }) => agentFilesIn(directory).files)
  const readings = [...new Set(files)].map((path) => ({ path, ...readAgentAt(path) }))
  const usable = readings.flatMap(({ path, config, places }) =>
    config === undefined ? [] : [{ path, config, places }],
  )
  const { skills } = discoverSkills(discoverOptionsFrom(runtime, settings))
  const servers = serverConfiguration(context).servers.map(({ name }) => name)
  const found = [
    ...agents.checkNames(usable),
    ...agents.checkReferences(usable, skills),
    ...agents.checkModels(usable),
    ...agents.checkTools(usable, { servers }),
  ]
  return readings.map(({ path, config, diagnostics: own }) => {
    const diagnostics = [...own, ...found.filter((one) => one.path === path)]
    return { path, name: config?.name ?? null, valid: !hasErrors(diagnostics), diagnostics }
  })
}

function filesAt(path: string): string[] {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats?.isDirectory() === true) return agentFilesIn(path).files
  if (stats !== undefined) return [path]
  throw new UsageError({
    code: 'path-missing',
    message: `there is nothing at ${path}`,
    hint: 'Give a file such as .claude/agents/reviewer.md, or the folder that it is in.',
  })
}
