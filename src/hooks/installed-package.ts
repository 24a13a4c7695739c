import { createRequire } from 'node:module'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type * as Jsonc from 'jsonc-parser'
import { existsSync } from 'node:fs'
import { clientFolder } from '#core/client-folders'
import { isObject } from '#core/json'
import { findWorkspace, readRegularFile } from '#core/read-files'
import type { Runtime } from '#core/runtime'
import { shellWord, withoutMark } from '#core/text'
import { clientPlugins } from '#library/client-plugins'
import { adapters, allSkillsMark, launcherName, type Platform } from './adapters.ts'

/** Skillrail's own package, as a client has installed it. */
export interface InstalledPackage {
  platform: Platform
  /** The client's name for it, or the setting that names it. */
  name: string
  path: string
  /** From its manifest; undefined if that cannot be read. */
  version: string | undefined
  /** Whether the client uses it here. */
  isEnabled: boolean
}

type PackageRuntime = Pick<Runtime, 'cwd' | 'env' | 'home' | 'platform'>
type Place = Pick<InstalledPackage, 'platform' | 'name' | 'path'>

/**
 * Returns the packages of Skillrail that clients have installed, from the records of the clients. A package whose
 * record cannot be read is left out.
 */
export function installedPackages(runtime: PackageRuntime): InstalledPackage[] {
  const enabled = packagesIn([
    ...pluginPlaces(runtime, false),
    ...openCodePlugins(runtime),
    ...piPackages(runtime),
  ])
  const disabled = packagesIn(pluginPlaces(runtime, true)).filter(({ platform, path }) =>
    enabled.every((one) => one.platform !== platform || one.path !== path),
  )
  const withFacts = (isEnabled: boolean) => (place: Place) => {
    return { ...place, version: versionIn(place.path), isEnabled }
  }
  return [...enabled.map(withFacts(true)), ...disabled.map(withFacts(false))]
}

function pluginPlaces(runtime: PackageRuntime, includeDisabled: boolean): Place[] {
  const { skills } = clientPlugins({ ...runtime, includeDisabled })
  return skills.flatMap(({ client, plugin, directory }) => {
    if (basename(directory) !== 'skills') return []
    return [{ platform: client, name: plugin, path: dirname(directory) }]
  })
}

function packagesIn(places: readonly Place[]): Place[] {
  return places.filter(({ path }) => {
    return [allSkillsMark, launcherName].every((name) => existsSync(join(path, name)))
  })
}

function versionIn(path: string): string | undefined {
  const manifest = readSettings(join(path, 'package.json'))
  const version = isObject(manifest) ? manifest['version'] : undefined
  return typeof version === 'string' ? version : undefined
}

/**
 * What a user calls to get a newer version of the package, with the name of each client. OpenCode keeps what it has
 * installed until its copy is removed.
 */
export function updateOf({ platform, path }: Place): string {
  switch (platform) {
    case 'claude':
      return 'claude plugin marketplace update skillrail && claude plugin update skillrail@skillrail'
    case 'codex':
      return 'codex plugin marketplace upgrade skillrail'
    case 'copilot':
      return 'copilot plugin marketplace update skillrail && copilot plugin update skillrail@skillrail'
    case 'opencode':
      return `rm -r ${shellWord(openCodeCopy(path))}`
    case 'pi':
      return 'pi update --extensions'
    case 'cursor':
    case 'gemini':
    case 'qwen':
      return `${adapters[platform].program} extensions update skillrail`
  }
}

/** The folder that OpenCode made for the package, which is in `node_modules` there. */
function openCodeCopy(path: string): string {
  const parts = dirname(path)
  return basename(parts) === 'node_modules' ? dirname(parts) : path
}

/** Why the hook of a package does not run, or runs no rails; undefined if nothing is known to be wrong. */
export function packageProblem({ path }: InstalledPackage): string | undefined {
  const missing = ['hook/hook.cjs', 'hook/rail.cjs'].find((name) => !existsSync(join(path, name)))
  return missing === undefined ? undefined : `the package has no ${missing}`
}

/** OpenCode: `plugin` in its configurations. It installs packages of npm and Git into its cache. */
function openCodePlugins(runtime: PackageRuntime): Place[] {
  const folders = [clientFolder('opencode', runtime), ...foldersOfProject(runtime)]
  const files = folders.flatMap((folder) =>
    ['opencode.json', 'opencode.jsonc'].map((name) => join(folder, name)),
  )
  return files.flatMap((file) => {
    return listIn(readSettings(file), 'plugin').flatMap((name) => {
      if (typeof name !== 'string') return []
      const path = folderOf(name, dirname(file)) ?? openCodeCache(name, runtime)
      return [{ platform: 'opencode', name, path }]
    })
  })
}

/** `NAME@SPECIFIER`, whose slashes make folders; the package itself is in `node_modules`. */
function openCodeCache(specifier: string, { env, home }: PackageRuntime): string {
  const cache = env['XDG_CACHE_HOME'] ?? join(home, '.cache')
  const name = /^(?:@[^/@]+\/)?[^/@]+/.exec(specifier)?.[0] ?? ''
  return join(cache, 'opencode/packages', specifier, 'node_modules', name)
}

function folderOf(name: string, base: string): string | undefined {
  if (name.startsWith('file://')) {
    try {
      return fileURLToPath(name)
    } catch {
      return undefined
    }
  }
  return /^\.{0,2}\//.test(name) ? resolve(base, name) : undefined
}

/**
 * pi: `packages` in its settings; a local folder is relative to them, and a repository is cloned below `git`. An object
 * can leave extensions out.
 */
function piPackages(runtime: PackageRuntime): Place[] {
  const folders = [clientFolder('pi', runtime), join(runtime.cwd, '.pi')]
  return folders.flatMap((folder) => {
    return listIn(readSettings(join(folder, 'settings.json')), 'packages').flatMap((entry) => {
      const source = isObject(entry) && entry['extensions'] === undefined ? entry['source'] : entry
      if (typeof source !== 'string' || source.startsWith('npm:')) return []
      const repository = /^(?:git:)?(?:(?:https?|ssh|git):\/\/)?(?:[^/@]+@)?(.+)$/.exec(source)?.[1]
      const isRemote = /^(?:git|https?|ssh):/.test(source)
      const clone = repository
        ?.replace(/@[^@]*$/, '')
        .replace(/\.git$/, '')
        .replace(':', '/')
      const path = isRemote ? join(folder, 'git', clone ?? '') : resolve(folder, source)
      return [{ platform: 'pi', name: source, path }]
    })
  })
}

function foldersOfProject(runtime: PackageRuntime): string[] {
  const workspace = findWorkspace(runtime.cwd, runtime)
  return [...new Set([workspace, runtime.cwd])]
}

function listIn(document: unknown, key: string): readonly unknown[] {
  const value = isObject(document) ? document[key] : undefined
  return Array.isArray(value) ? value : []
}

/** Undefined for a file that cannot be read. */
function readSettings(path: string): unknown {
  const reading = readRegularFile(path, { maxBytes: 16 * 1024 * 1024 })
  if (!reading.ok) return undefined
  const parser: typeof Jsonc = createRequire(import.meta.url)('jsonc-parser')
  const errors: Jsonc.ParseError[] = []
  const value: unknown = parser.parse(withoutMark(reading.text), errors, {
    allowTrailingComma: true,
  })
  return errors.length > 0 ? undefined : value
}
