import type { ExitCode } from '../base/index.ts'
import { argumentsOf, readResult, reusedResults, startRun } from '../chain/index.ts'
import { openProject, planKept, usablePlan } from './_chain-project.ts'
import { type ExecuteOptions, executeRun } from './_execute-run.ts'
import type { CommandContext } from './command.ts'

/** Makes a new run that takes over results of an old one. */
export async function repeatRun(
  context: CommandContext,
  old: { runId: string; arguments: readonly string[] },
  choice: { kind: 'retry' } | { kind: 'fork'; from: string },
  options: ExecuteOptions,
): Promise<ExitCode> {
  const project = openProject(context)
  const journal = project.store.read(old.runId)
  const { request, mode, requireVerified } = journal.run
  const planned = planKept(project, request.directory, request)
  const plan = usablePlan(planned)
  const result = await readResult(journal, context.runtime)
  const reused = reusedResults(journal, result, plan, choice)
  context.output.detail(`${reused.length} results are taken over from ${old.runId}`)
  return await executeRun(project, options, async (world) =>
    startRun(
      {
        plan,
        arguments: argumentsOf(journal, old.arguments),
        mode,
        requireVerified,
        request,
        reused,
        origin: { runId: old.runId, kind: choice.kind },
      },
      world,
    ),
  )
}
