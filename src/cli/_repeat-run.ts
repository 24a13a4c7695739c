import type { ExitCode } from '../base/index.ts'
import {
  argumentsOf,
  drive,
  readResult,
  reusedResults,
  type RunResult,
  type RunWorld,
} from '../chain/index.ts'
import { openProject, planKept, usablePlan } from './_chain-project.ts'
import { engineOf, startOn } from './_engine.ts'
import { type ExecuteOptions, executeRun } from './_execute-run.ts'
import { instructionChoice } from './_instructions.ts'
import { openRun } from './_open-run.ts'
import { answerStepper, withStepperWorld } from './_stepper-answer.ts'
import type { CommandContext } from './command.ts'

/** Makes a new run that takes over results of an old one. */
export async function repeatRun(
  context: CommandContext,
  old: { runId: string; arguments: readonly string[] },
  choice: { kind: 'retry' } | { kind: 'fork'; from: string },
  options: ExecuteOptions,
): Promise<ExitCode> {
  const project = openProject(context)
  const journal = await openRun(project, old.runId)
  const { request, mode, requireVerified } = journal.run
  const plan = usablePlan(planKept(project, journal.run))
  const result = await readResult(journal, context.runtime)
  const reused = reusedResults(journal, result, plan, choice)
  context.output.detail(`${reused.length} results are taken over from ${old.runId}`)
  const given = argumentsOf(journal, old.arguments)
  const repeat = async (world: RunWorld): Promise<RunResult> =>
    startOn(
      project,
      engineOf(journal),
      {
        plan,
        arguments: given,
        mode,
        requireVerified,
        request,
        reused,
        origin: { runId: old.runId, kind: choice.kind },
      },
      world,
    )
  if (mode === 'run') {
    const { engine } = engineOf(journal)
    return await executeRun(
      project,
      plan,
      { ...options, ...instructionChoice(request), engine },
      repeat,
    )
  }
  const answer = await withStepperWorld(project, plan, options, async (world) =>
    drive(world, repeat),
  )
  return answerStepper(project, plan, given, answer, options)
}
