import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import type * as Jsonc from 'jsonc-parser'
import type * as Toml from 'smol-toml'
import { messageOf } from '#core/errors'
import { tooDeepAt } from '#core/json'
import { isInside, readRegularFile, realPathOf } from '#core/read-files'
import {
  anything,
  choice,
  flag,
  list,
  object,
  optional,
  readShape,
  record,
  type Schema,
  text,
  WrongShape,
} from '#core/shapes'
import { foldersIn } from '#core/folders'

/** Reads the files in which a client records its plugins, and collects their paths. */
export class PluginFiles {
  readonly #paths: Set<string>

  constructor(paths: Set<string>) {
    this.#paths = paths
  }

  json<T>(path: string, schema: Schema<T>): T | undefined {
    return this.#read(path, schema, (text) => JSON.parse(text))
  }

  jsonc<T>(path: string, schema: Schema<T>): T | undefined {
    return this.#read(path, schema, parseJsonc)
  }

  toml<T>(path: string, schema: Schema<T>): T | undefined {
    return this.#read(path, schema, (text) => {
      const toml: typeof Toml = createRequire(import.meta.url)('smol-toml')
      return toml.parse(text)
    })
  }

  /** Reads a manifest. An invalid one does not affect other plugins. */
  manifest(path: string): PluginManifest | 'invalid' | undefined {
    try {
      return this.json(path, pluginManifest)
    } catch (error) {
      if (error instanceof UnreadableRecord) return 'invalid'
      throw error
    }
  }

  firstManifest(paths: readonly string[]): PluginManifest | 'invalid' | undefined {
    const path = paths.find((candidate) => this.exists(candidate))
    return path === undefined ? undefined : this.manifest(path)
  }

  folders(path: string): string[] {
    this.#paths.add(path)
    return foldersIn(path)
  }

  exists(path: string): boolean {
    this.#paths.add(path)
    return existsSync(path)
  }

  /** Whether a path from a manifest stays inside the plugin, links followed. */
  isInside(root: string, path: string): boolean {
    const realRoot = realPathOf(root) ?? root
    const target = resolve(realRoot, path)
    return isInside(realRoot, target) && isInside(realRoot, realPathOf(target) ?? target)
  }

  #read<T>(path: string, schema: Schema<T>, parse: (text: string) => unknown): T | undefined {
    if (path === '') return undefined
    this.#paths.add(path)
    const file = readRegularFile(path, { maxBytes: 16 * 1024 * 1024 })
    if (!file.ok) {
      if (file.code === 'file-missing') return undefined
      throw new UnreadableRecord(path, file.message)
    }
    let value: unknown
    try {
      if (tooDeepAt(file.text) !== undefined) throw new Error('it is nested too deep')
      value = parse(file.text)
    } catch (error) {
      const [problem = ''] = messageOf(error).split('\n')
      throw new UnreadableRecord(path, `the file cannot be read: ${problem}`)
    }
    try {
      return readShape(schema, value)
    } catch (error) {
      if (!(error instanceof WrongShape)) throw error
      throw new UnreadableRecord(path, error.message)
    }
  }
}

export class UnreadableRecord extends Error {
  readonly path: string

  constructor(path: string, message: string) {
    super(message)
    this.path = path
  }
}

function parseJsonc(text: string): unknown {
  const parser: typeof Jsonc = createRequire(import.meta.url)('jsonc-parser')
  const errors: Jsonc.ParseError[] = []
  const value: unknown = parser.parse(text, errors, { allowTrailingComma: true })
  const [error] = errors
  if (error) throw new Error(parser.printParseErrorCode(error.error))
  return value
}

/** Paths of skills in a manifest: one text or a list. */
const skillPaths: Schema<string[]> = (value, place) => {
  if (value === undefined) return []
  return typeof value === 'string' ? [value] : list(text)(value, place)
}

export const claudeInstalled = object({
  plugins: record(
    list(object({ scope: optional(text), projectPath: optional(text), installPath: text })),
  ),
})

const marketplaceSource = object({ source: text, path: optional(text) })

export const knownMarketplaces = record(
  object({ source: marketplaceSource, installLocation: text }),
)

export const marketplaceListing = object({
  plugins: list(object({ name: text, source: anything, skills: skillPaths })),
})

/** `enabledPlugins`: only `true` enables a plugin. */
export const pluginSettings = object({
  enabledPlugins: optional(record(anything)),
  extraKnownMarketplaces: optional(record(object({ source: marketplaceSource }))),
})

export const copilotState = object({
  installedPlugins: optional(
    list(object({ name: text, marketplace: text, cache_path: text, enabled: optional(flag) })),
  ),
})

export const codexConfiguration = object({
  features: optional(object({ plugins: optional(flag) })),
  plugins: optional(record(object({ enabled: optional(flag) }))),
  projects: optional(record(object({ trust_level: optional(text) }))),
})

export const enablement = record(object({ overrides: list(text) }))

const activation = choice('enabled', 'disabled', 'inherit')

export const qwenState = object({
  extensions: record(
    object({
      name: text,
      defaultActivation: activation,
      workspaceOverrides: optional(record(activation)),
      legacyPathRules: optional(list(text)),
    }),
  ),
})

export const extensionInstallation = object({ type: optional(text), source: optional(text) })

export interface PluginManifest {
  name?: string | undefined
  skills: readonly string[]
}

const pluginManifest: Schema<PluginManifest> = object({ name: optional(text), skills: skillPaths })
