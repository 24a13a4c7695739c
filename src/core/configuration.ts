import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, dirname, join, resolve } from 'node:path'
import type * as Jsonc from 'jsonc-parser'
import type { Diagnostic } from './errors.ts'
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
import { didYouMean, placesIn } from './text.ts'

/**
 * Settings from, in rising precedence: defaults, the user's `config.json` in the XDG directory, the
 * nearest `.skillrail/config.json` up to the repository root, the `SKILLRAIL_*` variables, the
 * named file. A wrong value is reported with its line and the value from below is kept.
 * @param options `file`: named by the user (`--config`).
 */
export function loadConfiguration(runtime: Runtime, options: { file?: string | undefined } = {}) {
  const { cwd, home } = runtime
  const diagnostics: Diagnostic[] = []
  const values = new Map<string, SettingValue>()
  const sources: string[] = []
  const readFile = (file: Omit<ConfigurationFile, 'home'>): void => {
    sources.push(file.path)
    readConfigurationFile({ ...file, home }, values, diagnostics)
  }
  const own = join(userDirectories(runtime).config, 'config.json')
  if (existsSync(own)) readFile({ path: own, base: home, isProject: false })
  const project = projectDirectory(cwd)
  if (project !== undefined) {
    readFile({ path: projectFile(project), base: project, isProject: true })
  }
  for (const setting of settingTable) {
    const text = runtime.env[variableOf(setting)]
    if (text === undefined || text === '') continue
    const { value, expected } = readSetting(setting, parseText(setting, text), { base: cwd, home })
    const path = variableOf(setting)
    const message = `the variable ${path} must be ${expected}; it is ignored`
    if (value !== undefined) values.set(setting.key, value)
    else diagnostics.push({ code: 'setting-wrong-value', severity: 'error', message, path })
  }
  if (options.file !== undefined) {
    readFile({ path: resolve(cwd, options.file), base: cwd, isProject: false })
  }
  return { settings: toSettings(values), diagnostics, sources }
}

export type ConfigurationReading = ReturnType<typeof loadConfiguration>

function projectFile(directory: string): string {
  return join(directory, '.skillrail', 'config.json')
}

function projectDirectory(cwd: string): string | undefined {
  for (let directory = resolve(cwd); ; directory = dirname(directory)) {
    if (existsSync(projectFile(directory))) return directory
    if (existsSync(join(directory, '.git')) || directory === dirname(directory)) return undefined
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
    diagnostics.push({ code, severity: 'error', message, path })
    return
  }
  const { text } = reading
  const placeOf = placesIn(text)
  const report = (code: string, message: string, offset: number, hint?: string): void => {
    const isIgnored = code === 'setting-unknown' || code === 'setting-not-for-projects'
    const severity = isIgnored ? 'warning' : 'error'
    diagnostics.push({ code, severity, message, path, ...placeOf(offset), hint })
  }
  const deep = tooDeepAt(text)
  if (deep !== undefined) {
    return report('configuration-syntax', `nested deeper than ${deepestJson} levels`, deep)
  }
  // Loaded only when there is a file to read: most commands find none.
  const jsonc: typeof Jsonc = createRequire(import.meta.url)('jsonc-parser')
  const errors: Jsonc.ParseError[] = []
  const root = jsonc.parseTree(text, errors, { allowTrailingComma: true })
  for (const { error, offset } of errors) {
    // `PropertyNameExpected` is `property name expected` to a user.
    const words = jsonc
      .printParseErrorCode(error)
      .replace(/(?<!^)[A-Z]/g, ' $&')
      .toLowerCase()
    report('configuration-syntax', `no JSON: ${words}`, offset)
  }
  if (errors.length > 0) return
  if (root?.type !== 'object') {
    return report('configuration-syntax', 'the file must be a JSON object', 0)
  }
  const visit = (node: Jsonc.Node, prefix: string): void => {
    for (const property of node.children ?? []) {
      const [name, value] = property.children ?? []
      if (!name || !value) continue
      const key = prefix + jsonc.getNodeValue(name)
      const setting: Setting | undefined = settingTable.find((candidate) => candidate.key === key)
      const isGroup = settingTable.some((candidate) => candidate.key.startsWith(`${key}.`))
      if (setting) readOne(setting, value)
      else if (isGroup && value.type === 'object') visit(value, `${key}.`)
      else if (isGroup) report('setting-wrong-value', `${key} must be an object`, value.offset)
      else if (key !== '$schema') {
        const message = `${key} is not a setting; it is ignored`
        const known = diagnostics.length < mostHints ? settingTable : []
        const hint = didYouMean(
          key,
          known.map((row) => row.key),
        )
        report('setting-unknown', message, name.offset, hint || undefined)
      }
    }
  }
  const readOne = (setting: Setting, node: Jsonc.Node): void => {
    const { value, expected } = readSetting(setting, jsonc.getNodeValue(node), file)
    const { key } = setting
    const { offset } = node
    if (value === undefined) {
      report('setting-wrong-value', `${key} must be ${expected}; it is ignored`, offset)
    } else if (file.isProject && setting.userOnly) {
      const message = `${key} is ignored here: a project cannot raise its own rights`
      const hint = `Set it in your own configuration file or with ${variableOf(setting)}.`
      report('setting-not-for-projects', message, offset, hint)
    } else values.set(key, setting.adds ? added(values.get(key), value) : value)
  }
  visit(root, '')
}

function added(before: SettingValue | undefined, value: SettingValue): SettingValue {
  return Array.isArray(before) && Array.isArray(value) ? [...before, ...value] : value
}

/** A file with more that is wrong is not a configuration; looking for what was meant costs time. */
const mostHints = 50

function parseText({ kind }: Setting, text: string): unknown {
  const parts = text.split(kind === 'paths' ? delimiter : /[\s,]+/).filter((part) => part !== '')
  if (kind === 'paths' || kind === 'names' || kind === 'patterns' || kind === 'words') return parts
  const number = (part: string): unknown =>
    /^\d{1,15}(?:\.\d{1,3})?$/.test(part) ? Number(part) : part
  if (kind === 'numbers') return parts.map(number)
  return kind === 'integer' ? number(text) : text
}

interface ValueReading {
  value: SettingValue | undefined
  expected: string
}

function readSetting(setting: Setting, given: unknown, paths: PathBase): ValueReading {
  const list = (expected: string, pattern: RegExp): ValueReading => {
    const isRight = isTexts(given) && given.every((text) => pattern.test(text))
    return { value: isRight ? given : undefined, expected }
  }
  const text = (expected: string, isRight: (text: string) => boolean): ValueReading => ({
    value: typeof given === 'string' && isRight(given) ? given : undefined,
    expected,
  })
  switch (setting.kind) {
    case 'paths': {
      const value = isTexts(given) ? given.map((path) => absolute(path, paths)) : undefined
      return { value, expected: 'a list of paths' }
    }
    case 'names':
      return list('a list of names of environment variables', /^[A-Za-z_][A-Za-z0-9_]*$/)
    case 'patterns': {
      const expected = 'a list of names of tools, with * for any characters'
      return list(expected, /^[\w.*-]{1,200}$/)
    }
    case 'words':
      return list('a list of words', /^[^\s,]+$/)
    case 'text':
      return text('a text on one line', (line) => !/[\r\n]/.test(line))
    case 'address':
      return text('an address such as http://127.0.0.1:8080', isAddress)
    case 'choice': {
      const expected = setting.choices.map((choice) => `"${choice}"`).join(' or ')
      return text(expected, (word) => setting.choices.includes(word))
    }
    case 'numbers': {
      const { minimum, maximum, most } = setting
      const expected = `a list of at most ${most} numbers from ${minimum} to ${maximum}`
      const isRight =
        isNumbers(given) &&
        given.length <= most &&
        given.every((item) => item >= minimum && item <= maximum)
      return { value: isRight ? given : undefined, expected }
    }
    case 'integer': {
      const { minimum, maximum } = setting
      const expected = `a whole number from ${minimum} to ${maximum}`
      const isWhole = typeof given === 'number' && Number.isInteger(given)
      const isRight = isWhole && given >= minimum && given <= maximum
      return { value: isRight ? given : undefined, expected }
    }
  }
}

function isAddress(text: string): boolean {
  return text === '' || /^https?:$/.test(URL.parse(text)?.protocol ?? '')
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string' && item !== '')
}

function isNumbers(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every((item) => Number.isFinite(item))
}

function absolute(path: string, paths: PathBase): string {
  if (path === '~') return paths.home
  return path.startsWith('~/') ? join(paths.home, path.slice(2)) : resolve(paths.base, path)
}
