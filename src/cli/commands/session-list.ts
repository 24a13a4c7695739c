import { exitCode, hasErrors, safeLine } from '../../base/index.ts'
import { listSessions } from '../../workflow/index.ts'
import { openWorkflows } from '../../tools/commands/workflow-project.ts'
import { defineCommand, type LoadedCommand } from '../command.ts'

export const command: LoadedCommand = defineCommand({
  configure(program) {
    program.addHelpText('after', '\nExample:\n  $ skillrail session list\n')
  },
  async run(context) {
    const { runtime, settings, output } = context
    const { project } = openWorkflows(context)
    const lifetimeMs = settings.tools.sessionHours * 3_600_000
    const sessions = await listSessions({ project, runtime, lifetimeMs })
    const diagnostics = sessions.flatMap((session) => session.diagnostics)
    const code = hasErrors(diagnostics) ? exitCode.badAnswer : exitCode.done
    if (context.options.json) {
      output.json({ sessions })
      return code
    }
    output.diagnostics(diagnostics)
    if (sessions.length === 0) output.note('There are no sessions here.')
    else {
      output.table([
        ['SESSION', 'BEGUN', 'PREREQUISITES', 'CALLS', ''],
        ...sessions.map(({ id, startedAt, completed, calls, current, isOver }) => [
          id,
          safeLine(startedAt ?? '-'),
          String(completed),
          String(calls),
          [current ? 'this one' : '', isOver ? 'over' : '']
            .filter((word) => word !== '')
            .join(', '),
        ]),
      ])
    }
    return code
  },
})
