import { decideGate } from '../_decide-gate.ts'
import { defineCommand, type LoadedCommand } from '../command.ts'

interface Options {
  step?: string | undefined
}

export const command: LoadedCommand = defineCommand<Options>({
  configure(program) {
    program
      .argument('<run>', 'the id of a run that waits')
      .option('--step <step>', 'which step, where several wait')
      .addHelpText('after', '\nExample:\n  $ skillrail runs reject 0mh2k9x0ab12cd\n')
  },
  run: async (context, [runId = ''], options) =>
    decideGate(context, { runId, step: options.step, approved: false, given: [] }, {}),
})
