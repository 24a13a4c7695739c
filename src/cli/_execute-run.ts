import { exitCode, type ExitCode } from '../base/index.ts'
import type { RunResult, RunWorld } from '../chain/index.ts'
import type { ChainProject } from './_chain-project.ts'
import { showProgress } from './_progress.ts'
import { answerRun, codeOfRun } from './_run-answer.ts'
import { openReports, type ReportOptions } from './_run-reports.ts'

export interface ExecuteOptions extends ReportOptions {
  yesGates?: boolean | undefined
}

/** Runs something with progress, writes the reports that were asked for, and prints the answer. */
export async function executeRun(
  project: ChainProject,
  options: ExecuteOptions,
  work: (world: RunWorld) => Promise<RunResult>,
): Promise<ExitCode> {
  const { context, workspace, store } = project
  const reports = openReports(context, options)
  const progress = showProgress(context.output)
  let result: RunResult
  try {
    result = await work({
      runtime: context.runtime,
      workspace,
      store,
      settings: context.settings.run,
      signal: context.signal,
      yesGates: options.yesGates,
      onEvent(event) {
        progress.listener(event)
        reports.onEvent?.(event)
      },
    })
  } finally {
    progress.close()
  }
  await reports.write(result)
  if (!reports.takesOutput) return answerRun(context, result)
  const code = codeOfRun(result)
  if (code === exitCode.interrupted) {
    context.output.note(`Go on: skillrail runs resume ${result.runId}`)
  }
  return code
}
