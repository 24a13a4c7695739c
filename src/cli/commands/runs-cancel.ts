import { exitCode, safeLine } from '../../base/index.ts'
import { openProject } from '../_chain-project.ts'
import { linesAgain } from '../_lines-again.ts'
import { cancelOn } from '../_engine.ts'
import { defineCommand, type LoadedCommand } from '../command.ts'

export const command: LoadedCommand = defineCommand({
  configure(program) {
    program
      .argument('<run>', 'the id of a run')
      .addHelpText('after', '\nExample:\n  $ skillrail runs cancel 0mh2k9x0ab12cd\n')
  },
  async run(context, [runId = '']) {
    await cancelOn(openProject(context), runId)
    const goOn = linesAgain(context)('runs resume', runId)
    if (context.options.json) context.output.json({ runId, status: 'cancelled' })
    else context.output.line(`Cancelled. To go on after all: ${safeLine(goOn)}`)
    return exitCode.done
  },
})
