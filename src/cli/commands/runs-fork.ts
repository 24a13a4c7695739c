import { declareConfinement } from '../_confinement.ts'
import type { ExecuteOptions } from '../_execute-run.ts'
import { repeatRun } from '../_repeat-run.ts'
import { defineCommand, type LoadedCommand } from '../command.ts'

interface Options extends ExecuteOptions {
  from: string
}

export const command: LoadedCommand = defineCommand<Options>({
  configure(program) {
    declareConfinement(program)
    program
      .argument('<run>', 'the id of a run')
      .argument('[arguments...]', 'the arguments again, where they held a secret')
      .requiredOption('--from <step>', 'the first step that is executed again')
      .option('--yes-gates', 'approve every gate in advance')
      .option('--max-time <seconds>', 'end the whole run after this time; it can be resumed')
      .addHelpText('after', '\nExample:\n  $ skillrail runs fork 0mh2k9x0ab12cd --from deploy\n')
  },
  run: async (context, [runId = '', ...given], options) =>
    repeatRun(context, { runId, arguments: given }, { kind: 'fork', from: options.from }, options),
})
