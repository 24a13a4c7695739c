import { type Context, defineCommand, option } from '../../core/command.ts'
import type { ChainEvent, RunResult } from '../engine.ts'
import { StepNotFoundError } from '../errors.ts'
import type { DoneRecord } from '../journal-records.ts'
import { allSteps, isChain, type Plan } from '../plan-model.ts'
import { type WalkedStep, walkResult } from '../step-result.ts'
import { argumentsOf } from '../run-line.ts'
import { readResult, refuseImported, type RunSetup } from '../run-chain.ts'
import type { RunJournal } from '../run-journal.ts'
import { drive } from '../stepper.ts'
import {
  confinementOptions,
  type ExecuteChoice,
  executedAs,
  executeOptions,
  executeRun,
  runArguments,
  startOn,
} from './execute.ts'
import { engineOf, openRun, planToContinue, resumeOn } from './engine.ts'
import { linesAgain, openProject, planKept, usablePlan } from './project.ts'
import { answerWith, codeOfRun, renderRun, type RunAnswer, runProgress } from './run-text.ts'
import {
  codeOfStepper,
  renderStepper,
  type StepperResult,
  stepperResult,
  stepperSetup,
} from './stepper.ts'

export const resume = defineCommand<RunAnswer, ChainEvent>()({
  arguments: runArguments,
  options: {
    ...confinementOptions,
    force: option.flag('--force', 'continue although the skills have changed'),
    ...executeOptions,
  },
  examples: ['runs resume 0mh2k9x0ab12cd'],
  async run(context, { arguments: [named = '', ...given], ...values }) {
    const project = openProject(context)
    const runId = project.store.idOf(named)
    const journal = await openRun(project, runId)
    const line = linesAgain(context, values)
    if (journal.status === 'success') {
      context.note(`The run ${runId} has ended; nothing was executed.`)
      return answerWith(await readResult(journal, context.runtime), { line })
    }
    const { force } = values
    const plan = await planToContinue(project, journal, { command: 'resume', line, force })
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
    from: option.text('--from <step>', 'the first step that is executed again', { required: true }),
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
  const runId = project.store.idOf(old.runId)
  const journal = await openRun(project, runId)
  refuseImported(journal)
  const { request, mode, requireVerified } = journal.run
  const plan = await usablePlan(project, planKept(project, journal.run))
  const result = await readResult(journal, context.runtime)
  const reused = reusedResults(journal, result, plan, choice)
  context.note(`${reused.length} results are taken over from ${runId}`, 'detail')
  const given = argumentsOf(journal, old.given)
  const origin = { runId, kind: choice.kind }
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

/** What a new run takes over: `retry` the successes, `fork` every result before `from`. */
export function reusedResults(
  journal: RunJournal,
  result: RunResult,
  plan: Plan,
  choice: { kind: 'retry' } | { kind: 'fork'; from: string },
): DoneRecord[] {
  const planned = allSteps(plan.root)
  const before = new Map(allSteps(journal.plan.root).map((step) => [step.step, step.digest]))
  const limit = choice.kind === 'fork' ? positionOf(planned, choice.from, plan) : planned.length
  const wanted = new Map(
    planned
      .slice(0, limit)
      .filter((step) => !isChain(step) && before.get(step.step) === step.digest)
      .map((step) => [step.step, step]),
  )
  return walkResult(result).flatMap((walked) => {
    const record = journal.done.get(walked.key)
    if (!walked.leaf || record === undefined || !wanted.has(walked.step.step)) return []
    const { outcome } = record
    if (outcome.kind !== 'finished' || outcome.rejected === true) return []
    if (choice.kind === 'retry' && outcome.output.status !== 'success') return []
    return [{ type: 'done', key: firstAttemptKey(walked), outcome, reused: true }]
  })
}

function positionOf(steps: readonly { step: string }[], from: string, plan: Plan): number {
  const position = steps.findIndex((step) => step.step === from)
  if (position !== -1) return position
  throw new StepNotFoundError({
    code: 'step-unknown',
    message: `${plan.skill} has no step ${from}`,
    hint: `Its steps are ${steps.map((step) => step.step).join(', ')}.`,
  })
}

function firstAttemptKey(walked: WalkedStep): string {
  return walked.key.replace(/(^|\/)[\d.]+:/g, '$11:')
}
