import { exitCode, safeLine } from '../../base/index.ts'
import { completedCount } from '../../workflow/index.ts'
import { amount } from '../../base/text.ts'
import { readSession } from '../_named-session.ts'
import { defineCommand, type LoadedCommand } from '../command.ts'

interface Options {
  session?: string | undefined
  log?: boolean | undefined
  dryRun?: boolean | undefined
}

export const command: LoadedCommand = defineCommand<Options>({
  configure(program) {
    program
      .option('--session <id>', 'another session than the one of this shell')
      .option('--log', 'delete its log of calls too')
      .option('--dry-run', 'say what would be forgotten')
      .addHelpText('after', '\nExample:\n  $ skillrail session clear\n')
  },
  async run(context, _positionals, { session: named, log: withLog = false, dryRun = false }) {
    const { session, reading, log } = await readSession(context, named)
    const { id, path } = session
    const workflows = [...reading.state.completed.keys()]
    const prerequisites = completedCount(reading.state)
    const calls = withLog ? log.calls.length : 0
    if (dryRun) context.output.diagnostics(reading.diagnostics)
    const cleared = dryRun ? false : await session.clear({ log: withLog })
    const { output } = context
    if (context.options.json) {
      output.json({ id, path, workflows, prerequisites, calls, cleared })
      return exitCode.done
    }
    const of = safeLine(workflows.join(', '))
    const forgotten = `${amount(prerequisites, 'finished prerequisite')} of ${of}`
    if (prerequisites > 0) {
      output.line(
        dryRun
          ? `Session ${id} would forget ${forgotten}.`
          : `Session ${id} cleared: ${forgotten} will run again.`,
      )
    } else output.line(`Nothing to clear in session ${id}: no prerequisite has finished.`)
    if (calls > 0) {
      output.line(`Its log of ${amount(calls, 'call')} ${dryRun ? 'would be' : 'is'} deleted.`)
    } else if (log.calls.length > 0) {
      output.note(`Its log of ${amount(log.calls.length, 'call')} stays; --log deletes it.`)
    }
    return exitCode.done
  },
})
