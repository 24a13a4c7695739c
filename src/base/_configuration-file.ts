import { createRequire } from 'node:module'
import type * as Jsonc from 'jsonc-parser'
import { type PathBase, readSettingValue } from './_setting-value.ts'
import type { Diagnostic } from './diagnostic.ts'
import { deepestJson, tooDeepAt } from './json-depth.ts'
import { nearest } from './nearest.ts'
import { readRegularFile } from './read-regular-file.ts'
import { type Setting, settingTable, type SettingValue } from './settings.ts'
import { placesIn } from './text-places.ts'

export interface RawSetting {
  setting: Setting
  value: SettingValue
  line: number
  column: number
}

/** Reads a configuration file: JSON with comments. Whatever is wrong is reported with its line. */
export function readConfigurationFile(
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
      const setting = settingTable.find((candidate) => candidate.key === key)
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
    const known = settingTable.map((setting) => setting.key)
    const meant = diagnostics.length < mostHints ? nearest(key, known) : undefined
    return {
      ...report('setting-unknown', `${key} is no setting; it is ignored`, offset),
      severity: 'warning',
      hint: meant === undefined ? undefined : `Did you mean ${meant}?`,
    }
  }

  function report(code: string, message: string, offset: number): Diagnostic {
    return { code, severity: 'error', message, path, ...placeOf(offset) }
  }
}

/** A file with more that is wrong is no configuration; looking for what was meant costs time. */
const mostHints = 50

/** `PropertyNameExpected`, as the parser calls it, is `property name expected` to a person. */
function inWords(name: string): string {
  return `no JSON: ${name.replace(/(?<!^)[A-Z]/g, ' $&').toLowerCase()}`
}

/** Loaded only when there is a file to read: most commands find none. */
function loadParser(): typeof Jsonc {
  const parser: typeof Jsonc = createRequire(import.meta.url)('jsonc-parser')
  return parser
}
