import { exitCode, safeLine } from '../../base/index.ts'
import { readResult, renderTimeline, stepperAnswer } from '../../chain/index.ts'
import { openProject } from '../_chain-project.ts'
import { linesAgain } from '../_lines-again.ts'
import { openRun } from '../_open-run.ts'
import { errorsOfRun, headOfRun } from '../_run-answer.ts'
import { defineCommand, type LoadedCommand } from '../command.ts'

export const command: LoadedCommand = defineCommand({
  configure(program) {
    program
      .argument('<run>', 'the id that chain start printed')
      .addHelpText('after', '\nExample:\n  $ skillrail chain status 0mh2k9x0ab12cd\n')
  },
  async run(context, [runId = '']) {
    const { output } = context
    const journal = await openRun(openProject(context), runId)
    const result = await readResult(journal, context.runtime)
    const answer = stepperAnswer(result)
    const next = answer.kind === 'next' ? answer.next : []
    if (context.options.json) {
      output.json({ runId, status: result.status, next, result })
      return exitCode.done
    }
    output.line(headOfRun(journal, result.status))
    for (const line of renderTimeline(result, { width: output.width, style: output.style })) {
      output.line(line)
    }
    for (const { step, overdue } of next) {
      output.line(
        overdue === true
          ? `the time of ${safeLine(step)} is over, a report does not count any more: ${safeLine(linesAgain(context)('chain next', runId))}`
          : `waits for the report of ${safeLine(step)}`,
      )
    }
    for (const line of errorsOfRun(result)) output.line(line)
    return exitCode.done
  },
})
