import { dirname, isAbsolute, join, resolve } from 'node:path'
import { realPathOf } from '../core/read-files.ts'
import type { Runtime } from '../core/runtime.ts'
import { findWorkspace } from '../trust/decide.ts'
import type { SkillLocation } from './model.ts'

/** Where skills lie below a project directory or the user's home, in order of precedence. */
export const locationTable: readonly string[] = [
  '.skillrail/skills',
  '.agents/skills',
  '.claude/skills',
  '.opencode/skills',
  '.gemini/skills',
  '.codex/skills',
  '.github/skills',
  '.mamba/skills',
]

export interface LocationOptions {
  /** In place of the table below the project; relative to the working directory. */
  projectDirectories?: readonly string[] | undefined
  /** In place of the table below the user's home. */
  userDirectory?: string | undefined
  /** Further directories; relative to the working directory, `~/` allowed. */
  customPaths?: readonly string[] | undefined
  /** Default `project`. */
  precedence?: 'project' | 'user' | undefined
}

/**
 * Every place to look, highest precedence first: the project's from the working directory up to the
 * root of its repository, the user's, and the custom ones. Nothing is read except to find the root.
 */
export function skillLocations(
  runtime: Pick<Runtime, 'cwd' | 'home'>,
  options: LocationOptions = {},
): SkillLocation[] {
  const project = projectLocations(runtime, options.projectDirectories)
  const user = userLocations(runtime, options.userDirectory)
  const custom = (options.customPaths ?? []).map((path): SkillLocation => ({
    directory: absolutePath(runtime, path),
    scope: 'custom',
    source: path,
    explicit: true,
  }))
  const own = options.precedence === 'user' ? [...user, ...project] : [...project, ...user]
  return [...own, ...custom]
}

/** `path` as an absolute one: `~/` is the user's home, anything relative is below the cwd. */
export function absolutePath(runtime: Pick<Runtime, 'cwd' | 'home'>, path: string): string {
  if (path === '~') return runtime.home
  if (path.startsWith('~/')) return join(runtime.home, path.slice(2))
  return isAbsolute(path) ? path : resolve(runtime.cwd, path)
}

function projectLocations(
  runtime: Pick<Runtime, 'cwd' | 'home'>,
  directories: readonly string[] | undefined,
): SkillLocation[] {
  if (directories !== undefined) {
    return directories.map((path) => ({
      directory: absolutePath(runtime, path),
      scope: 'project',
      source: path,
      explicit: true,
    }))
  }
  // A repository in the home directory (dotfiles, say) does not turn the user's own skills into
  // skills of a project.
  const home = realPathOf(runtime.home) ?? runtime.home
  return ancestors(
    realPathOf(runtime.cwd) ?? resolve(runtime.cwd),
    findWorkspace(runtime.cwd, runtime),
  )
    .filter((directory) => directory !== home)
    .flatMap((directory) => tableBelow(directory, 'project', ''))
}

function userLocations(
  runtime: Pick<Runtime, 'cwd' | 'home'>,
  directory: string | undefined,
): SkillLocation[] {
  if (directory === undefined) return tableBelow(runtime.home, 'user', '~/')
  const path = absolutePath(runtime, directory)
  return [{ directory: path, scope: 'user', source: directory, explicit: true }]
}

function tableBelow(directory: string, scope: 'project' | 'user', prefix: string): SkillLocation[] {
  return locationTable.map((path) => ({
    directory: join(directory, path),
    scope,
    source: `${prefix}${path}`,
    explicit: false,
  }))
}

function ancestors(from: string, root: string): string[] {
  const directories = [from]
  let directory = from
  while (directory !== root && dirname(directory) !== directory) {
    directory = dirname(directory)
    directories.push(directory)
  }
  return directories
}
