import { exitCode } from '../../base/index.ts'
import { prunableRuns } from '../../chain/index.ts'
import { openProject } from '../_chain-project.ts'
import { wholeNumber } from '../_option-number.ts'
import { defineCommand, type LoadedCommand } from '../command.ts'

interface Options {
  olderThan?: string | undefined
  keep?: string | undefined
  unfinished?: boolean | undefined
  dryRun?: boolean | undefined
}

export const command: LoadedCommand = defineCommand<Options>({
  configure(program) {
    program
      .option('--older-than <days>', 'only runs untouched for so many days')
      .option('--keep <count>', 'the newest so many runs stay')
      .option('--unfinished', 'also runs that could still be resumed')
      .option('--dry-run', 'only say which')
      .addHelpText('after', '\nExample:\n  $ skillrail runs prune --older-than 30 --keep 10\n')
  },
  async run(context, _positionals, options) {
    const { store } = openProject(context)
    const { output } = context
    const days = wholeNumber('--older-than', options.olderThan, range)
    const runs = prunableRuns(store, {
      olderThanMs: days === undefined ? undefined : days * 86_400_000,
      keep: wholeNumber('--keep', options.keep, range),
      unfinished: options.unfinished,
      now: context.runtime.now(),
    })
    const ids = runs.map(({ run }) => run.runId)
    if (options.dryRun !== true) for (const runId of ids) store.remove(runId)
    if (context.options.json) output.json({ removed: ids, dryRun: options.dryRun === true })
    else {
      for (const runId of ids) output.line(runId)
      output.note(`${ids.length} ${options.dryRun === true ? 'would be removed' : 'removed'}`)
    }
    return exitCode.done
  },
})

const range = { least: 0, most: 999_999 }
