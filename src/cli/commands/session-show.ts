import { exitCode, safeLine, UsageError } from '../../base/index.ts'
import type { SessionState } from '../../workflow/index.ts'
import { openWorkflows, sessionOf } from '../_workflow-project.ts'
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
    const limit = Number(options.calls)
    if (!Number.isInteger(limit) || limit < 0) {
      throw new UsageError({ code: 'wrong-use', message: '--calls must be a whole number' })
    }
    const { project } = openWorkflows(context)
    const session = sessionOf(context, project, options.session)
    const { state, diagnostics } = await session.read()
    const log = await session.calls()
    const calls = limit === 0 ? [] : log.calls.slice(-limit)
    const found = [...diagnostics, ...log.diagnostics]
    const { output } = context
    if (context.options.json) {
      const { id, path, logPath } = session
      const { startedAt } = state
      const completed = completions(state)
      output.json({ id, path, logPath, startedAt, completed, calls, diagnostics: found })
      return exitCode.done
    }
    output.diagnostics(found)
    output.line(`Session ${session.id}, begun ${safeLine(state.startedAt)}`)
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
    return exitCode.done
  },
})

function completions(
  state: SessionState,
): { workflow: string; tool: string; scope: object; at: string; result: string }[] {
  return Array.from(state.completed, ([workflow, tools]) =>
    Array.from(tools, ([tool, list]) => list.map((item) => ({ workflow, tool, ...item }))),
  ).flat(2)
}
