import { refuseBelowAgent } from './agent-ancestry.ts'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, dirname, join, resolve } from 'node:path'
import type * as Jsonc from 'jsonc-parser'
import type { RepeatableGlobals } from './command.ts'
import { type Diagnostic, hasErrors, type Severity } from './errors.ts'
import { deepestJson, tooDeepAt } from './json.ts'
import { isPresent, readRegularFile } from './read-files.ts'
import { SettingsError } from './settings-error.ts'
import { ignoredPlaces, type Runtime, userDirectories } from './runtime.ts'
import {
  type Setting,
  type Settings,
  settingTable,
  type SettingValue,
  variableOf,
} from './settings.ts'
import { nearest, placesIn } from './text.ts'
import { ownVariables } from './variables.ts'

interface ConfigurationOptions {
  /** The file of `--config`. */
  file?: string | undefined
}

export interface ConfigurationReading {
  settings: Settings
  diagnostics: readonly Diagnostic[]
  /** The files that were read, in rising precedence. */
  sources: readonly string[]
}

/**
 * Returns the settings from, in rising precedence: defaults, the user's `config.json` in the XDG
 * directory, the nearest `.skillrail/config.json` up to the repository root, the `SKILLRAIL_*`
 * variables, `options.file`.
 *
 * @throws {SettingsError} for anything invalid: otherwise a restriction could be lost.
 */
export function loadConfiguration(
  runtime: Runtime,
  options: ConfigurationOptions = {},
): ConfigurationReading {
  const reading = inspectConfiguration(runtime, options)
  if (hasErrors(reading.diagnostics)) throw new SettingsError(reading.diagnostics)
  return reading
}

/** Returns the settings of a command line call, including its global options. */
export function settingsOfCall(
  runtime: Runtime,
  { config, trustWorkspace }: Pick<RepeatableGlobals, 'config' | 'trustWorkspace'>,
  load: typeof loadConfiguration = loadConfiguration,
): ConfigurationReading {
  const reading = load(runtime, { file: config })
  if (!trustWorkspace) return reading
  refuseBelowAgent({ runtime, settings: reading.settings }, '--trust-workspace')
  return { ...reading, settings: { ...reading.settings, workspaceTrust: 'trusted' } }
}

/**
 * Returns the settings for a command that helps to repair them: never throws, and leaves out settings with
 * errors. Such a command must do nothing that a setting restricts.
 */
export function inspectConfiguration(
  runtime: Runtime,
  options: ConfigurationOptions = {},
): ConfigurationReading {
  const { cwd, home } = runtime
  const diagnostics: Diagnostic[] = ignoredPlaces(runtime)
  const values = new Map<string, SettingValue>()
  const sources: string[] = []
  const readFile = (file: Omit<ConfigurationFile, 'home'>): void => {
    sources.push(file.path)
    readConfigurationFile({ ...file, home }, values, diagnostics)
  }
  const userFile = join(userDirectories(runtime).config, 'config.json')
  if (isPresent(userFile)) readFile({ path: userFile, base: home, isProject: false })
  const project = projectDirectory(cwd)
  if (project !== undefined) {
    readFile({ path: projectFile(project), base: project, isProject: true })
  }
  readVariables(runtime, values, diagnostics)
  if (options.file !== undefined) {
    readFile({ path: resolve(cwd, options.file), base: cwd, isProject: false })
  }
  return { settings: toSettings(values), diagnostics, sources }
}

function projectFile(directory: string): string {
  return join(directory, '.skillrail', 'config.json')
}

function projectDirectory(cwd: string): string | undefined {
  for (let directory = resolve(cwd); ; directory = dirname(directory)) {
    if (isPresent(projectFile(directory))) return directory
    if (existsSync(join(directory, '.git')) || directory === dirname(directory)) return undefined
  }
}

function readVariables(
  { env, cwd, home }: Runtime,
  values: Map<string, SettingValue>,
  diagnostics: Diagnostic[],
): void {
  const report = (path: string, code: string, message: string, hint?: string): void => {
    diagnostics.push({ code, severity: 'error', message, path, hint })
  }
  const byVariable = new Map(settingTable.map((setting) => [variableOf(setting), setting]))
  for (const [variable, setting] of byVariable) {
    const text = env[variable]
    if (text === undefined || text === '') continue
    const value = readSetting(setting, parseText(setting, text), { base: cwd, home })
    const isNothing = text.trim() === ''
    if (value === undefined || isNothing)
      report(variable, 'setting-wrong-value', `the variable must be ${setting.expected}`)
    else setValue(setting, value, values)
  }
  for (const name of ownVariables(env)) {
    if (byVariable.has(name) || (env[name] ?? '') === '') continue
    const suggestion = meantVariable(name, [...byVariable.keys()])
    if (suggestion === undefined) continue
    report(name, 'setting-unknown', `the variable sets nothing`, `Did you mean ${suggestion}?`)
  }
}

/** Variables for scripts or from the user that are not settings. A name follows `INPUT_`. */
const otherVariables =
  /^SKILLRAIL_(?:RUN_ID|STEP|STATE|OUTPUT|SCRATCH|ATTEMPT|SKILL_DIR|IDEMPOTENCY_KEY|SESSION|STATE_KEY|AGENT_API_KEY|PLUGIN|INPUT_.*)$/

/**
 * Returns the variable that a name probably means: one with nearly the same letters, with the same words
 * in another order, or with the same last words, as in `SKILLRAIL_DENY`.
 */
function meantVariable(name: string, variables: readonly string[]): string | undefined {
  if (otherVariables.test(name)) return undefined
  const wordsIn = (text: string): string[] => text.toUpperCase().split('_').slice(1).toSorted()
  const words = wordsIn(name).join(' ')
  const ending = name.toUpperCase().replace(/^[^_]*/, '')
  const isMeant = (variable: string): boolean =>
    wordsIn(variable).join(' ') === words || (ending.length > 1 && variable.endsWith(ending))
  return nearest(name, variables) ?? variables.find(isMeant)
}

/** Sets a value. A later source adds to the restrictions of the earlier ones. */
function setValue(setting: Setting, value: SettingValue, values: Map<string, SettingValue>): void {
  const earlierValue = values.get(setting.key)
  const isAdded = setting.adds === true && Array.isArray(earlierValue) && Array.isArray(value)
  values.set(setting.key, isAdded ? [...earlierValue, ...value] : value)
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
  // Each value has been checked with its row in the table, which also defines the type.
  return Object.assign(Object.create(null), settings, groups)
}

interface PathBase {
  base: string
  home: string
}

interface ConfigurationFile extends PathBase {
  path: string
  isProject: boolean
}

function readConfigurationFile(
  file: ConfigurationFile,
  values: Map<string, SettingValue>,
  diagnostics: Diagnostic[],
): void {
  const { path } = file
  const reading = readRegularFile(path, { maxBytes: 1_048_576 })
  if (!reading.ok) {
    const { code, message } = reading
    const more = code === 'file-not-utf8' ? { line: 1, hint: 'Save the file as UTF-8.' } : {}
    diagnostics.push({ code, severity: 'error', message, path, ...more })
    return
  }
  const { text } = reading
  const placeOf = placesIn(text)
  const report: Report = (code, message, offset, { severity = 'error', hint } = {}) => {
    diagnostics.push({ code, severity, message, path, ...placeOf(offset), hint })
  }
  const root = parseFile(text, report)
  if (root) readGroup(root, '', { file, values, report })
}

type Report = (
  code: string,
  message: string,
  offset: number,
  more?: { severity?: Severity | undefined; hint?: string | undefined },
) => void

function parseFile(text: string, report: Report): Jsonc.Node | undefined {
  const deep = tooDeepAt(text)
  if (deep !== undefined) {
    report('configuration-syntax', `the file is nested deeper than ${deepestJson} levels`, deep)
    return undefined
  }
  const errors: Jsonc.ParseError[] = []
  const root = parser().parseTree(text, errors, { allowTrailingComma: true })
  for (const { error, offset } of errors) {
    // `PropertyNameExpected` is `property name expected` to a user.
    const words = parser()
      .printParseErrorCode(error)
      .replace(/(?<!^)[A-Z]/g, ' $&')
      .toLowerCase()
    report('configuration-syntax', `the file is not JSON: ${words}`, offset)
  }
  if (errors.length > 0) return undefined
  if (root?.type === 'object') return root
  report('configuration-syntax', 'the file must be a JSON object', 0)
  return undefined
}

/** Loaded only to read a file: most commands find none. */
function parser(): typeof Jsonc {
  return createRequire(import.meta.url)('jsonc-parser')
}

interface FileContext {
  file: ConfigurationFile
  values: Map<string, SettingValue>
  report: Report
}

function readGroup(node: Jsonc.Node, prefix: string, context: FileContext): void {
  const { report } = context
  const names = new Set<string>()
  for (const property of node.children ?? []) {
    const [nameNode, valueNode] = property.children ?? []
    if (!nameNode || !valueNode) continue
    const name = String(nameNode.value)
    const key = prefix + name
    if (names.has(name)) report('setting-repeated', `${key} is set twice`, nameNode.offset)
    names.add(name)
    const setting = name.includes('.') ? undefined : settingOf(key)
    if (setting) readOne(setting, valueNode, context)
    else if (isGroup(key) && valueNode.type === 'object') readGroup(valueNode, `${key}.`, context)
    else if (isGroup(key))
      report('setting-wrong-value', `${key} must be an object`, valueNode.offset)
    else if (key !== '$schema') {
      report('setting-unknown', `${key} is not a setting`, nameNode.offset, { hint: hintFor(key) })
    }
  }
}

function readOne(setting: Setting, node: Jsonc.Node, { file, values, report }: FileContext): void {
  const { key, expected } = setting
  const value = readSetting(setting, parser().getNodeValue(node), file)
  if (value === undefined) {
    report('setting-wrong-value', `${key} must be ${expected}`, node.offset)
  } else if (file.isProject && setting.userOnly) {
    readUserSetting(setting, value, { values, report, offset: node.offset })
  } else setValue(setting, value, values)
}

/** Uses a project's value for a user setting only if the value allows less. */
function readUserSetting(
  setting: Setting,
  value: SettingValue,
  { values, report, offset }: Omit<FileContext, 'file'> & { offset: number },
): void {
  const { key, fallback, loosest } = setting
  const current = values.get(key) ?? fallback
  if (value === current) return
  const isStricter = loosest !== undefined && value !== loosest
  if (isStricter && current === loosest) {
    values.set(key, value)
  } else if (isStricter) {
    const message = `${key} is "${String(current)}" for you, and neither that nor "${String(value)}" includes the other`
    const hint = `Choose one with ${variableOf(setting)} or --config, or remove it here.`
    report('setting-not-for-projects', message, offset, { hint })
  } else {
    const message = `${key} is ignored here: a project cannot raise its own rights`
    const hint = `Set it in your own configuration file or with ${variableOf(setting)}.`
    report('setting-not-for-projects', message, offset, { severity: 'warning', hint })
  }
}

function settingOf(key: string): Setting | undefined {
  return settingTable.find((setting) => setting.key === key)
}

function isGroup(key: string): boolean {
  return settingTable.some((setting) => setting.key.startsWith(`${key}.`))
}

/** Returns a hint with the intended setting or group, also for a key in the wrong place. */
function hintFor(key: string): string | undefined {
  if (settingOf(key)) return 'Write a group as an object of its own: { "tools": { "deny": [] } }.'
  const keys = settingTable.map((setting) => setting.key)
  const groups = keys.flatMap((one) => (one.includes('.') ? [one.split('.', 1)[0] ?? one] : []))
  const lastName = (one: string): string => (one.split('.').at(-1) ?? one).toLowerCase()
  const suggestion =
    nearest(key, new Set([...keys, ...groups])) ??
    keys.find((one) => lastName(one) === lastName(key))
  return suggestion === undefined ? undefined : `Did you mean ${suggestion}?`
}

function parseText({ kind }: Setting, text: string): unknown {
  const number = (part: string): unknown =>
    /^\d{1,15}(?:\.\d{1,3})?$/.test(part) ? Number(part) : part
  if (kind === 'text') return text
  if (kind === 'number') return number(text)
  const parts = text.split(kind === 'paths' ? delimiter : /[\s,]+/).filter((part) => part !== '')
  return kind === 'numbers' ? parts.map(number) : parts
}

function readSetting(
  { kind, schema }: Setting,
  value: unknown,
  paths: PathBase,
): SettingValue | undefined {
  const { data } = schema.safeParse(value)
  if (kind !== 'paths' || !Array.isArray(data)) return data
  return data.map((path) => absolute(String(path), paths))
}

function absolute(path: string, paths: PathBase): string {
  if (path === '~') return paths.home
  return path.startsWith('~/') ? join(paths.home, path.slice(2)) : resolve(paths.base, path)
}
