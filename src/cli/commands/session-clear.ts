import { exitCode } from '../../base/index.ts'
import { openWorkflows, sessionOf } from '../_workflow-project.ts'
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
  async run(context, _positionals, { session: id, log = false, dryRun = false }) {
    const { project } = openWorkflows(context)
    const session = sessionOf(context, project, id)
    const { completed } = (await session.read()).state
    const cleared = dryRun ? false : await session.clear({ log })
    const { output } = context
    if (context.options.json) {
      output.json({ id: session.id, path: session.path, workflows: completed.size, cleared })
    } else if (dryRun) {
      output.line(`Session ${session.id} would forget ${completed.size} workflows.`)
    } else {
      output.line(
        cleared
          ? `Session ${session.id} cleared; prerequisites run again.`
          : `Session ${session.id} was empty.`,
      )
    }
    return exitCode.done
  },
})
