import { exitCode, hasErrors, safeLine } from '../../base/index.ts'
import { completions } from '../_completions.ts'
import { readSession } from '../_named-session.ts'
import { wholeNumber } from '../../base/option-values.ts'
import { defineCommand, type LoadedCommand } from '../command.ts'

interface Options {
  session?: string | undefined
  calls: string
}

export const command: LoadedCommand = defineCommand<Options>({
  configure(program) {
    program
      .option('--session <id>', 'another session than the one of this shell')
      .option('--calls <number>', 'how many of the latest calls', '20')
      .addHelpText('after', '\nExample:\n  $ skillrail session show\n')
  },
  async run(context, _positionals, options) {
    const limit = wholeNumber('--calls', options.calls, { least: 0, most: 999_999 })
    const { session, reading, log } = await readSession(context, options.session)
    const { state, isOver } = reading
    const calls = limit === 0 ? [] : log.calls.slice(-limit)
    const found = [...reading.diagnostics, ...log.diagnostics]
    const code = hasErrors(found) ? exitCode.badAnswer : exitCode.done
    const startedAt = reading.begun ?? log.calls[0]?.at
    const { output } = context
    if (context.options.json) {
      const { id, path, logPath } = session
      const completed = completions(state)
      output.json({ id, path, logPath, startedAt, isOver, completed, calls, diagnostics: found })
      return code
    }
    output.diagnostics(found)
    output.line(`Session ${session.id}, ${beginning(startedAt, isOver)}`)
    output.line(safeLine(session.path))
    const rows = completions(state)
    if (rows.length === 0) output.line('No prerequisite has run.')
    output.table(
      rows.map(({ workflow, tool, scope, at, result }) => [
        `  ${safeLine(workflow)}`,
        safeLine(tool),
        safeLine(JSON.stringify(scope)),
        safeLine(at),
        safeLine(result).slice(0, 60),
      ]),
    )
    if (calls.length > 0) output.line('Calls:')
    output.table(
      calls.map(({ at, tool, durationMs, outcome, size }) => [
        `  ${safeLine(at)}`,
        safeLine(tool),
        safeLine(outcome),
        `${durationMs} ms`,
        `${size} bytes`,
      ]),
    )
    return code
  },
})

function beginning(startedAt: string | undefined, isOver: boolean): string {
  if (startedAt === undefined) return 'not begun yet'
  return `begun ${safeLine(startedAt)}${isOver ? '; it is over, and the next call begins a new one' : ''}`
}
