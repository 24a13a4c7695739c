import { existsSync } from 'node:fs'
import { basename, isAbsolute, join, resolve } from 'node:path'
import { findWorkspace, realPathOf } from '#core/read-files'
import type { Runtime } from '#core/runtime'
import { foldersIn, pluginFolder, pluginsIn, upTo } from '#trust/project-files'
import type { SkillLocation } from './model.ts'
import { readPlugin } from './plugins.ts'

/** A place for skills, and the agent clients that read it themselves. */
interface LocationRow {
  project?: string
  /** Below the user's home. */
  user?: string
  clients: readonly string[]
}

function both(path: string, ...clients: readonly string[]): LocationRow {
  return { project: path, user: path, clients }
}

/** Where skills lie, in order of precedence; the clients are those that were seen to read it, and Cursor. */
export const locationTable: readonly LocationRow[] = [
  both('.skillrail/skills'),
  both('.agents/skills', 'codex', 'copilot', 'cursor', 'gemini', 'opencode', 'pi', 'qwen'),
  { project: '.claude/skills', clients: ['claude', 'copilot', 'cursor', 'opencode'] },
  { user: '.claude/skills', clients: ['claude', 'cursor', 'opencode'] },
  both('.opencode/skills', 'opencode'),
  { user: '.config/opencode/skills', clients: ['opencode'] },
  both('.gemini/skills', 'gemini'),
  both('.codex/skills', 'codex', 'cursor'),
  { project: '.github/skills', clients: ['copilot'] },
  { user: '.copilot/skills', clients: ['copilot'] },
  both('.cursor/skills', 'cursor'),
  both('.qwen/skills', 'qwen'),
  { project: '.pi/skills', user: '.pi/agent/skills', clients: ['pi'] },
  both('.mamba/skills'),
]

/** Where clients keep the plugins that they installed, so many folders deep; seen with the real clients. */
export const installedPlugins = [
  { path: '.claude/plugins/cache', depth: 3, client: 'claude' },
  { path: '.codex/plugins/cache', depth: 3, client: 'codex' },
  { path: '.copilot/installed-plugins', depth: 2, client: 'copilot' },
  { path: '.gemini/extensions', depth: 1, client: 'gemini' },
  { path: '.qwen/extensions', depth: 1, client: 'qwen' },
] as const

/** The clients that read a place for skills; `source` as a skill has it. */
export function clientsReading(source: string): readonly string[] {
  const row = locationTable.find(
    ({ project, user }) => source === project || source === `~/${user}`,
  )
  const installed = installedPlugins.find(({ path }) => source.startsWith(`~/${path}/`))
  return row?.clients ?? (installed ? [installed.client] : [])
}

type LocationRuntime = Pick<Runtime, 'cwd' | 'env' | 'home'>

export interface LocationOptions {
  /** Project directories in place of the standard ones, relative to the working directory. */
  skillsDirs?: readonly string[] | undefined
  /** The user's directory in place of the standard ones. */
  userSkillsDir?: string | undefined
  /** Further directories, `~/` allowed; untrusted unless they are in `trustedPaths`. */
  customPaths?: readonly string[] | undefined
  /** Default `project`. */
  precedence?: 'project' | 'user' | undefined
}

/** Every place to look, highest precedence first. A plugin that brings the hook is told where it is. */
export function skillLocations(
  runtime: LocationRuntime,
  options: LocationOptions = {},
): SkillLocation[] {
  const { skillsDirs, userSkillsDir, customPaths = [], precedence } = options
  const named = (path: string, scope: SkillLocation['scope']): SkillLocation => {
    return { directory: absolutePath(runtime, path), scope, source: path, explicit: true }
  }
  const project = skillsDirs?.map((path) => named(path, 'project')) ?? projectLocations(runtime)
  const user =
    userSkillsDir === undefined
      ? [...tableBelow(runtime.home, 'user', '~/'), ...installedLocations(runtime)]
      : [named(userSkillsDir, 'user')]
  const ofHook = runtime.env['SKILLRAIL_PLUGIN']
  return [
    ...(ofHook === undefined ? [] : [skillsOf(ofHook, ofHook)]),
    ...(precedence === 'user' ? [...user, ...project] : [...project, ...user]),
    ...customPaths.map((path) => named(path, 'custom')),
  ]
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
  const places = locationTable
    .flatMap((row) => row[scope] ?? [])
    .map((path) => {
      return { directory: join(directory, path), scope, source: prefix + path, explicit: false }
    })
  const plugins = pluginsIn(join(directory, pluginFolder)).map((path) => {
    const source = `${prefix}${pluginFolder}/${basename(path)}`
    const own = { directory: join(path, 'skills'), plugin: readPlugin(path) }
    return { ...own, scope, source, explicit: false }
  })
  return [...places, ...plugins]
}

function installedLocations({ home }: LocationRuntime): SkillLocation[] {
  return installedPlugins.flatMap(({ path, depth }) =>
    foldersIn(join(home, path), depth)
      // Claude Code keeps those that were removed for a while.
      .filter((folder) => !existsSync(join(folder, '.orphaned_at')))
      .map((folder) => skillsOf(folder, `~/${path}/${basename(folder)}`)),
  )
}

function skillsOf(folder: string, source: string): SkillLocation {
  return { directory: join(folder, 'skills'), scope: 'user', source, explicit: false }
}

/** What decides which plugins there are, apart from the folders of their skills. */
export function pluginPaths({ cwd, home }: LocationRuntime): string[] {
  const folders = upTo(resolve(cwd), findWorkspace(cwd, { home }))
  const places = [...folders, home].map((folder) => ({
    folder: join(folder, pluginFolder),
    depth: 1,
  }))
  const installed = installedPlugins.map(({ path, depth }) => ({ folder: join(home, path), depth }))
  return [...places, ...installed].flatMap(({ folder, depth }) => [
    ...Array.from({ length: depth }, (_, index) => foldersIn(folder, index)).flat(),
    ...foldersIn(folder, depth).flatMap((path) => [path, join(path, 'plugin.json')]),
  ])
}
