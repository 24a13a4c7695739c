import { existsSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { clientFolder, type ClientName } from '#core/client-folders'
import { compareText, type Diagnostic } from '#core/errors'
import { findWorkspace, realPathOf } from '#core/read-files'
import type { Runtime } from '#core/runtime'
import { upTo } from '#core/folders'
import {
  claudeInstalled,
  codexConfiguration,
  copilotState,
  enablement,
  extensionInstallation,
  knownMarketplaces,
  marketplaceListing,
  pluginSettings,
  qwenState,
  PluginFiles,
  UnreadableRecord,
} from './client-plugin-records.ts'
import { walkLimits } from './walk.ts'

/** A folder of skills in a plugin that a client has installed and enabled. */
export interface PluginSkills {
  client: ClientName
  /** The client's name for the plugin. */
  plugin: string
  directory: string
  /** How many levels below the folder contain skills: 0 is the folder itself. */
  depth: number
}

interface ClientPlugins {
  skills: readonly PluginSkills[]
  /** Reasons why a client's plugins are left out. */
  diagnostics: readonly Diagnostic[]
  /** Every file and folder whose change can change the result. */
  paths: readonly string[]
}

/** With `includeDisabled`, plugins count that the client has installed and the user has switched off. */
type PluginRuntime = Pick<Runtime, 'cwd' | 'env' | 'home' | 'platform'> & {
  includeDisabled?: boolean
}
type Reader = (files: PluginFiles, runtime: PluginRuntime) => PluginSkills[]

/**
 * Returns the plugins of every client, from the client's own record files. If one of these files cannot
 * be read, no plugin of that client is used, because plugin skills are trusted.
 */
export function clientPlugins(runtime: PluginRuntime): ClientPlugins {
  const paths = new Set<string>()
  const diagnostics: Diagnostic[] = []
  const skills = readers.flatMap(([title, read]) => {
    try {
      return read(new PluginFiles(paths), runtime)
    } catch (error) {
      if (!(error instanceof UnreadableRecord)) throw error
      const message = `${error.message}; no plugin of ${title} is used`
      const hint = `Fix the file, or let ${title} write it again.`
      const code = 'client-plugins-unreadable'
      diagnostics.push({ code, severity: 'warning', message, path: error.path, hint })
      return []
    }
  })
  return { skills, diagnostics, paths: [...paths] }
}

const readers: readonly (readonly [title: string, read: Reader])[] = [
  ['Claude Code', claudePlugins],
  ['Codex', codexPlugins],
  ['Copilot CLI', copilotPlugins],
  ['Gemini CLI', geminiExtensions],
  ['Qwen Code', qwenExtensions],
]

/** Claude Code: plugins enabled in the settings, and installed for this project or for the user. */
function claudePlugins(files: PluginFiles, runtime: PluginRuntime): PluginSkills[] {
  const folder = join(clientFolder('claude', runtime), 'plugins')
  const installedPlugins = files.json(
    join(folder, 'installed_plugins.json'),
    claudeInstalled,
  )?.plugins
  if (installedPlugins === undefined) return []
  const marketplaces = files.json(join(folder, 'known_marketplaces.json'), knownMarketplaces) ?? {}
  const folders = projectFolders(runtime)
  const settings = claudeSettingsPaths(runtime).map((path) => files.json(path, pluginSettings))
  const enabledPlugins = mergeRecords(settings.map((file) => file?.enabledPlugins))
  return Object.entries(installedPlugins).flatMap(([id, installations]) => {
    const { name, marketplace } = splitId(id)
    const installation = installations.find(
      ({ scope, projectPath }) =>
        (scope !== 'project' && scope !== 'local') ||
        folders.some((path) => path === realPathOf(projectPath ?? '')),
    )
    const record = marketplaces[marketplace]
    const isOn = enabledPlugins[id] === true || runtime.includeDisabled === true
    if (!isOn || !installation || !record) return []
    const listing = files.json(claudeListing(record.installLocation), marketplaceListing)
    const entry = listing?.plugins.find((plugin) => plugin.name === name)
    if (!entry) return []
    const folder = typeof entry.source === 'string' ? entry.source : undefined
    // Claude Code reads a marketplace in a local folder in place.
    const isLive = record.source.source === 'directory' && folder !== undefined
    const root = isLive ? join(record.installLocation, folder) : installation.installPath
    // If the plugin's folder is the whole marketplace, only the skills in its entry belong to it.
    const isWholeMarketplace = folder !== undefined && /^\.?\/?$/.test(folder)
    return claudeSkills(files, { id, root, paths: entry.skills, isWholeMarketplace })
  })
}

function claudeSkills(
  files: PluginFiles,
  entry: { id: string; root: string; paths: string[]; isWholeMarketplace: boolean },
): PluginSkills[] {
  const { id, root, isWholeMarketplace } = entry
  const manifest = files.manifest(join(root, '.claude-plugin/plugin.json'))
  if (manifest === 'invalid') return []
  const paths = [...(manifest?.skills ?? []), ...entry.paths]
  // One forbidden path makes the whole plugin fail.
  if (!paths.every((path) => path.startsWith('./') && files.isInside(root, path))) return []
  const defaults = isWholeMarketplace && entry.paths.length > 0 ? [] : ['skills']
  const folders = [...defaults, ...paths].filter((path) => files.exists(join(root, path)))
  const places = folders.length > 0 ? folders : ['.']
  return places.flatMap((path) => {
    const directory = join(root, path)
    const isSkill = path !== 'skills' && files.exists(join(directory, 'SKILL.md'))
    if (!isSkill && path === '.') return []
    return [{ client: 'claude', plugin: id, directory, depth: isSkill ? 0 : 1 }]
  })
}

/** Returns the paths of the Claude Code settings that apply here. A later file takes precedence. */
export function claudeSettingsPaths(runtime: PluginRuntime): string[] {
  const projectFiles = projectFolders(runtime)
    .toReversed()
    .flatMap((folder) => ['settings.json', 'settings.local.json'].map((name) => [folder, name]))
  return [
    join(clientFolder('claude', runtime), 'settings.json'),
    ...projectFiles.map(([folder = '', name = '']) => join(folder, '.claude', name)),
    managedClaudeSettings(runtime),
  ]
}

/** Returns the path of the Claude Code settings that an administrator manages. */
export function managedClaudeSettings({ platform }: Pick<Runtime, 'platform'>): string {
  return platform === 'darwin'
    ? '/Library/Application Support/ClaudeCode/managed-settings.json'
    : '/etc/claude-code/managed-settings.json'
}

/** Returns the path of a marketplace's list. Claude Code records the folder, or the list itself. */
function claudeListing(location: string): string {
  return location.endsWith('.json') ? location : join(location, '.claude-plugin/marketplace.json')
}

/** Codex: plugins named in `config.toml` and present in the cache. */
function codexPlugins(files: PluginFiles, runtime: PluginRuntime): PluginSkills[] {
  const home = clientFolder('codex', runtime)
  const user = files.toml(join(home, 'config.toml'), codexConfiguration)
  const folders = projectFolders(runtime).toReversed()
  const projectConfigurations = folders.map((path) =>
    files.toml(join(path, '.codex/config.toml'), codexConfiguration),
  )
  const isTrusted = folders.some((path) => user?.projects?.[path]?.trust_level === 'trusted')
  const isOff = [user, ...projectConfigurations].some((file) => file?.features?.plugins === false)
  if (isOff) return []
  const applicable = [user, ...(isTrusted ? projectConfigurations : [])]
  const plugins = mergeRecords(applicable.map((file) => file?.plugins))
  return Object.entries(plugins).flatMap(([id, { enabled = true }]) => {
    // A project that is not trusted can still switch a plugin off.
    const isRefused = projectConfigurations.some((file) => file?.plugins?.[id]?.enabled === false)
    if ((!enabled || isRefused) && runtime.includeDisabled !== true) return []
    const { name, marketplace } = splitId(id)
    const cache = join(home, 'plugins/cache', marketplace, name)
    const version = codexVersion(files.folders(cache).map((path) => basename(path)))
    if (version === undefined) return []
    const root = join(cache, version)
    const candidates = ['.codex-plugin', '.claude-plugin'].map((part) =>
      join(root, part, 'plugin.json'),
    )
    const manifest = files.firstManifest(candidates)
    if (manifest === undefined || manifest === 'invalid') return []
    const paths = manifest.skills
    const isAllowed = (path: string) => /^\.\/./.test(path) && files.isInside(root, path)
    const places = paths.length > 0 && paths.every(isAllowed) ? paths : ['skills']
    return places
      .map((path) => join(root, path))
      .filter((directory) => files.exists(directory))
      .map((directory) => ({ client: 'codex', plugin: id, directory, depth: depthOf(directory) }))
  })
}

/**
 * Returns the version that Codex uses if its cache has several: `local`, else the newest. Codex orders
 * names that are not versions, such as commits, as text.
 */
export function codexVersion(versions: readonly string[]): string | undefined {
  if (versions.includes('local')) return 'local'
  const isVersion = (text: string) => /^\d+\.\d+\.\d+(?:[-+].*)?$/.test(text)
  const compare = (a: string, b: string) =>
    isVersion(a) && isVersion(b) ? compareVersions(a, b) : compareText(a, b)
  return versions.toSorted(compare).at(-1)
}

/** The order of Semantic Versioning, section 11. */
export function compareVersions(a: string, b: string): number {
  const numeric = new Intl.Collator('en', { numeric: true })
  const [first, second] = [partsOf(a), partsOf(b)]
  const byCore = numeric.compare(first.core, second.core)
  if (byCore !== 0) return byCore
  // A version without a pre-release is newer than one with it.
  if (first.preRelease === '' || second.preRelease === '')
    return Number(first.preRelease === '') - Number(second.preRelease === '')
  return numeric.compare(first.preRelease, second.preRelease)
}

function partsOf(version: string): { core: string; preRelease: string } {
  const [core = '', ...preRelease] = version.replace(/\+.*/, '').split('-')
  return { core, preRelease: preRelease.join('-') }
}

/** Copilot CLI: plugins enabled in `settings.json`, and installed in `config.json` or in a local marketplace. */
function copilotPlugins(files: PluginFiles, runtime: PluginRuntime): PluginSkills[] {
  const home = clientFolder('copilot', runtime)
  const { installedPlugins = [] } = files.jsonc(join(home, 'config.json'), copilotState) ?? {}
  const settings = files.jsonc(join(home, 'settings.json'), pluginSettings)
  const enabledPlugins = settings?.enabledPlugins ?? {}
  const installations = installedPlugins.flatMap((plugin) => {
    const { name, marketplace, cache_path: root } = plugin
    // A plugin from its own folder belongs to no marketplace.
    const id = marketplace === '' ? name : `${name}@${marketplace}`
    const isOn = marketplace === '' ? plugin.enabled === true : enabledPlugins[id] === true
    return isOn || runtime.includeDisabled === true ? [{ id, root }] : []
  })
  const local = Object.entries(enabledPlugins).flatMap(([id, value]) => {
    const { name, marketplace } = splitId(id)
    const source = settings?.extraKnownMarketplaces?.[marketplace]?.source
    if (value !== true || source?.source !== 'directory' || source.path === undefined) return []
    const folder = source.path
    const lists = copilotParts.map((part) => join(folder, part, 'marketplace.json'))
    const listing = files.json(lists.find((path) => files.exists(path)) ?? '', marketplaceListing)
    const entry = listing?.plugins.find((plugin) => plugin.name === name)
    return typeof entry?.source === 'string' ? [{ id, root: join(folder, entry.source) }] : []
  })
  return [...installations, ...local].flatMap(({ id, root }) => copilotSkills(files, id, root))
}

const copilotParts = ['.', '.plugin', '.github/plugin', '.claude-plugin'] as const

function copilotSkills(files: PluginFiles, id: string, root: string): PluginSkills[] {
  const manifest = files.firstManifest(copilotParts.map((part) => join(root, part, 'plugin.json')))
  const declaredPaths = manifest === 'invalid' ? [] : (manifest?.skills ?? [])
  const paths =
    declaredPaths.length > 0 ? declaredPaths : [files.exists(join(root, 'skills')) ? 'skills' : '.']
  return paths
    .filter((path) => files.exists(join(root, path)) && files.isInside(root, path))
    .flatMap((path) => {
      const directory = join(root, path)
      const isSkill = path !== 'skills' && files.exists(join(directory, 'SKILL.md'))
      if (path === '.' && !isSkill) return []
      const depth = isSkill ? 0 : depthOf(directory)
      return [{ client: 'copilot', plugin: id, directory, depth }]
    })
}

/** Gemini CLI: every extension in its folder, unless a rule of the enablement file switches it off here. */
function geminiExtensions(files: PluginFiles, runtime: PluginRuntime): PluginSkills[] {
  const folder = join(clientFolder('gemini', runtime), 'extensions')
  const rules = files.json(join(folder, 'extension-enablement.json'), enablement) ?? {}
  const places = [runtime.cwd, realPathOf(runtime.cwd) ?? runtime.cwd]
  return extensionsIn(files, folder, 'gemini').flatMap(({ name, root }) => {
    const isOn = isEnabledHere(rules[name]?.overrides ?? [], places)
    if (!isOn && runtime.includeDisabled !== true) return []
    const skills = join(root, 'skills')
    // The folder can contain skills and be a skill itself.
    const depths = files.exists(join(skills, 'SKILL.md')) ? [0, 1] : [1]
    return depths.map((depth) => ({ client: 'gemini', plugin: name, directory: skills, depth }))
  })
}

/** Qwen Code: as Gemini CLI, but a separate file has the activation of each extension. */
function qwenExtensions(files: PluginFiles, runtime: PluginRuntime): PluginSkills[] {
  const home = clientFolder('qwen', runtime)
  const folder = join(home, 'extensions')
  const rules = files.json(join(folder, 'extension-enablement.json'), enablement) ?? {}
  const state = files.json(join(home, 'extension-store/state.json'), qwenState)
  const policies = Object.values(state?.extensions ?? {})
  const places = [...new Set([runtime.cwd, realPathOf(runtime.cwd) ?? runtime.cwd])]
  return extensionsIn(files, folder, 'qwen').flatMap(({ name, root }) => {
    const policy = policies.find((candidate) => candidate.name === name)
    const override = places.map((path) => policy?.workspaceOverrides?.[path]).find(Boolean)
    const activation = override === 'inherit' ? policy?.defaultActivation : override
    const isOn = policy?.defaultActivation !== 'disabled'
    const legacy = policy ? (policy.legacyPathRules ?? []) : (rules[name]?.overrides ?? [])
    const isEnabled = activation ? activation === 'enabled' : isEnabledHere(legacy, places, isOn)
    const directory = join(root, 'skills')
    return isEnabled || runtime.includeDisabled === true
      ? [{ client: 'qwen', plugin: name, directory, depth: 1 }]
      : []
  })
}

function extensionsIn(
  files: PluginFiles,
  folder: string,
  client: 'gemini' | 'qwen',
): { name: string; root: string }[] {
  return files.folders(folder).flatMap((directory) => {
    const installation = files.json(
      join(directory, `.${client}-extension-install.json`),
      extensionInstallation,
    )
    const { type, source } = installation ?? {}
    const root = type === 'link' && source !== undefined ? source : directory
    const manifests = [`${client}-extension.json`, ...(client === 'qwen' ? ['plugin.json'] : [])]
    const manifest = files.firstManifest(manifests.map((name) => join(root, name)))
    if (manifest === undefined || manifest === 'invalid' || !manifest.name) return []
    return [{ name: manifest.name, root }]
  })
}

/** Applies the last rule that matches a folder: `/work/*` matches the folder and all below, `!` switches off. */
export function isEnabledHere(
  rules: readonly string[],
  folders: readonly string[],
  start = true,
): boolean {
  const paths = folders.map((folder) => folder.replaceAll('\\', '/').replace(/\/?$/, '/'))
  return rules.reduce((isOn, rule) => {
    const path = rule.replace(/^!/, '').replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&')
    // The star also covers a slash in front of it.
    const pattern = new RegExp(`^${path.replaceAll(/(\/?)\*/g, '(?:$1.*)?')}$`)
    return paths.some((folder) => pattern.test(folder)) ? !rule.startsWith('!') : isOn
  }, start)
}

/** Returns the folders from the working directory up to the workspace. */
export function projectFolders({ cwd, home }: PluginRuntime): string[] {
  const start = realPathOf(cwd) ?? resolve(cwd)
  return upTo(start, findWorkspace(cwd, { home }))
}

function splitId(id: string): { name: string; marketplace: string } {
  const at = id.lastIndexOf('@')
  return { name: id.slice(0, at), marketplace: id.slice(at + 1) }
}

function mergeRecords<T>(
  records: readonly (Readonly<Record<string, T>> | undefined)[],
): Record<string, T> {
  const result: Record<string, T> = Object.assign(Object.create(null), ...records)
  return result
}

/** A skill is not searched for nested skills. */
function depthOf(directory: string): number {
  return existsSync(join(directory, 'SKILL.md')) ? 0 : walkLimits.depth
}
