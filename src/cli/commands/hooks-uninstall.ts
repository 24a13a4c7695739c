import { platforms, uninstallHook } from '../../hooks/index.ts'
import { changeEach, type ScopeOptions } from '../_hook-changes.ts'
import { platformNamed } from '../_hook-platforms.ts'
import { defineCommand, type LoadedCommand } from '../command.ts'

export const command: LoadedCommand = defineCommand<ScopeOptions>({
  configure(program) {
    program
      .argument('[client...]', 'whose hook to take away; default: every client’s')
      .option('--user', 'from your own configuration (default)')
      .option('--project', 'from the configuration of this project')
      .option('--dry-run', 'show what would be changed, and change nothing')
      .addHelpText(
        'after',
        '\nA file that nobody else has changed is put back byte for byte; from any other only our\nentries are taken.\n\nExample:\n  $ skillrail hooks uninstall claude\n',
      )
  },
  async run(context, names, options) {
    const named = names.length === 0 ? platforms : names.map(platformNamed)
    const { dryRun } = options
    const { code } = await changeEach(
      context,
      named,
      options,
      (platform, scope) => uninstallHook(context.runtime, platform, { scope, dryRun }),
      (path) => `no hook was in ${path}`,
    )
    return code
  },
})
