import { isAbsolute, join, resolve } from 'node:path'
import { findWorkspace, realPathOf } from '../core/read-files.ts'
import type { Runtime } from '../core/runtime.ts'
import { upTo } from '../trust/project-files.ts'
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
  userDirectory?: string | undefined
  /** Further directories; relative to the working directory, `~/` allowed. */
  customPaths?: readonly string[] | undefined
  precedence?: 'project' | 'user' | undefined
}

/**
 * Every place to look, highest precedence first: from the working directory up to the root of the
 * repository, the user's, the custom ones.
 */
export function skillLocations(
  runtime: Pick<Runtime, 'cwd' | 'home'>,
  options: LocationOptions = {},
): SkillLocation[] {
  const { projectDirectories, userDirectory, customPaths = [], precedence } = options
  const named = (path: string, scope: SkillLocation['scope']): SkillLocation => {
    return { directory: absolutePath(runtime, path), scope, source: path, explicit: true }
  }
  const project =
    projectDirectories?.map((path) => named(path, 'project')) ?? projectLocations(runtime)
  const user =
    userDirectory === undefined
      ? tableBelow(runtime.home, 'user', '~/')
      : [named(userDirectory, 'user')]
  const own = precedence === 'user' ? [...user, ...project] : [...project, ...user]
  return [...own, ...customPaths.map((path) => named(path, 'custom'))]
}

/** `path` as an absolute one: `~/` is the user's home, anything relative is below the cwd. */
export function absolutePath(runtime: Pick<Runtime, 'cwd' | 'home'>, path: string): string {
  if (path === '~') return runtime.home
  if (path.startsWith('~/')) return join(runtime.home, path.slice(2))
  return isAbsolute(path) ? path : resolve(runtime.cwd, path)
}

function projectLocations(runtime: Pick<Runtime, 'cwd' | 'home'>): SkillLocation[] {
  // A repository in the home directory (dotfiles, say) does not turn the user's own skills into
  // skills of a project.
  const home = realPathOf(runtime.home) ?? runtime.home
  const start = realPathOf(runtime.cwd) ?? resolve(runtime.cwd)
  return upTo(start, findWorkspace(runtime.cwd, runtime))
    .filter((directory) => directory !== home)
    .flatMap((directory) => tableBelow(directory, 'project', ''))
}

function tableBelow(directory: string, scope: 'project' | 'user', prefix: string): SkillLocation[] {
  return locationTable.map((path) => {
    return { directory: join(directory, path), scope, source: prefix + path, explicit: false }
  })
}
