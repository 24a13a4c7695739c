import { chmodSync, lstatSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { type Context, defineCommand, option } from '#core/command'
import { type Diagnostic, errorsIn, SkillrailError, UsageError } from '#core/errors'
import { writeLimit } from '#core/project-state'
import { amount, linesText, safeLine } from '#core/text'
import { writeFileAtomic } from '#core/write-files'
import { discoverOptionsFrom } from '#library/discover'
import { skillAt } from '#library/find-skill'
import { isPluginName } from '#library/plugins'
import type { SkillInfo } from '#library/model'
import { findSkillFiles } from '#library/walk'
import {
  installationOf,
  type PackagedClient,
  packagedClients,
  packPlugin,
} from '#hooks/pack-plugin'
import { validateSkills } from '#project/validate-skills'

interface PackResult {
  name: string
  plugins: readonly {
    /** Undefined: for clients that read Agent Plugins, without the hook. */
    client: PackagedClient | undefined
    directory: string
    files: readonly { path: string; bytes: number }[]
    /** What a user does to install it; undefined for `portable`. */
    install: string | undefined
  }[]
  written: boolean
  /** The warnings of `validate` about the skills. */
  diagnostics: readonly Diagnostic[]
}

export const command = defineCommand<PackResult>()({
  arguments: { '<dir>': 'a skill, or a folder with skills' },
  options: {
    out: option.text('--out <dir>', 'write into this new folder (default: NAME-plugin)'),
    name: option.text('--name <name>', 'name of the plugin (default: that of the folder)'),
    version: option.text('--version <version>', 'such as 1.2.0 (default: that of the first skill)'),
    client: option.list('--client <name...>', `for these only: ${packagedClients.join(', ')}`),
    dryRun: option.flag('--dry-run', 'list the files and write nothing'),
  },
  details:
    'Writes a folder `portable` for clients of Agent Plugins, and one with the hook for each client.',
  examples: ['hooks pack .agents/skills/deploy --client claude --dry-run'],
  async run(context, { arguments: [sourcePath = ''], ...values }) {
    const { runtime, settings } = context
    const { out, name: named, version, client, dryRun } = values
    if (version !== undefined && !isSemanticVersion(version)) {
      const message = `"${version}" is not a version`
      const hint = 'Give one of the form 1.2.0 or 1.2.0-beta.1 with --version.'
      throw new UsageError({ code: 'plugin-version-invalid', message, hint })
    }
    const requested = client.map(packagedClient)
    const source = resolve(runtime.cwd, sourcePath)
    const options = discoverOptionsFrom(runtime, settings)
    const skills = [...findSkillFiles(source)].map(({ path }) => skillAt(path, options))
    if (skills.length === 0) {
      const message = `${sourcePath} has no SKILL.md, nor does a folder below it`
      throw new UsageError({ code: 'plugin-without-skills', message })
    }
    const name = named ?? basename(source)
    if (!isPluginName(name)) {
      const message = `"${name}" cannot be the name of a plugin`
      const hint = 'Give one of a-z, 0-9, single hyphens and periods with --name.'
      throw new UsageError({ code: 'plugin-name-invalid', message, hint })
    }
    const target = resolve(runtime.cwd, out ?? `${name}-plugin`)
    if (lstatSync(target, { throwIfNoEntry: false })) {
      const message = `${target} exists already; nothing was written`
      const hint = 'Remove it, or choose another folder with --out.'
      throw new SkillrailError({ code: 'plugin-exists', message, hint })
    }
    const hasTriggers = skills.some(({ fields }) => fields.triggers.length > 0)
    const chosen = requested.length > 0 ? requested : hasTriggers ? packagedClients : []
    const diagnostics = await warningsAbout(skills, context)
    if (!diagnostics) return undefined
    const packed = [undefined, ...chosen].map((one) => {
      const directory = join(target, one ?? 'portable')
      const install = one && installationOf(one, name, directory)
      return {
        client: one,
        directory,
        files: packPlugin(name, skills, { client: one, version }),
        install,
      }
    })
    for (const { directory, files } of dryRun ? [] : packed) {
      for (const { path, bytes, mode } of files) {
        const file = join(directory, path)
        await writeFileAtomic(file, bytes, { within: writeLimit(file, runtime) })
        chmodSync(file, mode)
      }
    }
    const plugins = packed.map(({ files, ...one }) => {
      return { ...one, files: files.map(({ path, bytes }) => ({ path, bytes: bytes.length })) }
    })
    return { name, plugins, written: !dryRun, diagnostics }
  },
  render: ({ plugins, written }) =>
    linesText(
      plugins.flatMap(({ directory, files, install }) => [
        safeLine(`${directory}: ${amount(files.length, 'file')}`),
        ...(written && install !== undefined ? [safeLine(`  ${install}`)] : []),
        ...(written ? [] : files.map(({ path, bytes }) => safeLine(`  ${path} (${bytes} bytes)`))),
      ]),
    ),
  notes: ({ written, diagnostics }) => [...diagnostics, !written && 'Nothing was written.'],
})

/**
 * Returns the warnings of `validate` about these skills; undefined if the caller stops it.
 * @throws {SkillrailError} if `validate` has errors.
 */
async function warningsAbout(
  skills: readonly SkillInfo[],
  context: Context,
): Promise<Diagnostic[] | undefined> {
  const paths = skills.map(({ path }) => path)
  const checked = await validateSkills(context, { paths, profile: 'spec', fix: undefined })
  if (!checked) return undefined
  const diagnostics = checked.skills.flatMap((skill) => skill.diagnostics)
  const errors = errorsIn(diagnostics)
  if (errors.length > 0) {
    const wrong = checked.skills.filter(({ valid }) => !valid)
    const names = wrong.map(({ name, path }) => name ?? path).join(', ')
    const message = `not valid: ${names}; nothing was written`
    throw new SkillrailError({ code: 'plugin-skill-invalid', message, diagnostics: errors })
  }
  return diagnostics.filter(({ severity }) => severity === 'warning')
}

function isSemanticVersion(text: string): boolean {
  return /^\d+\.\d+\.\d+(?:[-+][0-9A-Za-z.+-]+)?$/.test(text)
}

function packagedClient(name: string): PackagedClient {
  const packaged = packagedClients.find((client) => client === name)
  if (packaged) return packaged
  const message = `there are no packages for ${name}`
  const hint = `Give one of ${packagedClients.join(', ')}; without --client you get all.`
  throw new UsageError({ code: 'plugin-client-unknown', message, hint })
}
