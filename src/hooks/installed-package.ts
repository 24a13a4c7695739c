import { createRequire } from 'node:module'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type * as Jsonc from 'jsonc-parser'
import { existsSync } from 'node:fs'
import { clientFolder } from '#core/client-folders'
import { isObject } from '#core/json'
import { findWorkspace, readRegularFile } from '#core/read-files'
import type { Runtime } from '#core/runtime'
import { withoutMark } from '#core/text'
import { clientPlugins } from '#library/client-plugins'
import { allSkillsMark, launcherName, type Platform } from './adapters.ts'

/** Skillrail's own package, as a client has installed and enabled it here. */
export interface InstalledPackage {
  platform: Platform
  /** The client's name for it, or the setting that names it. */
  name: string
  path: string
}

type PackageRuntime = Pick<Runtime, 'cwd' | 'env' | 'home' | 'platform'>

/**
 * Returns the packages of Skillrail that clients have installed and enabled, from the records of the clients.
 * A package whose record cannot be read, or that only the client can find, is left out.
 */
export function installedPackages(runtime: PackageRuntime): InstalledPackage[] {
  const ofPlugins = clientPlugins(runtime).skills.flatMap(({ client, plugin, directory }) => {
    if (basename(directory) !== 'skills') return []
    return [{ platform: client, name: plugin, path: dirname(directory) }]
  })
  const all = [...ofPlugins, ...openCodePlugins(runtime), ...piPackages(runtime)]
  return all.filter(({ path }) => {
    return [allSkillsMark, launcherName].every((name) => existsSync(join(path, name)))
  })
}

/** Why the hook of a package does not run, or runs no rails; undefined if nothing is known to be wrong. */
export function packageProblem({ path }: InstalledPackage): string | undefined {
  const missing = ['hook/hook.cjs', 'hook/rail.cjs'].find((name) => !existsSync(join(path, name)))
  return missing === undefined ? undefined : `the package has no ${missing}`
}

/** OpenCode: `plugin` in its configurations. Names of npm packages are left out, as only it knows their folders. */
function openCodePlugins(runtime: PackageRuntime): InstalledPackage[] {
  const folders = [clientFolder('opencode', runtime), ...foldersOfProject(runtime)]
  const files = folders.flatMap((folder) =>
    ['opencode.json', 'opencode.jsonc'].map((name) => join(folder, name)),
  )
  return files.flatMap((file) => {
    return listIn(readSettings(file), 'plugin').flatMap((name) => {
      const path = typeof name === 'string' ? folderOf(name, dirname(file)) : undefined
      return path === undefined ? [] : [{ platform: 'opencode', name: String(name), path }]
    })
  })
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

/** pi: `packages` in its settings; a local folder is relative to them. An object can leave extensions out. */
function piPackages(runtime: PackageRuntime): InstalledPackage[] {
  const folders = [clientFolder('pi', runtime), join(runtime.cwd, '.pi')]
  return folders.flatMap((folder) => {
    return listIn(readSettings(join(folder, 'settings.json')), 'packages').flatMap((entry) => {
      const source = isObject(entry) && entry['extensions'] === undefined ? entry['source'] : entry
      if (typeof source !== 'string' || /^(?:npm|git|https?|ssh):/.test(source)) return []
      return [{ platform: 'pi', name: source, path: resolve(folder, source) }]
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
