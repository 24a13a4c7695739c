import { chmodSync, lstatSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { defineCommand, option } from '#core/command'
import { SkillrailError, UsageError } from '#core/errors'
import { writeLimit } from '#core/project-state'
import { amount, linesText, safeLine } from '#core/text'
import { writeFileAtomic } from '#core/write-files'
import { discoverOptionsFrom } from '#library/discover'
import { skillAt } from '#library/find-skill'
import { isPluginName } from '#library/plugins'
import { findSkillFiles } from '#library/walk'
import { type PackagedClient, packagedClients, packPlugin } from '#hooks/pack-plugin'

interface PackResult {
  name: string
  plugins: readonly {
    /** Undefined: for clients that read Agent Plugins, without the hook. */
    client: PackagedClient | undefined
    directory: string
    files: readonly { path: string; bytes: number }[]
  }[]
  written: boolean
}

export const command = defineCommand<PackResult>()({
  arguments: { '<dir>': 'a skill, or a folder with skills' },
  options: {
    out: option.text('--out <dir>', 'write into this new folder (default: NAME-plugin)'),
    name: option.text('--name <name>', 'name of the plugin (default: that of the folder)'),
    client: option.list('--client <name...>', `for these only: ${packagedClients.join(', ')}`),
    dryRun: option.flag('--dry-run', 'list the files and write nothing'),
  },
  details:
    'Writes a folder `portable` for clients of Agent Plugins, and one with the hook for each client.',
  examples: ['hooks pack .agents/skills/deploy --client claude --dry-run'],
  async run(
    { runtime, settings },
    { arguments: [sourcePath = ''], out, name: named, client, dryRun },
  ) {
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
    const chosen =
      client.length > 0 ? client.map(packagedClient) : hasTriggers ? packagedClients : []
    const packed = [undefined, ...chosen].map((one) => {
      const directory = join(target, one ?? 'portable')
      return { client: one, directory, files: packPlugin(name, skills, one) }
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
    return { name, plugins, written: !dryRun }
  },
  render: ({ plugins, written }) =>
    linesText(
      plugins.flatMap(({ directory, files }) => [
        safeLine(`${directory}: ${amount(files.length, 'file')}`),
        ...(written ? [] : files.map(({ path, bytes }) => safeLine(`  ${path} (${bytes} bytes)`))),
      ]),
    ),
  notes: ({ written }) => (written ? [] : ['Nothing was written.']),
})

function packagedClient(name: string): PackagedClient {
  const packaged = packagedClients.find((client) => client === name)
  if (packaged) return packaged
  const message = `there are no packages for ${name}`
  const hint = `Give one of ${packagedClients.join(', ')}; without --client you get all.`
  throw new UsageError({ code: 'plugin-client-unknown', message, hint })
}
