import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { SkillrailError, UsageError } from '../core/errors.ts'
import type { SkillInfo } from '../library/model.ts'
import { manifestSchema } from '../library/plugins.ts'
import { listSkillFiles } from '../library/skill-files.ts'
import { validateSkill } from '../skill/validate.ts'
import { type PackagedClient, packageFiles } from './packages.ts'

interface PackedFile {
  /** Below the plugin. */
  path: string
  bytes: Buffer
  mode: number
}

/**
 * The files of a plugin with these skills; for a client those of its own form of plugins, with the hook.
 * Copilot CLI and Qwen Code run no hooks of a package that is an Agent Plugin, too.
 */
export function packPlugin(
  name: string,
  skills: readonly SkillInfo[],
  client?: PackagedClient,
): PackedFile[] {
  const [first] = skills
  const description =
    skills.length === 1
      ? (first?.description ?? '')
      : `Skills: ${skills.map((one) => one.name).join(', ')}`
  const version = first?.fields.metadata['version'] ?? '0.1.0'
  const facts = { name, version, description }
  const files = skills.flatMap(filesOfSkill)
  if (client === undefined) {
    const manifest = JSON.stringify({ $schema: manifestSchema, ...facts }, undefined, 2)
    return [fileOf('plugin.json', `${manifest}\n`), ...files]
  }
  const own = packageFiles(client, facts).map(({ path, text, mode }) => fileOf(path, text, mode))
  return [...files, ...own, fileOf('hook/hook.cjs', hookOf(client))]
}

function fileOf(path: string, content: string | Buffer, mode = 0o644): PackedFile {
  return { path, bytes: Buffer.from(content), mode }
}

function filesOfSkill({ name, directory, path }: SkillInfo): PackedFile[] {
  const options = { path, directoryName: basename(directory), files: listSkillFiles(directory) }
  const { diagnostics } = validateSkill(readFileSync(path), options)
  const errors = diagnostics.filter(({ severity }) => severity === 'error')
  if (errors.length > 0) {
    const message = `the skill ${name} is not valid, so clients would leave it out`
    throw new UsageError({ code: 'plugin-skill-invalid', message, diagnostics: errors })
  }
  return options.files.map((file) => {
    const bytes = readFileSync(join(directory, file.path))
    return fileOf(`skills/${name}/${file.path}`, bytes, file.executable ? 0o755 : 0o644)
  })
}

/** The hook as one file; a checkout has it once it is built. */
function hookOf(client: PackagedClient): Buffer {
  const path = fileURLToPath(new URL(`../../plugins/${client}/hook/hook.cjs`, import.meta.url))
  try {
    return readFileSync(path)
  } catch (error) {
    const message = `${path} cannot be read`
    const hint = 'Install Skillrail again; in its repository: npm run build'
    throw new SkillrailError({ code: 'plugin-hook-missing', message, hint, cause: error })
  }
}
