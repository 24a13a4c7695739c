import type { Context } from '#core/command'
import type { ChainEvent, RunResult } from '#chain/engine'
import { wrongUse } from '#core/errors'
import { stepUnknown } from '#chain/errors'
import { allSteps, isChain, type Plan } from '#chain/plan-model'
import type { RunAnswer } from '#chain/run-answer'
import { refuseImported } from '#chain/continuation'
import { readResult, type RunSetup } from '#chain/run-chain'
import type { DoneRecord, RunJournal } from '#chain/run-journal'
import { argumentsOf } from '#chain/run-line'
import { walkResult } from '#chain/step-result'
import { planKept, usablePlan } from './chains.ts'
import { choiceOf, confirmLostGates } from './continue-run.ts'
import { startOn } from './engines.ts'
import type { ExecuteChoice } from './run-setup.ts'
import { executeRun } from './runs.ts'
import { driveSteps, type StepperResult } from './stepper.ts'
import { openRun } from './stored-runs.ts'

/** A new run with results of another one: its successes, or every result before a step. */
export type Repetition = { kind: 'retry' } | { kind: 'fork'; from: string }

export type RepeatedRun = RunAnswer | StepperResult

/** Starts a run again. A run of the stepper hands out its first step. */
export async function repeatRun(
  context: Context<ChainEvent>,
  { name, arguments: words }: { name: string; arguments: readonly string[] },
  choice: Repetition,
  options: ExecuteChoice & { report: readonly string[] },
): Promise<RepeatedRun> {
  const { project, runId, journal } = await openRun(context, name, options)
  refuseImported(journal)
  const { request, mode, requireVerified, server = {} } = journal.run
  if (mode !== 'run' && options.report.length > 0) {
    const hint = `Make the report at the end: ${project.line('runs show', 'latest', ['--report', 'html'])}`
    throw wrongUse('--report: an agent executes this run, and has done no step of it yet', hint)
  }
  const plan = await usablePlan(project, planKept(project, journal.run))
  const result = await readResult(journal, context.runtime)
  const reused = reusedResults(journal, result, plan, choice)
  context.note(`${reused.length} results are taken over from ${runId}`, 'detail')
  const all = argumentsOf(journal, words)
  const origin = { runId, kind: choice.kind }
  const again =
    choice.kind === 'retry'
      ? project.line('runs retry', runId)
      : project.line('runs fork', runId, ['--from', choice.from])
  const removedGates = await confirmLostGates(context, journal, plan, again)
  const facts = { mode, requireVerified, request, reused, origin, removedGates }
  const run = { ...facts, plan, arguments: all }
  const start = async (setup: RunSetup): Promise<RunResult> => startOn(project, server, run, setup)
  if (mode === 'run') return await executeRun(project, plan, choiceOf(journal, options), start)
  return await driveSteps(project, run, options, start)
}

/** The results that a new run takes over. */
function reusedResults(
  journal: RunJournal,
  result: RunResult,
  plan: Plan,
  choice: Repetition,
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
    if (!walked.leaf || !record || !wanted.has(walked.step.step)) return []
    const { outcome } = record
    if (outcome.kind !== 'finished' || outcome.rejected) return []
    if (choice.kind === 'retry' && outcome.output.status !== 'success') return []
    const key = walked.key.replace(/(^|\/)[\d.]+:/g, '$11:')
    return [{ type: 'done', key, outcome, reused: true }]
  })
}

function positionOf(steps: readonly { step: string }[], from: string, plan: Plan): number {
  const names = steps.map(({ step }) => step)
  if (names.includes(from)) return names.indexOf(from)
  throw stepUnknown(plan.skill, from, names)
}
