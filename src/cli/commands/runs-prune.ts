import { exitCode, UsageError } from '../../base/index.ts'
import { prunableRuns, removeRuns } from '../../chain/index.ts'
import { openProject } from '../_chain-project.ts'
import { wholeNumber } from '../../base/option-values.ts'
import { type CommandContext, defineCommand, type LoadedCommand } from '../command.ts'

interface Options {
  olderThan?: string | undefined
  keep?: string | undefined
  unfinished?: boolean | undefined
  dryRun?: boolean | undefined
  yes?: boolean | undefined
}

export const command: LoadedCommand = defineCommand<Options>({
  configure(program) {
    program
      .option('--older-than <days>', 'only runs untouched for so many days')
      .option('--keep <count>', 'the newest so many runs stay')
      .option('--unfinished', 'also runs that could still be resumed')
      .option('--dry-run', 'only say which')
      .option('--yes', 'all of them without a question, where no other option limits it')
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
    const isLimited = options.olderThan !== undefined || options.keep !== undefined
    const isAsked = !isLimited && options.dryRun !== true && options.yes !== true && ids.length > 0
    if (isAsked && !(await agreed(context, ids.length))) {
      output.note('Nothing was removed.')
      return exitCode.refused
    }
    const dryRun = options.dryRun === true
    const { removed, diagnostics } = dryRun
      ? { removed: ids, diagnostics: [] }
      : removeRuns(store, ids)
    output.diagnostics(diagnostics)
    if (context.options.json) output.json({ removed, dryRun })
    else {
      for (const runId of removed) output.line(runId)
      output.note(`${removed.length} ${dryRun ? 'would be removed' : 'removed'}`)
    }
    return diagnostics.length > 0 ? exitCode.badAnswer : exitCode.done
  },
})

/**
 * Whoever names neither an age nor a number may not know that it means every one.
 * @throws {UsageError} where nobody can be asked.
 */
async function agreed(context: CommandContext, count: number): Promise<boolean> {
  const what = count === 1 ? 'one run, whatever its age' : `${count} runs, whatever their age`
  const answer = await context.ask(`Remove ${what}? [y/N] `)
  if (answer !== undefined) return /^y(?:es)?$/i.test(answer.trim())
  throw new UsageError({
    code: 'prune-unlimited',
    message: `this would remove ${what}, and nobody at a terminal agreed to it`,
    hint: 'Say which: --older-than DAYS or --keep COUNT; --yes for all; --dry-run lists them.',
  })
}

const range = { least: 0, most: 999_999 }
