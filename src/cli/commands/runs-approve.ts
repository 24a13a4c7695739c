import { type ConfinementOptions, declareConfinement } from '../_confinement.ts'
import { decideGate } from '../_decide-gate.ts'
import { defineCommand, type LoadedCommand } from '../command.ts'

interface Options extends ConfinementOptions {
  step?: string | undefined
}

export const command: LoadedCommand = defineCommand<Options>({
  configure(program) {
    declareConfinement(program)
    program
      .argument('<run>', 'the id of a run that waits')
      .argument('[arguments...]', 'the arguments again, where they held a secret')
      .option('--step <step>', 'which step, where several wait')
      .addHelpText('after', '\nExample:\n  $ skillrail runs approve 0mh2k9x0ab12cd\n')
  },
  run: async (context, [runId = '', ...given], options) =>
    decideGate(context, { runId, step: options.step, approved: true, given }, options),
})
