import { existsSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Diagnostic } from '#core/errors'
import { isObject, parseJson } from '#core/json'
import { isInside, readRegularFile, realPathOf } from '#core/read-files'
import {
  anything,
  choice,
  closedObject,
  list,
  optional,
  readShape,
  record,
  type Schema,
  text,
  WrongShape,
} from '#core/shapes'

/** A package in the Agent Plugins 1.0 format, with its usable components. */
export interface Plugin {
  /** Undefined if the manifest is invalid. Then no component is used. */
  name: string | undefined
  root: string
  skills?: string | undefined
  servers?: string | undefined
  diagnostics: readonly Diagnostic[]
}

const schemas = 'https://agent-plugins.org/schemas/'
export const manifestSchema = `${schemas}1.0.0/plugin.schema.json`
const maxManifestBytes = 1024 * 1024

/** Reads the manifest of a plugin and finds its components. Never throws; starts and fetches nothing. */
export function readPlugin(directory: string): Plugin {
  const root = realPathOf(directory) ?? directory
  const path = join(directory, 'plugin.json')
  const diagnostics: Diagnostic[] = []
  const report = (code: string, message: string, at = path): undefined => {
    const severity = code === 'plugin-field-ignored' ? 'warning' : 'error'
    diagnostics.push({ code, severity, message, path: at })
  }
  const name = readManifest(root, path, report)
  if (name === undefined) return { name, root, diagnostics }
  const component = (part: string, isDirectory: boolean): string | undefined => {
    const place = join(directory, part)
    if (!existsSync(place)) return undefined
    const stats = statSync(place)
    const isExpectedKind = isDirectory ? stats.isDirectory() : stats.isFile()
    if (isExpectedKind && isContained(root, place)) return place
    const problem = isExpectedKind
      ? 'leads out of the plugin'
      : `is not a ${isDirectory ? 'folder' : 'file'}`
    return report('plugin-component-invalid', `${part} ${problem}; it is ignored`, place)
  }
  return {
    name,
    root,
    skills: component('skills', true),
    servers: component('mcp.json', false),
    diagnostics,
  }
}

/** Whether a `plugin.json` is a manifest of Agent Plugins, of any version. */
export function isPluginManifest(path: string): boolean {
  const file = readRegularFile(path, { maxBytes: maxManifestBytes })
  return file.ok && file.text.includes(schemas)
}

/** Returns the folder of the plugin that a skill belongs to: the nearest folder above with a manifest. */
export function pluginRoot(skillDirectory: string): string | undefined {
  let directory = dirname(skillDirectory)
  while (dirname(directory) !== directory) {
    const manifest = join(directory, 'plugin.json')
    const isPlugin = existsSync(manifest) && isPluginManifest(manifest)
    if (isPlugin || existsSync(join(directory, '.claude-plugin', 'plugin.json'))) return directory
    directory = dirname(directory)
  }
  return undefined
}

/** Whether a path stays inside a real folder. Follows the links of the part that exists. */
export function isContained(root: string, path: string): boolean {
  const realPath = realPathOf(path)
  if (realPath !== undefined) return isInside(root, realPath)
  return isInside(root, path) && (path === root || isContained(root, dirname(path)))
}

/** Agent Plugins 1.0, 5.2 and 8.1: ignores unknown fields, and `extensions` that are not an object. */
function readManifest(
  root: string,
  path: string,
  report: (code: string, message: string) => undefined,
): string | undefined {
  const refuse = (message: string): undefined => report('plugin-invalid', message)
  if (!isContained(root, path)) return refuse('the file leads out of the plugin')
  const file = readRegularFile(path, { maxBytes: maxManifestBytes })
  if (!file.ok) return refuse(`the file${file.message.slice(path.length)}`)
  const value = parseJson(file.text)
  if (!isObject(value)) return refuse('the file is not a JSON object')
  const { $schema } = value
  const isAgentPlugin = typeof $schema === 'string' && $schema.startsWith(schemas)
  if (isAgentPlugin && $schema !== manifestSchema)
    return refuse(`it targets ${$schema}; Skillrail reads version 1.0.0`)
  const ignoredKeys = Object.keys(value).filter(
    (key) => !Object.hasOwn(manifestFields, key) || (key === 'extensions' && !isObject(value[key])),
  )
  const problems = Object.entries(manifestFields).flatMap(([key, schema]) =>
    ignoredKeys.includes(key) ? [] : (problemOf(schema, value[key], key) ?? []),
  )
  for (const problem of problems) refuse(problem)
  for (const key of ignoredKeys) {
    const reason = key === 'extensions' ? 'must be an object' : 'is not a field of a plugin'
    report('plugin-field-ignored', `"${key}" ${reason}; it is ignored`)
  }
  return problems.length === 0 ? readShape(text, value['name'], ['name']) : undefined
}

/** Returns only the first problem of a field: a list can have thousands of wrong items. */
function problemOf(schema: Schema<unknown>, value: unknown, key: string): string | undefined {
  try {
    readShape(schema, value, [key])
    return undefined
  } catch (error) {
    if (error instanceof WrongShape) return error.message
    throw error
  }
}

export function isPluginName(text: string): boolean {
  return text.length <= 64 && /^(?!.*(?:--|\.\.))[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/.test(text)
}

const pluginName: Schema<string> = (value, place) => {
  const name = text(value, place)
  const expected = 'a name of 1 to 64 of a-z, 0-9 and single "-" and "." inside'
  if (!isPluginName(name)) throw new WrongShape(place, expected)
  return name
}

const manifestFields: Readonly<Record<string, Schema<unknown>>> = {
  $schema: choice(manifestSchema),
  name: pluginName,
  version: optional(text),
  description: optional(text),
  author: optional(
    closedObject({ name: optional(text), email: optional(text), url: optional(text) }),
  ),
  homepage: optional(text),
  repository: optional(text),
  license: optional(text),
  keywords: optional(list(text)),
  extensions: optional(record(record(anything))),
}

/** Returns why a skill file in a plugin's folder is not one of the plugin's skills (7.1), or undefined. */
export function outsidePlugin({ root }: Plugin, file: string): string | undefined {
  if (basename(file) !== 'SKILL.md') return 'the file must be called SKILL.md'
  return isContained(root, file) ? undefined : 'the file leads out of the plugin'
}
