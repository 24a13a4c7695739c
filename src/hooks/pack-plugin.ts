import { readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { errorsIn, SkillrailError, UsageError } from '#core/errors'
import { indentedJson, objectOf, parseJson } from '#core/json'
import type { SkillInfo } from '#library/model'
import { manifestSchema } from '#library/plugins'
import { listSkillFiles } from '#library/skill-files'
import { validateSkill } from '#skill/validate'
import { allSkillsMark } from './adapters.ts'

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
  client?: PackagedClient,
): PackedFile[] {
  const [first] = skills
  const all = `Skills: ${skills.map((one) => one.name).join(', ')}`
  const description = skills.length === 1 ? (first?.description ?? '') : all
  const facts = { name, version: first?.fields.metadata['version'] ?? '0.1.0', description }
  const manifest = indentedJson({ $schema: manifestSchema, ...facts })
  const own = client ? filesOfPackage(client, facts) : [fileOf('plugin.json', manifest)]
  return [...own, ...skills.flatMap(filesOfSkill)]
}

type PluginFacts = Record<'name' | 'version' | 'description', string>

function fileOf(path: string, content: string | Buffer, mode = 0o644): PackedFile {
  return { path, bytes: Buffer.from(content), mode: mode & 0o111 ? 0o755 : 0o644 }
}

function filesOfSkill({ name, directory, path }: SkillInfo): PackedFile[] {
  const options = { path, directoryName: basename(directory), files: listSkillFiles(directory) }
  const { diagnostics } = validateSkill(readFileSync(path), options)
  const errors = errorsIn(diagnostics)
  if (errors.length > 0) {
    const message = `the skill ${name} is not valid, so clients would leave it out`
    throw new UsageError({ code: 'plugin-skill-invalid', message, diagnostics: errors })
  }
  return options.files.map((file) => {
    const bytes = readFileSync(join(directory, file.path))
    return fileOf(`skills/${name}/${file.path}`, bytes, file.executable ? 0o755 : 0o644)
  })
}

/** Skillrail's own package for a client, under another name. */
function filesOfPackage(client: PackagedClient, facts: PluginFacts): PackedFile[] {
  const root = fileURLToPath(new URL(`../../plugins/${client}`, import.meta.url))
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).toSorted()
  // The skill `rail` belongs to Skillrail's own package, whose hook serves all skills.
  const paths = files.filter(
    (path) => path !== allSkillsMark && !path.startsWith(join('skills', '/')),
  )
  if (!paths.includes(join('hook', 'hook.cjs'))) {
    const message = `${root} holds no hook`
    const hint = 'Install Skillrail again; in its repository: npm run build'
    throw new SkillrailError({ code: 'plugin-hook-missing', message, hint })
  }
  return paths.flatMap((path) => {
    const stats = statSync(join(root, path))
    if (!stats.isFile()) return []
    const bytes = readFileSync(join(root, path))
    const isManifest = path.endsWith('.json') && !path.startsWith('hooks')
    return [fileOf(path, isManifest ? manifestOf(bytes.toString(), facts) : bytes, stats.mode)]
  })
}

function manifestOf(text: string, facts: PluginFacts): string {
  const { plugins, type, main, keywords, pi } = objectOf(parseJson(text))
  const { name, description } = facts
  if (plugins === undefined) return indentedJson({ ...facts, type, main, keywords, pi })
  return indentedJson({ name, owner: { name }, plugins: [{ name, source: './', description }] })
}
