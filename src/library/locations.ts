import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { type ClientName, clientNames, clientPath, furtherFolders } from '#core/client-folders'
import { UsageError } from '#core/errors'
import { findWorkspace, isDirectory, isInside, realPathOf } from '#core/read-files'
import { isInProject, pluginOfHook, type Runtime } from '#core/runtime'
import { didYouMean } from '#core/text'
import { foldersIn, upTo } from '#core/folders'
import { pluginFolder, pluginsIn } from '#trust/workspace-files'
import { clientPlugins } from './client-plugins.ts'
import type { SkillLocation } from './model.ts'
import { readPlugin } from './plugins.ts'

/** A folder of skills, and the agent clients that read the folder themselves. */
interface LocationRow {
  project?: string
  /** Below the user's home. */
  user?: string
  clients: readonly ClientName[]
}

function both(path: string, ...clients: readonly ClientName[]): LocationRow {
  return { project: path, user: path, clients }
}

/** Folders of skills in order of precedence. Clients are listed by observation, Cursor by its documentation. */
export const locationTable: readonly LocationRow[] = [
  both('.skillrail/skills'),
  both('.agents/skills', 'codex', 'copilot', 'cursor', 'gemini', 'opencode', 'pi', 'qwen'),
  { project: '.claude/skills', clients: ['claude', 'copilot', 'cursor', 'opencode'] },
  { user: '.claude/skills', clients: ['claude', 'cursor', 'opencode'] },
  both('.opencode/skills', 'opencode'),
  both('.opencode/skill', 'opencode'),
  { user: '.config/opencode/skills', clients: ['opencode'] },
  { user: '.config/opencode/skill', clients: ['opencode'] },
  both('.gemini/skills', 'gemini'),
  both('.codex/skills', 'codex', 'cursor'),
  { project: '.github/skills', clients: ['copilot'] },
  { user: '.copilot/skills', clients: ['copilot'] },
  both('.cursor/skills', 'cursor'),
  both('.qwen/skills', 'qwen'),
  { project: '.pi/skills', user: '.pi/agent/skills', clients: ['pi'] },
  both('.mamba/skills'),
]

/** The clients that also read skills in nested folders, such as `skills/group/one`. */
const nestedFolderClients: ReadonlySet<ClientName> = new Set([
  'codex',
  'copilot',
  'cursor',
  'opencode',
  'pi',
])

/** For each list of clients the clients that read nested folders, so that all skills share one list. */
const nestedReaders = new WeakMap<readonly ClientName[], readonly ClientName[]>()

/**
 * Clients that were seen not to load a skill whose frontmatter is not valid YAML, such as a description with an
 * unquoted colon: pi 1.6.0. Claude Code loads it; the other clients were not tried.
 */
const strictYamlClients: ReadonlySet<ClientName> = new Set(['pi'])

/** Returns which of the clients load a skill with a value that YAML cannot read (`yaml-unquoted`). */
export function readersOfUnquoted(clients: readonly ClientName[]): readonly ClientName[] {
  return clients.filter((client) => !strictYamlClients.has(client))
}

/** Returns the clients that read a skill themselves. @param depth levels between the location and the skill. */
export function clientsAt(
  { clients = [], depth: most }: Pick<SkillLocation, 'clients' | 'depth'>,
  depth: number,
): readonly ClientName[] {
  if (most !== undefined || depth === 1) return clients
  const readers =
    nestedReaders.get(clients) ?? clients.filter((client) => nestedFolderClients.has(client))
  nestedReaders.set(clients, readers)
  return readers
}

type LocationRuntime = Pick<Runtime, 'cwd' | 'env' | 'home' | 'platform'>

export interface LocationOptions {
  /** Replace the standard project directories; relative to the working directory. */
  skillsDirs?: readonly string[] | undefined
  /** Replaces the standard user directories. */
  userSkillsDir?: string | undefined
  /** Further directories, `~/` allowed; untrusted unless they are in `trustedPaths`. */
  customPaths?: readonly string[] | undefined
  /** Default `project`. */
  precedence?: 'project' | 'user' | undefined
}

/** Returns all locations of skills, highest precedence first. A plugin that contains the hook comes before all others. */
export function skillLocations(
  runtime: LocationRuntime,
  options: LocationOptions = {},
): SkillLocation[] {
  const { skillsDirs, userSkillsDir, customPaths = [], precedence } = options
  const explicitLocation = (path: string, scope: SkillLocation['scope']): SkillLocation => {
    return { directory: absolutePath(runtime, path), scope, source: path, explicit: true }
  }
  const project =
    skillsDirs?.map((path) => explicitLocation(path, 'project')) ?? projectLocations(runtime)
  const user =
    userSkillsDir === undefined
      ? [...userLocations(runtime), ...installedLocations(runtime)]
      : [explicitLocation(userSkillsDir, 'user')]
  const hookPlugin = pluginOfHook(runtime)
  return [
    ...(hookPlugin === undefined ? [] : [skillsOf(hookPlugin, hookPlugin)]),
    ...(precedence === 'user' ? [...user, ...project] : [...project, ...user]),
    ...customPaths.map((path) => explicitLocation(path, 'custom')),
  ]
}

/** Resolves a path: `~/` is the user's home, and a relative path is below the working directory. */
export function absolutePath(runtime: Pick<Runtime, 'cwd' | 'home'>, path: string): string {
  if (path === '~') return runtime.home
  if (path.startsWith('~/')) return join(runtime.home, path.slice(2))
  return isAbsolute(path) ? path : resolve(runtime.cwd, path)
}

/**
 * Checks that the folders in a program's options exist.
 *
 * @param options paths by the name of their option.
 * @throws {UsageError} for a folder that does not exist.
 */
export function requireFolders(
  runtime: Pick<Runtime, 'cwd' | 'home'>,
  options: Readonly<Record<string, readonly string[] | undefined>>,
): void {
  for (const [option, paths = []] of Object.entries(options)) {
    for (const path of paths) {
      const folder = absolutePath(runtime, path)
      if (isDirectory(folder)) continue
      const neighbours = foldersIn(dirname(folder)).map((neighbour) => basename(neighbour))
      const list = neighbours.slice(0, 10).join(', ')
      const hint =
        didYouMean(basename(folder), neighbours) || (list && `Folders next to it: ${list}.`)
      const message = `The option \`${option}\` names ${path}, and there is no folder ${folder}.`
      throw new UsageError({ code: 'folder-missing', message, hint: hint || undefined })
    }
  }
}

function projectLocations(runtime: Pick<Runtime, 'cwd' | 'home'>): SkillLocation[] {
  // The home directory can be a repository, of dotfiles for example. Its skills stay the user's skills.
  const home = realPathOf(runtime.home) ?? runtime.home
  const start = realPathOf(runtime.cwd) ?? resolve(runtime.cwd)
  return upTo(start, findWorkspace(runtime.cwd, runtime))
    .filter((directory) => directory !== home)
    .flatMap((directory) => [
      ...locationTable.flatMap(({ project, clients }): SkillLocation[] => {
        if (project === undefined) return []
        const place = { directory: join(directory, project), source: project }
        return [{ ...place, clients, scope: 'project', explicit: false }]
      }),
      ...portablePlugins(directory, 'project', ''),
    ])
}

/** Returns the user's folders. A client's variables can move its folders; a folder without readers is left out. */
function userLocations(runtime: LocationRuntime): SkillLocation[] {
  const places = new Map<string, SkillLocation>()
  const add = (directory: string, clients: readonly ClientName[]): void => {
    const earlierClients = places.get(directory)?.clients ?? []
    const readers = [...new Set([...earlierClients, ...clients])]
    const source = shortPath(runtime, directory)
    const scope = scopeOf(directory, runtime)
    places.set(directory, { directory, clients: readers, scope, source, explicit: false })
  }
  for (const { user, clients } of locationTable) {
    if (user === undefined) continue
    if (clients.length === 0) add(join(runtime.home, user), [])
    for (const client of clients) add(clientPath(client, user, runtime), [client])
  }
  for (const client of clientNames) {
    for (const folder of furtherFolders(client, runtime)) add(join(folder, 'skills'), [client])
  }
  return [...places.values(), ...portablePlugins(runtime.home, 'user', '~/')]
}

/** Returns the locations of plugins in the Agent Plugins format. */
function portablePlugins(
  directory: string,
  scope: 'project' | 'user',
  prefix: string,
): SkillLocation[] {
  return pluginsIn(join(directory, pluginFolder)).map((path) => {
    const source = `${prefix}${pluginFolder}/${basename(path)}`
    const directory = join(path, 'skills')
    return { directory, plugin: readPlugin(path), scope, source, explicit: false }
  })
}

/** Returns the locations of plugins that clients have installed and enabled, after the unreadable records. */
function installedLocations(runtime: LocationRuntime): SkillLocation[] {
  const { skills, diagnostics } = clientPlugins(runtime)
  const unreadable = diagnostics.map((diagnostic): SkillLocation => {
    const { path: directory } = diagnostic
    const plugin = { name: undefined, root: directory, diagnostics: [diagnostic] }
    return { directory, scope: 'user', source: directory, explicit: false, plugin }
  })
  const places = skills.map(({ client, plugin, directory, depth }): SkillLocation => {
    const source = `${shortPath(runtime, directory)} (plugin ${plugin})`
    const scope = scopeOf(directory, runtime)
    return { directory, clients: [client], depth, source, scope, explicit: false }
  })
  return [...unreadable, ...places]
}

/** A variable or a marketplace can lead into the project: content of a repository is not the user's. */
function scopeOf(directory: string, { cwd, home }: LocationRuntime): 'project' | 'user' {
  return isInProject(directory, cwd) && !isInProject(home, cwd) ? 'project' : 'user'
}

function skillsOf(folder: string, source: string): SkillLocation {
  return { directory: join(folder, 'skills'), scope: 'user', source, explicit: false }
}

/** Returns the project of a skill file, such as `/app` for `/app/.claude/skills/a/SKILL.md`. */
export function projectOf(file: string): string | undefined {
  const text = file.replaceAll(sep, '/')
  const places = [...locationTable.flatMap(({ project }) => project ?? []), pluginFolder]
  const starts = places.map((place) => text.indexOf(`/${place}/`)).filter((start) => start > 0)
  return starts.length === 0 ? undefined : file.slice(0, Math.min(...starts))
}

/** Abbreviates a path in the user's home with `~`. */
function shortPath({ home }: Pick<Runtime, 'home'>, path: string): string {
  return isInside(home, path) ? `~/${relative(home, path)}` : path
}

/** Returns the files and folders that decide which plugins exist, without the plugins' folders of skills. */
export function pluginPaths(runtime: LocationRuntime): string[] {
  const { cwd, home } = runtime
  const folders = [...upTo(resolve(cwd), findWorkspace(cwd, { home })), home]
  const portable = folders
    .map((folder) => join(folder, pluginFolder))
    .flatMap((folder) => [
      folder,
      ...foldersIn(folder).flatMap((path) => [path, join(path, 'plugin.json')]),
    ])
  return [...portable, ...clientPlugins(runtime).paths]
}
