import { existsSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import type * as Zod from 'zod'
import type { Diagnostic } from '#core/errors'
import { isObject, parseJson } from '#core/json'
import { isInside, readRegularFile, realPathOf } from '#core/read-files'

/** A package in the form of Agent Plugins 1.0, and what of it can be used. */
export interface Plugin {
  /** Undefined: the manifest is invalid, so nothing of the plugin is used. */
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
    const isRight = isDirectory ? stats.isDirectory() : stats.isFile()
    if (isRight && isContained(root, place)) return place
    const what = isRight ? 'leads out of the plugin' : `is not a ${isDirectory ? 'folder' : 'file'}`
    return report('plugin-component-invalid', `${part} ${what}; it is ignored`, place)
  }
  return {
    name,
    root,
    skills: component('skills', true),
    servers: component('mcp.json', false),
    diagnostics,
  }
}

/** Whether a `plugin.json` says that it is one of Agent Plugins, of any version. */
export function isPluginManifest(path: string): boolean {
  const file = readRegularFile(path, { maxBytes: maxManifestBytes })
  return file.ok && file.text.includes(schemas)
}

/** Whether a path, links followed as far as it exists, stays inside a real folder. */
export function isContained(root: string, path: string): boolean {
  const real = realPathOf(path)
  if (real !== undefined) return isInside(root, real)
  return isInside(root, path) && (path === root || isContained(root, dirname(path)))
}

/** Agent Plugins 1.0, 5.2 and 8.1: an unknown field and `extensions` that are not an object are ignored. */
function readManifest(
  root: string,
  path: string,
  report: (code: string, message: string) => undefined,
): string | undefined {
  const refused = (message: string): undefined => report('plugin-invalid', message)
  if (!isContained(root, path)) return refused('the file leads out of the plugin')
  const file = readRegularFile(path, { maxBytes: maxManifestBytes })
  if (!file.ok) return refused(`the file${file.message.slice(path.length)}`)
  const value = parseJson(file.text)
  if (!isObject(value)) return refused('the file is not a JSON object')
  const { $schema } = value
  const isOther = typeof $schema === 'string' && $schema.startsWith(schemas)
  if (isOther && $schema !== manifestSchema)
    return refused(`it targets ${$schema}; Skillrail reads version 1.0.0`)
  const schema = manifestFields()
  const ignored = Object.keys(value).filter(
    (key) => !(key in schema.shape) || (key === 'extensions' && !isObject(value[key])),
  )
  const known = Object.entries(value).filter(([key]) => !ignored.includes(key))
  const { data, error } = schema.safeParse(Object.fromEntries(known))
  // The first of each field: a list can have thousands of wrong items.
  for (const [issue] of Map.groupBy(error?.issues ?? [], ({ path: [key] }) => key).values()) {
    if (issue) refused(`"${issue.path.join('.')}": ${issue.message}`)
  }
  for (const key of ignored) {
    const why = key === 'extensions' ? 'must be an object' : 'is not a field of a plugin'
    report('plugin-field-ignored', `"${key}" ${why}; it is ignored`)
  }
  return data?.name
}

export function isPluginName(text: string): boolean {
  return text.length <= 64 && /^(?!.*(?:--|\.\.))[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/.test(text)
}

function manifestFields() {
  const z: typeof Zod = createRequire(import.meta.url)('zod')
  const text = z.string().optional()
  const author = z.strictObject({ name: text, email: text, url: text }).optional()
  const extensions = z.record(z.string(), z.record(z.string(), z.unknown())).optional()
  return z.object({
    $schema: z.literal(manifestSchema),
    name: z
      .string()
      .refine(isPluginName, '1 to 64 of a-z, 0-9 and single "-" and "." inside are allowed'),
    version: text,
    description: text,
    author,
    homepage: text,
    repository: text,
    license: text,
    keywords: z.array(z.string()).optional(),
    extensions,
  })
}

/** Why a skill file in the folder of a plugin is not one of its skills (7.1), or undefined. */
export function outsidePlugin({ root }: Plugin, file: string): string | undefined {
  if (basename(file) !== 'SKILL.md') return 'the file must be called SKILL.md'
  return isContained(root, file) ? undefined : 'the file leads out of the plugin'
}
