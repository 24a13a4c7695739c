import { resumeRun } from '../../chain/index.ts'
import { openProject, planKept, usablePlan } from '../_chain-project.ts'
import { type ExecuteOptions, executeRun } from '../_execute-run.ts'
import { defineCommand, type LoadedCommand } from '../command.ts'

interface Options extends ExecuteOptions {
  force?: boolean | undefined
}

export const command: LoadedCommand = defineCommand<Options>({
  configure(program) {
    program
      .argument('<run>', 'the id of a run')
      .argument('[arguments...]', 'the arguments again, where they held a secret')
      .option('--force', 'go on although the skills have changed')
      .option('--yes-gates', 'approve every gate in advance')
      .addHelpText('after', '\nExample:\n  $ skillrail runs resume 0mh2k9x0ab12cd\n')
  },
  async run(context, [runId = '', ...given], options) {
    const project = openProject(context)
    const { run } = project.store.read(runId)
    const planned = planKept(project, run.request.directory, run.request)
    const plan = usablePlan(planned)
    return await executeRun(project, options, async (world) =>
      resumeRun(
        {
          runId,
          plan,
          force: options.force,
          arguments: given.length > 0 ? given : undefined,
        },
        world,
      ),
    )
  },
})
