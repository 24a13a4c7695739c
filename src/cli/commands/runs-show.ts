import { collect } from '../_collect.ts'
import { exitCode } from '../../base/index.ts'
import { readResult, renderTimeline, statusOfRun, whileRunning } from '../../chain/index.ts'
import { openProject } from '../_chain-project.ts'
import { upToDate } from '../_engine.ts'
import { errorsOfRun, headOfRun } from '../_run-answer.ts'
import { openReports } from '../_run-reports.ts'
import { defineCommand, type LoadedCommand } from '../command.ts'

interface Options {
  report?: readonly string[] | undefined
}

export const command: LoadedCommand = defineCommand<Options>({
  configure(program) {
    program
      .argument('<run>', 'the id of a run')
      .option('--report <format[=file]>', 'json, junit, github or html (repeatable)', collect)
      .addHelpText(
        'after',
        '\nExample:\n  $ skillrail runs show 0mh2k9x0ab12cd --report html=report.html\n',
      )
  },
  async run(context, [runId = ''], options) {
    const project = openProject(context)
    const { output } = context
    const { journal, standing } = await upToDate(project, runId)
    output.diagnostics(journal.diagnostics)
    const reports = openReports(context, options, { summary: undefined })
    const result = await readResult(journal, context.runtime)
    const status = standing ?? statusOfRun(journal, journal.path)
    const shown =
      status === 'running' ? whileRunning(journal, result, context.runtime.now()) : result
    await reports.write(shown)
    if (context.options.json) {
      output.json(shown)
    } else if (!reports.takesOutput) {
      output.line(headOfRun(journal, status))
      for (const line of renderTimeline(shown, { width: output.width, style: output.style })) {
        output.line(line)
      }
      for (const line of errorsOfRun(result)) output.line(line)
    }
    return exitCode.done
  },
})
