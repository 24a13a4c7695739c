import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, dirname, join, resolve } from 'node:path'
import type * as Jsonc from 'jsonc-parser'
import type { Diagnostic } from './diagnostic.ts'
import { deepestJson, tooDeepAt } from './json.ts'
import { readRegularFile } from './read-files.ts'
import { type Runtime, userDirectories } from './runtime.ts'
import {
  type Setting,
  type Settings,
  settingTable,
  type SettingValue,
  variableOf,
} from './settings.ts'
import { nearest, placesIn } from './text.ts'

export interface ConfigurationReading {
  settings: Settings
  diagnostics: readonly Diagnostic[]
  /** The files that were read, lowest precedence first. */
  sources: readonly string[]
}

export interface LoadConfigurationOptions {
  /** A file named by the user (`--config`); it takes precedence over the variables and the other files. */
  file?: string | undefined
}

/**
 * Settings from, in rising precedence: defaults, the user's `skillrail/config.json` below the XDG
 * configuration directory, the project's `.skillrail/config.json` (the nearest one from the working
 * directory up to the repository root), the `SKILLRAIL_*` variables, the file that was named.
 * A setting with a wrong value is reported with its line and keeps the value from below.
 */
export function loadConfiguration(
  runtime: Runtime,
  options: LoadConfigurationOptions = {},
): ConfigurationReading {
  const diagnostics: Diagnostic[] = []
  const values = new Map<string, SettingValue>()
  const sources: string[] = []
  const files = [
    { path: join(userDirectories(runtime).config, 'config.json'), base: runtime.home, own: true },
    ...projectFile(runtime.cwd),
  ]
  for (const file of files) readFile(file.path, file.base, file.own)
  readVariables()
  if (options.file !== undefined) {
    readFile(resolve(runtime.cwd, options.file), runtime.cwd, true, true)
  }
  return { settings: toSettings(values), diagnostics, sources }

  function readFile(path: string, base: string, own: boolean, required = false): void {
    if (!required && !existsSync(path)) return
    const reading = readConfigurationFile(path, { base, home: runtime.home })
    // One by one: a hostile file has more of them than a call has room for.
    for (const each of reading.diagnostics) diagnostics.push(each)
    sources.push(path)
    for (const raw of reading.settings) {
      if (own || raw.setting.userOnly !== true) values.set(raw.setting.key, raw.value)
      else diagnostics.push(notForProjects(path, raw))
    }
  }

  function readVariables(): void {
    for (const setting of settingTable) {
      const text = runtime.env[variableOf(setting)]
      if (text === undefined || text === '') continue
      const read = readSettingText(setting, text, { base: runtime.cwd, home: runtime.home })
      if (read.ok) values.set(setting.key, read.value)
      else diagnostics.push(wrongVariable(setting, read.expected))
    }
  }
}

function projectFile(cwd: string): { path: string; base: string; own: boolean }[] {
  for (let directory = resolve(cwd); ; directory = dirname(directory)) {
    const path = join(directory, '.skillrail', 'config.json')
    if (existsSync(path)) return [{ path, base: directory, own: false }]
    if (existsSync(join(directory, '.git')) || directory === dirname(directory)) return []
  }
}

function toSettings(values: ReadonlyMap<string, SettingValue>): Settings {
  const settings: Record<string, unknown> = {}
  const groups: Record<string, Record<string, unknown>> = {}
  for (const { key, fallback } of settingTable) {
    const [group = '', name] = key.split('.')
    const value = values.get(key) ?? fallback
    if (name === undefined) settings[group] = value
    else (groups[group] ??= {})[name] = value
  }
  // Each value was checked against its row of the table, from which the type is computed.
  return Object.assign(Object.create(null), settings, groups)
}

function notForProjects(path: string, raw: RawSetting): Diagnostic {
  return {
    code: 'setting-not-for-projects',
    severity: 'warning',
    message: `${raw.setting.key} is ignored here: a project cannot raise its own rights`,
    path,
    line: raw.line,
    column: raw.column,
    hint: `Set it in your own configuration file or with ${variableOf(raw.setting)}.`,
  }
}

function wrongVariable(setting: Setting, expected: string): Diagnostic {
  return {
    code: 'setting-wrong-value',
    severity: 'error',
    message: `the variable ${variableOf(setting)} must be ${expected}; it is ignored`,
    path: variableOf(setting),
  }
}

interface RawSetting {
  setting: Setting
  value: SettingValue
  line: number
  column: number
}

/** Reads a configuration file: JSON with comments. Whatever is wrong is reported with its line. */
function readConfigurationFile(
  path: string,
  paths: PathBase,
): { settings: readonly RawSetting[]; diagnostics: readonly Diagnostic[] } {
  const file = readRegularFile(path, { maxBytes: 1_048_576 })
  if (!file.ok) {
    return {
      settings: [],
      diagnostics: [{ code: file.code, severity: 'error', message: file.message, path }],
    }
  }
  return readConfigurationText(file.text, path, paths)
}

function readConfigurationText(
  text: string,
  path: string,
  paths: PathBase,
): { settings: readonly RawSetting[]; diagnostics: readonly Diagnostic[] } {
  const placeOf = placesIn(text)
  const deep = tooDeepAt(text)
  if (deep !== undefined) {
    const message = `nested deeper than ${deepestJson} levels`
    return { settings: [], diagnostics: [report('configuration-syntax', message, deep)] }
  }
  const jsonc = loadParser()
  const errors: Jsonc.ParseError[] = []
  const root = jsonc.parseTree(text, errors, { allowTrailingComma: true })
  const settings: RawSetting[] = []
  const diagnostics: Diagnostic[] = errors.map((error) =>
    report('configuration-syntax', inWords(jsonc.printParseErrorCode(error.error)), error.offset),
  )
  if (diagnostics.length > 0) return { settings, diagnostics }
  if (root?.type !== 'object') {
    diagnostics.push(report('configuration-syntax', 'the file must be a JSON object', 0))
    return { settings, diagnostics }
  }
  visit(root, '')
  return { settings, diagnostics }

  function visit(node: Jsonc.Node, prefix: string): void {
    for (const property of node.children ?? []) {
      const [name, value] = property.children ?? []
      if (name === undefined || value === undefined) continue
      const key = prefix + jsonc.getNodeValue(name)
      const setting: Setting | undefined = settingTable.find((candidate) => candidate.key === key)
      const isGroup = settingTable.some((candidate) => candidate.key.startsWith(`${key}.`))
      if (setting !== undefined) readOne(setting, value)
      else if (isGroup && value.type === 'object') visit(value, `${key}.`)
      else if (isGroup)
        diagnostics.push(report('setting-wrong-value', `${key} must be an object`, value.offset))
      else if (key !== '$schema') diagnostics.push(unknownSetting(key, name.offset))
    }
  }

  function readOne(setting: Setting, node: Jsonc.Node): void {
    const read = readSettingValue(setting, jsonc.getNodeValue(node), paths)
    if (read.ok) settings.push({ setting, value: read.value, ...placeOf(node.offset) })
    else {
      const message = `${setting.key} must be ${read.expected}; it is ignored`
      diagnostics.push(report('setting-wrong-value', message, node.offset))
    }
  }

  function unknownSetting(key: string, offset: number): Diagnostic {
    const known = settingTable.map((setting): string => setting.key)
    const meant = diagnostics.length < mostHints ? nearest(key, known) : undefined
    return {
      ...report('setting-unknown', `${key} is not a setting; it is ignored`, offset),
      severity: 'warning',
      hint: meant === undefined ? undefined : `Did you mean ${meant}?`,
    }
  }

  function report(code: string, message: string, offset: number): Diagnostic {
    return { code, severity: 'error', message, path, ...placeOf(offset) }
  }
}

/** A file with more that is wrong is not a configuration; looking for what was meant costs time. */
const mostHints = 50

/** `PropertyNameExpected`, as the parser calls it, is `property name expected` to a user. */
function inWords(name: string): string {
  return `no JSON: ${name.replace(/(?<!^)[A-Z]/g, ' $&').toLowerCase()}`
}

/** Loaded only when there is a file to read: most commands find none. */
function loadParser(): typeof Jsonc {
  const parser: typeof Jsonc = createRequire(import.meta.url)('jsonc-parser')
  return parser
}

type SettingReading = { ok: true; value: SettingValue } | { ok: false; expected: string }

interface PathBase {
  /** Relative paths are resolved against it. */
  base: string
  /** What `~/` stands for. */
  home: string
}

/** A value from an environment variable: lists are separated as the kind says. */
function readSettingText(setting: Setting, text: string, paths: PathBase): SettingReading {
  if (setting.kind === 'paths') return readSettingValue(setting, split(text, delimiter), paths)
  if (setting.kind === 'names' || setting.kind === 'patterns' || setting.kind === 'words') {
    return readSettingValue(setting, split(text, /[\s,]+/), paths)
  }
  if (setting.kind === 'numbers') {
    return readSettingValue(setting, split(text, /[\s,]+/).map(numberIn), paths)
  }
  if (setting.kind !== 'integer') return readSettingValue(setting, text, paths)
  const number = /^\d{1,15}$/.test(text) ? Number(text) : undefined
  return readSettingValue(setting, number, paths)
}

/** A value from a configuration file. */
function readSettingValue(setting: Setting, value: unknown, paths: PathBase): SettingReading {
  switch (setting.kind) {
    case 'paths':
      return isTexts(value)
        ? { ok: true, value: value.map((path) => absolute(path, paths)) }
        : { ok: false, expected: 'a list of paths' }
    case 'names':
      return isTexts(value) && value.every((name) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
        ? { ok: true, value }
        : { ok: false, expected: 'a list of names of environment variables' }
    case 'patterns':
      return isTexts(value) && value.every((pattern) => /^[\w.*-]{1,200}$/.test(pattern))
        ? { ok: true, value }
        : { ok: false, expected: 'a list of names of tools, in which * stands for any characters' }
    case 'numbers': {
      const { minimum, maximum, most } = setting
      return isNumbers(value) &&
        value.length <= most &&
        value.every((item) => item >= minimum && item <= maximum)
        ? { ok: true, value }
        : { ok: false, expected: `a list of at most ${most} numbers from ${minimum} to ${maximum}` }
    }
    case 'words':
      return isTexts(value) && value.every((word) => !/[\s,]/.test(word))
        ? { ok: true, value }
        : { ok: false, expected: 'a list of words' }
    case 'text':
      return typeof value === 'string' && !/[\r\n]/.test(value)
        ? { ok: true, value }
        : { ok: false, expected: 'a text on one line' }
    case 'address':
      return typeof value === 'string' && (value === '' || isAddress(value))
        ? { ok: true, value }
        : { ok: false, expected: 'an address such as http://127.0.0.1:8080' }
    case 'choice':
      return typeof value === 'string' && setting.choices.includes(value)
        ? { ok: true, value }
        : { ok: false, expected: setting.choices.map((choice) => `"${choice}"`).join(' or ') }
    case 'integer': {
      const { minimum, maximum } = setting
      return typeof value === 'number' &&
        Number.isInteger(value) &&
        value >= minimum &&
        value <= maximum
        ? { ok: true, value }
        : { ok: false, expected: `a whole number from ${minimum} to ${maximum}` }
    }
  }
}

function isAddress(text: string): boolean {
  return /^https?:$/.test(URL.parse(text)?.protocol ?? '')
}

function split(text: string, separator: string | RegExp): string[] {
  return text.split(separator).filter((part) => part !== '')
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string' && item !== '')
}

function isNumbers(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every((item) => Number.isFinite(item))
}

function numberIn(text: string): number | undefined {
  return /^\d{1,9}(?:\.\d{1,3})?$/.test(text) ? Number(text) : undefined
}

function absolute(path: string, paths: PathBase): string {
  if (path === '~') return paths.home
  return path.startsWith('~/') ? join(paths.home, path.slice(2)) : resolve(paths.base, path)
}
