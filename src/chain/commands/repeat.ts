import { type Context, defineCommand } from '../../core/command.ts'
import { argumentsOf } from '../run-arguments.ts'
import type { ChainEvent, RunResult } from '../engine.ts'
import { drive } from '../stepper.ts'
import { readResult, type RunSetup } from '../run-chain.ts'
import { reusedResults } from '../reuse.ts'
import { confinementOptions } from './confinement.ts'
import { engineOf, openRun, planToContinue, resumeOn, startOn } from './engine.ts'
import {
  type ExecuteChoice,
  executedAs,
  executeOptions,
  executeRun,
  runArguments,
} from './execute.ts'
import { linesAgain, openProject, planKept, usablePlan } from './project.ts'
import { answerWith, codeOfRun, renderRun, type RunAnswer, runProgress } from './run-text.ts'
import {
  codeOfStepper,
  stepperSetup,
  renderStepper,
  type StepperResult,
  stepperResult,
} from './stepper.ts'

export const resume = defineCommand<RunAnswer, ChainEvent>()({
  arguments: runArguments,
  options: {
    ...confinementOptions,
    force: { kind: 'flag', flags: '--force', help: 'continue although the skills have changed' },
    ...executeOptions,
  },
  examples: ['runs resume 0mh2k9x0ab12cd'],
  async run(context, { arguments: [runId = '', ...given], ...values }) {
    const project = openProject(context)
    const journal = await openRun(project, runId)
    const line = linesAgain(context, values)
    if (journal.status === 'success') {
      context.note(`The run ${runId} has ended; nothing was executed.`)
      return answerWith(await readResult(journal, context.runtime), { line })
    }
    const { force } = values
    const plan = planToContinue(project, journal, { command: 'resume', line, force })
    const resumption = { runId, plan, force, arguments: given.length > 0 ? given : undefined }
    const { request, server } = journal.run
    const choice = { ...values, ...executedAs(request), engine: server?.engine }
    return await executeRun(project, plan, choice, async (setup) =>
      resumeOn(project, journal, resumption, setup),
    )
  },
  progress: runProgress,
  render: renderRun,
  exitCode: codeOfRun,
})

type RepeatedRun = RunAnswer | StepperResult

export const retry = defineCommand<RepeatedRun, ChainEvent>()({
  arguments: runArguments,
  options: { ...confinementOptions, ...executeOptions },
  examples: ['runs retry 0mh2k9x0ab12cd'],
  run: async (context, { arguments: [runId = '', ...given], ...values }) =>
    repeatRun(context, { runId, given }, { kind: 'retry' }, values),
  progress: runProgress,
  render: (result, screen) =>
    isRun(result) ? renderRun(result, screen) : renderStepper(result, screen),
  exitCode: (result) => (isRun(result) ? codeOfRun(result) : codeOfStepper(result)),
})

export const fork = defineCommand<RepeatedRun, ChainEvent>()({
  arguments: runArguments,
  options: {
    ...confinementOptions,
    from: {
      kind: 'text',
      flags: '--from <step>',
      help: 'the first step that is executed again',
      required: true,
    },
    ...executeOptions,
  },
  examples: ['runs fork 0mh2k9x0ab12cd --from deploy'],
  run: async (context, { arguments: [runId = '', ...given], from, ...values }) =>
    repeatRun(context, { runId, given }, { kind: 'fork', from }, values),
  progress: runProgress,
  render: (result, screen) =>
    isRun(result) ? renderRun(result, screen) : renderStepper(result, screen),
  exitCode: (result) => (isRun(result) ? codeOfRun(result) : codeOfStepper(result)),
})

function isRun(result: RepeatedRun): result is RunAnswer {
  return 'attempts' in result
}

async function repeatRun(
  context: Context<ChainEvent>,
  old: { runId: string; given: readonly string[] },
  choice: { kind: 'retry' } | { kind: 'fork'; from: string },
  values: ExecuteChoice,
): Promise<RepeatedRun> {
  const project = openProject(context)
  const journal = await openRun(project, old.runId)
  const { request, mode, requireVerified } = journal.run
  const plan = usablePlan(planKept(project, journal.run))
  const result = await readResult(journal, context.runtime)
  const reused = reusedResults(journal, result, plan, choice)
  context.note(`${reused.length} results are taken over from ${old.runId}`, 'detail')
  const given = argumentsOf(journal, old.given)
  const origin = { runId: old.runId, kind: choice.kind }
  const run = { plan, arguments: given, mode, requireVerified, request, reused, origin }
  const engine = engineOf(journal)
  const start = async (setup: RunSetup): Promise<RunResult> => startOn(project, engine, run, setup)
  if (mode === 'run') {
    const executed = { ...values, ...executedAs(request), engine: engine.engine }
    return await executeRun(project, plan, executed, start)
  }
  const { setup, end } = await stepperSetup(project, plan, values)
  const answer = await end(drive(setup, start))
  return stepperResult(project, { plan, given, answer }, values)
}
