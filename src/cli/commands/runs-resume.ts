import { readResult } from '../../chain/index.ts'
import { declareConfinement } from '../_confinement.ts'
import { openProject } from '../_chain-project.ts'
import { resumeOn } from '../_engine.ts'
import { type ExecuteOptions, executeRun } from '../_execute-run.ts'
import { instructionChoice } from '../_instructions.ts'
import { linesAgain } from '../_lines-again.ts'
import { openRun, planToGoOn } from '../_open-run.ts'
import { answerRun } from '../_run-answer.ts'
import { defineCommand, type LoadedCommand } from '../command.ts'

interface Options extends ExecuteOptions {
  force?: boolean | undefined
}

export const command: LoadedCommand = defineCommand<Options>({
  configure(program) {
    declareConfinement(program)
    program
      .argument('<run>', 'the id of a run')
      .argument('[arguments...]', 'the arguments again, where they held a secret')
      .option('--force', 'go on although the skills have changed')
      .option('--yes-gates', 'approve every gate in advance')
      .option('--max-time <seconds>', 'end the whole run after this time; it can be resumed')
      .addHelpText('after', '\nExample:\n  $ skillrail runs resume 0mh2k9x0ab12cd\n')
  },
  async run(context, [runId = '', ...given], options) {
    const project = openProject(context)
    const journal = await openRun(project, runId)
    const { run } = journal
    if (journal.status === 'success') {
      // Its answer may have been lost with the process that had it.
      context.output.note(`The run ${runId} has ended; nothing was executed.`)
      return answerRun(context, await readResult(journal, context.runtime))
    }
    const plan = planToGoOn(project, journal, {
      command: 'resume',
      line: linesAgain(context, options),
      force: options.force,
    })
    const engine = run.server?.engine
    return await executeRun(
      project,
      plan,
      { ...options, ...instructionChoice(run.request), engine },
      async (world) =>
        resumeOn(
          project,
          journal,
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
