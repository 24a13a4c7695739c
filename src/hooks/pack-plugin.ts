import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { compareText, SkillrailError } from '#core/errors'
import { indentedJson, objectOf, parseJson } from '#core/json'
import { shellWord } from '#core/text'
import type { SkillInfo } from '#library/model'
import { manifestSchema } from '#library/plugins'
import { listSkillFiles } from '#library/skill-files'

/** The clients that take the hook as a package; each has a folder in `plugins/`. */
export const packagedClients = ['claude', 'copilot', 'gemini', 'opencode', 'pi', 'qwen'] as const
export type PackagedClient = (typeof packagedClients)[number]

interface PackedFile {
  /** Relative to the plugin's directory. */
  path: string
  bytes: Buffer
  mode: number
}

/**
 * Returns the files of a plugin with these skills: an Agent Plugin, or a client's own kind of
 * plugin with the hook.
 * Copilot CLI and Qwen Code run no hooks of a package that is an Agent Plugin, too.
 */
export function packPlugin(
  name: string,
  skills: readonly SkillInfo[],
  { client, version }: { client?: PackagedClient | undefined; version?: string | undefined } = {},
): PackedFile[] {
  const [first] = skills
  const all = `Skills: ${skills.map((one) => one.name).join(', ')}`
  const description = skills.length === 1 ? (first?.description ?? '') : all
  const ofSkill = first?.fields.metadata['version']
  const facts = { name, version: version ?? ofSkill ?? '0.1.0', description }
  const manifest = indentedJson({ $schema: manifestSchema, ...facts })
  const own = client ? filesOfPackage(client, facts) : [fileOf('plugin.json', manifest)]
  return [...own, ...skills.flatMap(filesOfSkill)]
}

/** Returns what a user does to install a plugin from its folder. */
export function installationOf(client: PackagedClient, name: string, directory: string): string {
  const folder = shellWord(directory)
  switch (client) {
    case 'claude':
    case 'copilot':
      return `${client} plugin marketplace add ${folder} && ${client} plugin install ${name}@${name}`
    case 'gemini':
    case 'qwen':
      return `${client} extensions install ${folder}`
    case 'pi':
      return `pi install ${folder}`
    case 'opencode':
      return `add ${JSON.stringify(pathToFileURL(directory).href)} to "plugin" in opencode.json`
  }
}

type PluginFacts = Record<'name' | 'version' | 'description', string>

function fileOf(path: string, content: string | Buffer, mode = 0o644): PackedFile {
  return { path, bytes: Buffer.from(content), mode: mode & 0o111 ? 0o755 : 0o644 }
}

function filesOfSkill({ name, directory }: SkillInfo): PackedFile[] {
  return listSkillFiles(directory).map((file) => {
    const bytes = readFileSync(join(directory, file.path))
    return fileOf(`skills/${name}/${file.path}`, bytes, file.executable ? 0o755 : 0o644)
  })
}

/** The client's own form, filled with the hook. */
function filesOfPackage(client: PackagedClient, facts: PluginFacts): PackedFile[] {
  const frame = folderOf([`../../plugins/${client}`], 'skillrail-hook', 'no package')
  const hook = folderOf(['../../plugins/hook', '../../hook'], 'hook.cjs', 'no hook')
  const ofFrame = filesIn(frame, (path) => {
    const isManifest = path.endsWith('.json') && !path.startsWith('hooks')
    return isManifest ? (bytes) => manifestOf(bytes.toString(), facts) : undefined
  })
  const ofHook = filesIn(hook).map((file) => ({ ...file, path: `hook/${file.path}` }))
  return [...ofFrame, ...ofHook].toSorted((a, b) => compareText(a.path, b.path))
}

/** The first of these folders that has the file. */
function folderOf(places: readonly string[], file: string, problem: string): string {
  const paths = places.map((place) => fileURLToPath(new URL(place, import.meta.url)))
  const path = paths.find((candidate) => existsSync(join(candidate, file)))
  if (path !== undefined) return path
  const message = `${paths[0] ?? ''} has ${problem}`
  const hint = 'Install Skillrail again; in its repository: npm run build'
  throw new SkillrailError({ code: 'plugin-hook-missing', message, hint })
}

function filesIn(
  root: string,
  changeOf: (path: string) => ((bytes: Buffer) => string) | undefined = () => undefined,
): PackedFile[] {
  return readdirSync(root, { recursive: true, encoding: 'utf8' }).flatMap((path) => {
    const stats = statSync(join(root, path))
    if (!stats.isFile()) return []
    const bytes = readFileSync(join(root, path))
    const name = path.replaceAll(sep, '/')
    return [fileOf(name, changeOf(name)?.(bytes) ?? bytes, stats.mode)]
  })
}

function manifestOf(text: string, facts: PluginFacts): string {
  const { plugins, type, main, keywords, pi } = objectOf(parseJson(text))
  const { name, description } = facts
  if (plugins === undefined) return indentedJson({ ...facts, type, main, keywords, pi })
  return indentedJson({ name, owner: { name }, plugins: [{ name, source: './', description }] })
}
