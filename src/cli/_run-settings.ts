import { existsSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { dirname, join, resolve } from 'node:path'
import { loadConfiguration, type Settings } from '../base/index.ts'
import { collectActingParts } from '../trust/index.ts'
import type { ChainProject } from './_chain-project.ts'

/** The settings of runs, without what a project asks for that nobody accepted. */
export function runSettings(project: ChainProject): Settings['run'] {
  return { ...project.context.settings.run, environment: acceptedEnvironment(project) }
}

/**
 * The variables that scripts get of ours. A project that names some in its own configuration could
 * read the user's secrets by it, so they count only in the configuration that was accepted.
 */
export function acceptedEnvironment(project: ChainProject): readonly string[] {
  const { context, workspace } = project
  const named = context.settings.run.environment
  const file = nearestConfiguration(context.runtime.cwd, workspace)
  if (named.length === 0 || file === undefined || isAccepted(project, file)) return named
  const elsewhere = { ...context.runtime, cwd: context.runtime.home }
  const own = loadConfiguration(elsewhere).settings.run.environment
  const projects = loadConfiguration(elsewhere, { file }).settings.run.environment
  if (isDeepStrictEqual(named, own) || !isDeepStrictEqual(named, projects)) return named
  context.output.note(
    `run.environment in ${file} is ignored: nobody accepted it (skillrail trust ${workspace})`,
  )
  return own
}

const configuration = '.skillrail/config.json'

/** The file that the settings of the project were read from. */
function nearestConfiguration(cwd: string, workspace: string): string | undefined {
  for (let directory = resolve(cwd); ; directory = dirname(directory)) {
    const file = join(directory, configuration)
    if (existsSync(file)) return file
    if (directory === workspace || directory === dirname(directory)) return undefined
  }
}

/** Only the file of the workspace itself is shown to the person who trusts it. */
function isAccepted({ policy, workspace }: ChainProject, file: string): boolean {
  if (policy.workspaceTrust === 'trusted') return true
  if (file !== join(workspace, configuration)) return false
  const accepted = policy.acceptance?.parts.find((part) => part.path === configuration)
  const now = collectActingParts(workspace, []).find((part) => part.path === configuration)
  return accepted !== undefined && now?.problem === undefined && now?.digest === accepted.digest
}
