import { exitCode, safeLine } from '../../base/index.ts'
import { statusOfRun } from '../../chain/index.ts'
import { openProject } from '../_chain-project.ts'
import { listRuns } from '../_engine.ts'
import { runRow } from '../_run-row.ts'
import { defineCommand, type LoadedCommand } from '../command.ts'

export const command: LoadedCommand = defineCommand({
  configure(program) {
    program.addHelpText('after', '\nExample:\n  $ skillrail runs list --json\n')
  },
  async run(context) {
    const { output } = context
    const { runs, standings, diagnostics } = await listRuns(openProject(context))
    const rows = runs.map((journal) => {
      const standing = standings.get(journal.run.runId)
      return runRow(journal, standing ?? statusOfRun(journal, journal.path))
    })
    if (context.options.json) {
      output.json({ runs: rows, diagnostics })
      return exitCode.done
    }
    output.diagnostics(diagnostics)
    if (rows.length === 0) {
      const isUnknown = diagnostics.length > 0
      output.note(isUnknown ? 'No run here can be read.' : noRuns)
    } else {
      output.table([
        ['RUN', 'SKILL', 'STATUS', 'STEPS', 'BEGUN'],
        ...rows.map(({ runId, skill, status, finishedSteps, startedAt }) => [
          runId,
          safeLine(skill),
          status,
          String(finishedSteps),
          startedAt,
        ]),
      ])
    }
    return exitCode.done
  },
})

const noRuns = 'There are no runs here. `skillrail run SKILL` makes one.'
