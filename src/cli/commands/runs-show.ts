import { exitCode, safeLine } from '../../base/index.ts'
import {
  readResult,
  renderReport,
  renderTimeline,
  statusOfRun,
  whileRunning,
} from '../../chain/index.ts'
import { openProject } from '../_chain-project.ts'
import { upToDate } from '../_engine.ts'
import { findReportFormat } from '../_report-format.ts'
import { errorsOfRun } from '../_run-answer.ts'
import { defineCommand, type LoadedCommand } from '../command.ts'

interface Options {
  report?: string | undefined
}

export const command: LoadedCommand = defineCommand<Options>({
  configure(program) {
    program
      .argument('<run>', 'the id of a run')
      .option('--report <format>', 'print it as json, junit, github or html')
      .addHelpText('after', '\nExample:\n  $ skillrail runs show 0mh2k9x0ab12cd\n')
  },
  async run(context, [runId = ''], options) {
    const project = openProject(context)
    const { output } = context
    const { journal, standing } = await upToDate(project, runId)
    output.diagnostics(journal.diagnostics)
    const result = await readResult(journal, context.runtime)
    const status = standing ?? statusOfRun(journal, journal.path)
    const shown =
      status === 'running' ? whileRunning(journal, result, context.runtime.now()) : result
    if (options.report !== undefined) {
      output.raw(renderReport(findReportFormat(options.report), result))
    } else if (context.options.json) {
      output.json(shown)
    } else {
      output.line(`${safeLine(result.skill)}: ${status}, run ${runId}, begun ${journal.run.at}`)
      for (const line of renderTimeline(shown, { width: output.width, style: output.style })) {
        output.line(line)
      }
      for (const line of errorsOfRun(result)) output.line(line)
    }
    return exitCode.done
  },
})
