import { jsonText } from '#core/text'
import { SkillInvocationError } from '#skill/errors'
import { feedbackPart, statePart } from '#exec/agent-clients'
import type { RunResult } from '#chain/engine'
import { allSteps, type Plan, type PlannedTask } from '#chain/plan-model'
import { argumentsOf, haveSecret, type RunLine } from '#chain/run-line'
import { answerWith, type RunAnswer } from '#chain/run-answer'
import { readResult, recordRun, type RunSetup } from '#chain/run-chain'
import type { RunJournal, RunRequest } from '#chain/run-journal'
import { type ChainState, isFinal } from '#chain/step-result'
import {
  continueStepper,
  drive,
  dueCalls,
  dueScripts,
  type HandedStep,
  type NewStepperRun,
  reportStep,
  startStepper,
  type StepperAnswer,
  stepperAnswer,
  type StepReport,
} from '#chain/stepper'
import {
  type ChainProject,
  planKept,
  planNamed,
  type PlannedSkillRun,
  refusalIn,
  usablePlan,
} from './chains.ts'
import { stepContent } from './executors.ts'
import { answerPlace, approveOptions } from './gates.ts'
import { type ConfinementChoice, runSetup } from './run-setup.ts'
import { notify } from './runs.ts'

/*
 * The stepper: an agent executes the steps of a chain one by one. Skillrail executes the scripts, hands
 * out the other steps with everything that they need, takes the reports, and enforces gates and time
 * limits. A caller plans a chain (`planForStepper`) and starts it (`startSteps`), or prepares a run
 * (`continuedRun`) and continues it (`nextSteps`, `reportAboutStep`). Each command plans the chain again,
 * so that a changed skill or a withdrawn trust is refused. docs/internals/architecture.md describes it.
 */

/** A run of the stepper, as one command works on it. */
export interface StepperRun {
  runId: string
  /** The plan of today, which {@link usablePlan} accepted. */
  plan: Plan
  arguments: readonly string[]
}

export interface StepperOptions extends ConfinementChoice {
  /** How hints write command lines; default: those of the project. */
  line?: RunLine
}

/** What an agent or its caller gets: exactly one of `next`, `waiting` and `result`. */
export interface StepperResult {
  runId: string
  dismissed?: StepperAnswer['dismissed'] | undefined
  /** The run has ended, or was interrupted. */
  result?: RunAnswer
  /** The run waits until a user approves this step. */
  waiting?: { step: string; approveWith: string }
  next?: readonly NextStep[]
  /** The arguments contained a secret and are not stored: every later command needs them again. */
  argumentsNeeded?: true | undefined
}

/** A step that an agent has to do and report. */
export interface NextStep extends Omit<HandedStep, 'state'> {
  /** The text of the skill, the references that its triggers inject, and the results so far. */
  content: string
  /** The command line for the report, without `--status`. */
  reportWith: string
}

/** Plans a chain for an agent. {@link usablePlan} says whether it can run. */
export function planForStepper(project: ChainProject, skill: string): PlannedSkillRun {
  return planNamed(project, skill, noChanges, 'stepper')
}

/** Plans a run again, as its skills are now. {@link usablePlan} says whether it can continue. */
export function planAgain(project: ChainProject, { run }: RunJournal): PlannedSkillRun {
  return planKept(project, run)
}

/**
 * The plan of a chain that a model starts, with all of its steps: refuses one with a step that only a user may
 * start.
 *
 * @throws {SkillInvocationError} with the name of that step; and what {@link usablePlan} throws
 */
export async function usableByModel(
  project: ChainProject,
  planned: PlannedSkillRun,
): Promise<Plan> {
  const { plan } = planned
  const withheld = withheldStep(plan)
  if (!withheld) return await usablePlan(project, planned)
  const { step, skill: own } = withheld
  const what = step === '' ? `Skill ${own}` : `The step ${step} of ${plan.skill}`
  throw new SkillInvocationError({
    code: 'model-invocation-disabled',
    message: `${what} may not be started by a model: its skill ${own} sets disable-model-invocation.`,
    hint: `A user can run it: skillrail run ${plan.skill}`,
  })
}

/** Returns a step that only a user may start; its name is empty for the chain itself. */
export function withheldStep({ root }: Plan): { step: string; skill: string } | undefined {
  return [root, ...allSteps(root)].find(
    ({ personOnly, excluded }) => personOnly === true && excluded !== true,
  )
}

const noChanges = { set: [], from: undefined, only: undefined }

/** The request that is stored with a run, so that later commands plan the same chain. */
export function stepperRequest({ directory }: PlannedSkillRun): RunRequest {
  return { directory, ...noChanges }
}

/**
 * Prepares a run for the functions below.
 *
 * @param words the arguments again, if the journal does not have them
 * @throws {SkillNotTrustedError | ChainPlanError} if the chain cannot run as it is now
 * @throws {RunStateError} if the arguments are missing or differ
 */
export async function continuedRun(
  project: ChainProject,
  journal: RunJournal,
  words: readonly string[] = [],
): Promise<StepperRun> {
  const plan = await usablePlan(project, planAgain(project, journal))
  return { runId: journal.run.runId, plan, arguments: argumentsOf(journal, words) }
}

/** Starts a run: executes the scripts that come first, then hands out a step. */
export async function startSteps(
  project: ChainProject,
  planned: NewStepperRun,
  options: StepperOptions = {},
): Promise<StepperResult> {
  return await step(project, planned, options, (setup) => startStepper(planned, setup))
}

/**
 * Records a new run and executes nothing. {@link nextSteps} starts its steps, and {@link scriptsToRun}
 * says whether that takes as long as a script.
 */
export async function recordSteps(
  project: ChainProject,
  planned: NewStepperRun,
  options: StepperOptions = {},
): Promise<StepperRun> {
  const setup = await stepperSetup(project, planned.plan, options)
  const runId = await recordRun({ ...planned, mode: 'stepper' }, setup)
  return { runId, plan: planned.plan, arguments: planned.arguments }
}

/** Executes the scripts that are due, ends steps whose time is over, and returns the current steps. */
export async function nextSteps(
  project: ChainProject,
  run: StepperRun,
  options: StepperOptions = {},
): Promise<StepperResult> {
  return await step(project, run, options, (setup) => continueStepper(run, setup))
}

/** Records what an agent reports about a step, verifies it, and continues as {@link nextSteps}. */
export async function reportAboutStep(
  project: ChainProject,
  run: StepperRun,
  report: StepReport,
  options: StepperOptions = {},
): Promise<StepperResult> {
  return await step(project, run, options, (setup) => reportStep(run, report, setup))
}

/** Executes a run that the caller starts or continues with other functions, as `runs retry` does. */
export async function driveSteps(
  project: ChainProject,
  run: Pick<StepperRun, 'plan' | 'arguments'>,
  options: StepperOptions,
  execute: (setup: RunSetup) => Promise<RunResult>,
): Promise<StepperResult> {
  return await step(project, run, options, (setup) => drive(setup, execute))
}

/** Where a run is, from its journal alone: `next` has no content here, and nothing is executed. */
export async function standingOfSteps(
  { context }: ChainProject,
  journal: RunJournal,
): Promise<{ result: RunResult; answer: StepperAnswer }> {
  const result = await readResult(journal, context.runtime)
  return { result, answer: stepperAnswer(result) }
}

/** The result of a run that has ended; undefined for any other. Executes nothing. */
export async function endedSteps(
  project: ChainProject,
  journal: RunJournal,
): Promise<StepperResult | undefined> {
  if (!isFinal(journal.status)) return undefined
  const { answer } = await standingOfSteps(project, journal)
  return stepperResult(project, { plan: journal.plan, arguments: journal.run.arguments }, answer)
}

/** The scripts that {@link nextSteps} would execute first: it can take as long as they do. */
export async function scriptsToRun(project: ChainProject, runId: string): Promise<PlannedTask[]> {
  return await dueScripts(project.store.read(runId), project.context.runtime)
}

/** The text of a step: its skill with the arguments in place, then what its triggers inject. */
export function textOfStep(
  project: ChainProject,
  { plan, arguments: words }: Pick<StepperRun, 'plan' | 'arguments'>,
  name: string,
): string {
  const planned = allSteps(plan.root).find((candidate) => candidate.step === name)
  if (!planned) return ''
  const { content, references } = stepContent(project, planned, words)
  return references === '' ? content : `${content}\n\n${references.trimEnd()}`
}

/** The text of a step that an agent has, with the state that it was given. */
export async function contentOfStep(
  project: ChainProject,
  run: StepperRun,
  name: string,
): Promise<string> {
  const calls = await dueCalls(project.store.read(run.runId), project.context.runtime)
  const state = calls.find(({ step: { step: due } }) => due === name)?.state
  return withState(textOfStep(project, run, name), state)
}

function withState(text: string, state: ChainState | undefined): string {
  return [text, ...passedOn(state)].join('\n\n')
}

async function step(
  project: ChainProject,
  run: Pick<StepperRun, 'plan' | 'arguments'>,
  options: StepperOptions,
  execute: (setup: RunSetup) => Promise<StepperAnswer>,
): Promise<StepperResult> {
  const answer = await execute(await stepperSetup(project, run.plan, options))
  const { kind, runId } = answer
  if (kind === 'ended') await notify(project, answer.result)
  if (kind === 'approval') await notify(project, { ...answer, runId, status: 'waiting' })
  return stepperResult(project, run, answer)
}

async function stepperSetup(
  project: ChainProject,
  plan: Plan,
  options: StepperOptions,
): Promise<RunSetup> {
  const setup = await runSetup(project, plan, options)
  // Each command reads the lock again before each script.
  return { ...setup, refusalOf: refusalIn(project), line: options.line ?? project.line }
}

function stepperResult(
  project: ChainProject,
  run: Pick<StepperRun, 'plan' | 'arguments'>,
  answer: StepperAnswer,
): StepperResult {
  const { line } = project
  const argumentsNeeded = haveSecret(run.arguments) || undefined
  const { runId, dismissed } = answer
  const head = { runId, dismissed }
  switch (answer.kind) {
    case 'ended':
    case 'interrupted':
      return {
        ...head,
        result: answerWith(answer.result, { ...answerPlace(project, run.plan), argumentsNeeded }),
      }
    case 'approval': {
      const options = approveOptions(run.plan, answer.step, project.context.settings)
      const waiting = { step: answer.step, approveWith: line('runs approve', runId, options) }
      return { ...head, waiting, argumentsNeeded }
    }
    case 'next': {
      const next = answer.next.map(({ state, ...handed }) => {
        const content = withState(textOfStep(project, run, handed.step), state)
        const about = ['--step', handed.step, '--attempt', String(handed.attempt)]
        return { ...handed, content, reportWith: line('chain report', runId, about) }
      })
      return { ...head, next, argumentsNeeded }
    }
  }
}

/** An agent knows its own reports, but not the results of scripts. */
function passedOn(state: ChainState | undefined): string[] {
  const { previous_outputs: outputs = [], feedback } = state ?? {}
  return [
    ...(outputs.length === 0 ? [] : [statePart(jsonText(state))]),
    ...(feedback === undefined ? [] : [feedbackPart(feedback)]),
  ]
}
