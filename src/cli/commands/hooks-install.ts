import { adapters, installHook } from '../../hooks/index.ts'
import { changeEach, type ScopeOptions } from '../_hook-changes.ts'
import { namedPlatforms } from '../_hook-platforms.ts'
import { defineCommand, type LoadedCommand } from '../command.ts'

export const command: LoadedCommand = defineCommand<ScopeOptions>({
  configure(program) {
    program
      .argument(
        '[client...]',
        'claude, codex, copilot, cursor, gemini, opencode, pi, qwen; default: those found here',
      )
      .option('--user', 'in your own configuration, for every project (default)')
      .option('--project', 'in the configuration of this project')
      .option('--dry-run', 'show what would be written, and write nothing')
      .addHelpText(
        'after',
        '\nEverything else in a file stays as it is, comments too, and skillrail hooks uninstall puts\nback what was there.\n\nExample:\n  $ skillrail hooks install claude\n',
      )
  },
  async run(context, names, options) {
    const { runtime, output } = context
    const named = namedPlatforms(runtime, names)
    const { dryRun } = options
    const { changes, code } = await changeEach(
      context,
      named,
      options,
      (platform, scope) => installHook(runtime, platform, { scope, dryRun }),
      (path) => `${path} is as it should be`,
    )
    for (const { platform, scope } of changes) {
      const { title, steps, remark } = adapters[platform]
      const step = steps[scope]
      if (step !== undefined) output.note(`${title}: ${step}`)
      if (remark !== undefined) output.note(`${title}: ${remark}`)
    }
    return code
  },
})
