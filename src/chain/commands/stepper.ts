import { defineCommand, option, type Screen } from '#core/command'
import { exitCode, type ExitCode, wrongUse } from '#core/errors'
import { jsonText, linesText, safeLine } from '#core/text'
import { statePart } from '#exec/agent-clients'
import type { StepOutput } from '#exec/output-protocol'
import { allSteps, type Plan } from '#chain/plan-model'
import { argumentsOf, holdSecret } from '#chain/run-line'
import type { ChainEvent, RunResult } from '#chain/engine'
import { type ChainState, isFinal } from '#chain/step-result'
import { renderTimeline } from '#chain/timeline'
import {
  continueStepper,
  type HandedStep,
  reportStep,
  startStepper,
  type StepperAnswer,
  stepperAnswer,
} from '#chain/stepper'
import { readResult, type RunSetup } from '#chain/run-chain'
import {
  type ConfinementChoice,
  confinementOptions,
  notify,
  openRun,
  runArgument,
  runArguments,
  runSetup,
} from './execute.ts'
import { stepContent } from './executors.ts'
import { type ChainProject, openProject, planKept, planNamed, usablePlan } from './project.ts'
import {
  answerWith,
  argumentsAgain,
  codeOfRun,
  errorsOfRun,
  headOfRun,
  renderRun,
  type RunAnswer,
  runProgress,
} from './run-text.ts'

export interface StepperResult {
  runId: string
  dismissed?: StepperAnswer['dismissed'] | undefined
  result?: RunAnswer
  waiting?: { step: string; approveWith: string }
  next?: readonly NextStep[]
  /** The arguments held a secret, are not kept, and have to be given again. */
  argumentsNeeded?: true | undefined
}

interface NextStep extends Omit<HandedStep, 'state'> {
  content: string
  reportWith: string
}

export const stepperShown = {
  progress: runProgress,
  render: renderStepper,
  exitCode: codeOfStepper,
} as const

export const start = defineCommand<StepperResult, ChainEvent>()({
  arguments: {
    '<skill>': 'a name, a directory, or a SKILL.md',
    '[arguments...]': 'for every step',
  },
  options: {
    ...confinementOptions,
    requireVerified: option.flag(
      '--require-verified',
      'a success needs more than the word of an agent',
    ),
  },
  examples: ['chain start review-and-deploy'],
  async run(context, { arguments: [reference = '', ...given], ...values }) {
    const project = openProject(context, values)
    const changes = { set: [], from: undefined, only: undefined }
    const planned = planNamed(project, reference, changes, 'stepper')
    const plan = await usablePlan(project, planned)
    const { requireVerified } = values
    const request = { directory: planned.directory, ...changes }
    const run = { arguments: given, request, requireVerified }
    return await stepped(project, { plan, given }, values, (setup) =>
      startStepper(plan, run, setup),
    )
  },
  ...stepperShown,
})

export const next = defineCommand<StepperResult, ChainEvent>()({
  arguments: runArguments,
  options: confinementOptions,
  examples: ['chain next 0mh2k9x0ab12cd'],
  async run(context, { arguments: [named = '', ...given], ...values }) {
    const { project, runId, journal } = await openRun(context, named, values)
    const { run } = journal
    if (isFinal(journal.status)) {
      const answer = stepperAnswer(await readResult(journal, context.runtime))
      return stepperResult(project, { plan: journal.plan, given: run.arguments, answer })
    }
    const plan = await usablePlan(project, planKept(project, run))
    const all = argumentsOf(journal, given)
    return await stepped(project, { plan, given: all }, values, (setup) =>
      continueStepper(runId, plan, setup, given),
    )
  },
  ...stepperShown,
})

export const report = defineCommand<StepperResult, ChainEvent>()({
  arguments: runArguments,
  options: {
    ...confinementOptions,
    step: option.text('--step <step>', 'the step that was done', { required: true }),
    attempt: option.integer('--attempt <number>', 'its attempt, as the instructions name it', {
      least: 1,
      most: 999_999,
    }),
    status: option.choice('--status <status>', 'success, failure or critical', {
      choices: ['success', 'failure', 'critical'],
      required: true,
    }),
    result: option.text('--result <text>', 'what was done, in one sentence'),
    error: option.list('--error <text>', 'one error (repeatable)'),
    metric: option.list('--metric <name=number>', 'one measurement (repeatable)'),
  },
  examples: ['chain report 0mh2k9x0ab12cd --step review --status success --result "no findings"'],
  async run(context, { arguments: [named = '', ...given], ...values }) {
    const output: StepOutput = {
      status: values.status,
      result: values.result ?? '',
      errors: values.error.map((message) => ({ code: 'reported', message })),
      metrics: Object.fromEntries(values.metric.map((text) => metricOf(text))),
      evidence: 'self-reported',
    }
    const { project, runId, journal } = await openRun(context, named, values)
    const plan = await usablePlan(project, planKept(project, journal.run))
    const all = argumentsOf(journal, given)
    const { step, attempt } = values
    return await stepped(project, { plan, given: all }, values, (setup) =>
      reportStep({ runId, step, attempt, output }, plan, setup, given),
    )
  },
  ...stepperShown,
})

interface StatusResult {
  runId: string
  status: RunResult['status']
  /** With what continues the run, where the time of the step is over. */
  next: readonly (HandedStep & { continueWith?: string })[]
  result: RunResult
  startedAt: string
}

export const status = defineCommand<StatusResult>()({
  arguments: runArgument,
  options: {},
  examples: ['chain status 0mh2k9x0ab12cd'],
  async run(context, { arguments: [named = ''] }) {
    const { project, runId, journal } = await openRun(context, named)
    const result = await readResult(journal, context.runtime)
    const answer = stepperAnswer(result)
    const continueWith = project.line('chain next', runId)
    const steps = answer.kind === 'next' ? answer.next : []
    const next = steps.map((step) => (step.overdue ? { ...step, continueWith } : step))
    return { runId, status: result.status, next, result, startedAt: journal.run.at }
  },
  render: (shown, screen) =>
    linesText([
      headOfRun({ ...shown, skill: shown.result.skill }),
      ...renderTimeline(shown.result, screen),
      ...shown.next.map(({ step, continueWith }) =>
        continueWith === undefined
          ? `waits for the report of ${safeLine(step)}`
          : `${safeLine(step)} exceeded its time limit: ${safeLine(continueWith)}`,
      ),
      ...errorsOfRun(shown.result),
    ]),
})

export async function stepped(
  project: ChainProject,
  run: { plan: Plan; given: readonly string[] },
  choice: ConfinementChoice,
  go: (setup: RunSetup) => Promise<StepperAnswer>,
): Promise<StepperResult> {
  const answer = await driveStepper(project, run.plan, choice, go)
  return stepperResult(project, { ...run, answer })
}

export async function driveStepper(
  project: ChainProject,
  plan: Plan,
  choice: ConfinementChoice,
  go: (setup: RunSetup) => Promise<StepperAnswer>,
): Promise<StepperAnswer> {
  const answer = await go(await runSetup(project, plan, choice))
  const { kind, runId } = answer
  if (kind === 'ended') await notify(project, answer.result)
  if (kind === 'approval') await notify(project, { ...answer, runId, status: 'waiting' })
  return answer
}

export function stepperResult(
  project: ChainProject,
  { plan, given, answer }: { plan: Plan; given: readonly string[]; answer: StepperAnswer },
): StepperResult {
  const { line } = project
  const argumentsNeeded = holdSecret(given) || undefined
  const { runId, dismissed } = answer
  const head = { runId, dismissed }
  switch (answer.kind) {
    case 'ended':
    case 'interrupted':
      return { ...head, result: answerWith(answer.result, { line, argumentsNeeded }) }
    case 'approval': {
      const waiting = { step: answer.step, approveWith: line('runs approve', runId) }
      return { ...head, waiting, argumentsNeeded }
    }
    case 'next': {
      const next = answer.next.map(({ state, ...handed }) => {
        const { step, attempt } = handed
        const content = [contentOf(project, plan, step, given), ...passedOn(state)].join('\n\n')
        const about = ['--step', step, '--attempt', String(attempt)]
        return { ...handed, content, reportWith: line('chain report', runId, about) }
      })
      return { ...head, next, argumentsNeeded }
    }
  }
}

/** An agent knows its own reports, but not the results of scripts. */
function passedOn(state: ChainState | undefined): string[] {
  if (!state || state.previous_outputs.length === 0) return []
  return [statePart(jsonText(state))]
}

function contentOf(
  project: ChainProject,
  plan: Plan,
  named: string,
  given: readonly string[],
): string {
  const step = allSteps(plan.root).find((candidate) => candidate.step === named)
  if (!step) return ''
  const { content, references } = stepContent(project, step, given)
  return references === '' ? content : `${content}\n\n${references.trimEnd()}`
}

function renderStepper(stepper: StepperResult, screen: Screen): string {
  const { dismissed } = stepper
  const late = dismissed
    ? `The report about ${safeLine(dismissed.step)} came too late and does not count: ${safeLine(dismissed.message)}.\n\n`
    : ''
  return `${late}${standingText(stepper, screen)}`
}

function standingText(
  { runId, result, waiting, next: steps = [], argumentsNeeded }: StepperResult,
  screen: Screen,
): string {
  if (result) return renderRun(result, screen)
  const again = argumentsNeeded ? `${argumentsAgain}\n` : ''
  if (waiting) {
    return `${safeLine(waiting.step)} waits for a user: ${safeLine(waiting.approveWith)}\n${again}`
  }
  return `${steps.map((step) => instructions(runId, step)).join('')}${again}`
}

function instructions(runId: string, { step, content, reportWith }: NextStep): string {
  return `${content}

Step ${safeLine(step)} of run ${runId}. When it is done, report it:
  ${safeLine(reportWith)} --status success --result "what was done"
(--status failure or critical when it failed, with --error)
`
}

function codeOfStepper({ dismissed, result, waiting }: StepperResult): ExitCode {
  if (waiting) return exitCode.waiting
  const code = result ? codeOfRun(result) : exitCode.done
  // A report that does not count is an error, however the run continues.
  return code === exitCode.done && dismissed ? exitCode.failed : code
}

function metricOf(text: string): [string, number] {
  const [, name = '', number = ''] = /^([^=]+)=(.+)$/.exec(text) ?? []
  const value = Number(number)
  if (name !== '' && number.trim() !== '' && Number.isFinite(value)) return [name, value]
  throw wrongUse(`--metric ${text} is invalid; write tests=12`)
}
