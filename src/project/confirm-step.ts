import type { StepOutput } from '#exec/output-protocol'
import { runFiles } from '#chain/executors'
import { allSteps, isChain, type PlannedStep, wholeChain } from '#chain/plan-model'
import { StepRunner } from '#chain/step-runner'
import type { ChainProject } from './chains.ts'
import { runSetup } from './run-setup.ts'
import type { StepperRun } from './stepper.ts'

export interface ConfirmedReport {
  /** With the evidence `verified`, or a failure. */
  output: StepOutput
  /** The end of what the check printed. */
  log: string
}

/**
 * Runs the check of a step before its report is recorded, so that a failure ends nothing: the agent can
 * correct its work and report again. The check has the time of the step.
 */
export async function confirmReport(
  project: ChainProject,
  run: StepperRun,
  { step: name, attempt }: { step: string; attempt: number },
  output: StepOutput,
): Promise<ConfirmedReport> {
  const step = allSteps(run.plan.root).find((one) => one.step === name)
  if (!step) throw new Error(`the plan of ${run.runId} has no step ${name}`)
  return await confirmPlanned(project, run, { step, attempt }, output)
}

/** Runs the check of a planned step, as {@link confirmReport} does. */
export async function confirmPlanned(
  project: ChainProject,
  run: StepperRun,
  { step, attempt }: { step: PlannedStep; attempt: number },
  output: StepOutput,
): Promise<ConfirmedReport> {
  const setup = await runSetup(project, run.plan, {})
  const { store, context } = project
  const runner = new StepRunner({
    runId: run.runId,
    workspace: setup.workspace,
    files: runFiles(store.directory, run.runId),
    sharesFiles: true,
    arguments: run.arguments,
    requireVerified: false,
    runtime: setup.runtime,
    settings: setup.settings,
    executors: [],
    confinement: setup.confinement,
    refusalOf: setup.refusalOf,
  })
  const seconds = step.timeout ?? (chainOf(run, step)?.policy.timeout || setup.settings.timeout)
  const limit = seconds === 0 ? undefined : AbortSignal.timeout(seconds * 1000)
  const signals = [context.signal, ...(limit ? [limit] : [])]
  const { output: confirmed, log = '' } = await runner.confirm(
    step,
    `${step.step}#${attempt}`,
    output,
    {
      signal: AbortSignal.any(signals),
    },
  )
  if (limit?.aborted !== true) return { output: confirmed, log }
  const error = { code: 'timeout', message: `its check took longer than ${seconds} s` }
  return { output: { ...confirmed, status: 'failure', errors: [error] }, log }
}

function chainOf({ plan }: StepperRun, step: PlannedStep) {
  return wholeChain(plan.root)
    .filter(isChain)
    .find(({ steps }) => steps.includes(step))
}
