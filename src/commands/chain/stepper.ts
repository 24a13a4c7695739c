import { defineCommand, option, type Screen } from '#core/command'
import { exitCode, type ExitCode, wrongUse } from '#core/errors'
import { linesText, safeLine } from '#core/text'
import type { StepOutput } from '#exec/output-protocol'
import type { ChainEvent, RunResult } from '#chain/engine'
import type { HandedStep } from '#chain/stepper'
import { renderTimeline } from '#chain/timeline'
import { openProject, usablePlan } from '#project/chains'
import {
  continuedRun,
  endedSteps,
  type NextStep,
  nextSteps,
  planForStepper,
  reportAboutStep,
  standingOfSteps,
  startSteps,
  stepperRequest,
  type StepperResult,
} from '#project/stepper'
import { type ClaimedStep, claimInRail, standingInRail } from '#rail/claim'
import { refuseOtherChain } from '#rail/refuse'
import { openRun } from '#project/stored-runs'
import {
  argumentsAgain,
  codeOfRun,
  errorsOfRun,
  headOfRun,
  renderRun,
  runProgress,
} from './run-text.ts'
import { confinementOptions, runArgument, runArguments } from './options.ts'

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
  async run(context, { arguments: [skill = '', ...words], ...values }) {
    const project = openProject(context, values)
    const planned = planForStepper(project, skill)
    const plan = await usablePlan(project, planned)
    refuseOtherChain(context, project.workspace, plan.skill)
    const { requireVerified } = values
    const run = { plan, request: stepperRequest(planned), arguments: words, requireVerified }
    return await startSteps(project, run, values)
  },
  ...stepperShown,
})

/** In a rail only the session continues a run. */
type NextResult = StepperResult | { runId: string; standing: string }

export const next = defineCommand<NextResult, ChainEvent>()({
  arguments: runArguments,
  options: confinementOptions,
  examples: ['chain next 0mh2k9x0ab12cd'],
  async run(context, { arguments: [named = '', ...words], ...values }) {
    const { project, journal, runId } = await openRun(context, named, values)
    const standing = standingInRail(context.runtime, runId)
    if (standing !== undefined) return { runId, standing }
    const ended = await endedSteps(project, journal)
    if (ended) return ended
    return await nextSteps(project, await continuedRun(project, journal, words), values)
  },
  progress: runProgress,
  render: (answer, screen) =>
    isStanding(answer) ? `${safeLine(answer.standing)}\n` : renderStepper(answer, screen),
  exitCode: (answer) => (isStanding(answer) ? exitCode.done : codeOfStepper(answer)),
})

function isStanding(answer: NextResult): answer is { runId: string; standing: string } {
  return 'standing' in answer
}

/** In a rail a report counts when the turn of the agent ends. */
type ReportResult = StepperResult | ({ runId: string } & ClaimedStep)

export const report = defineCommand<ReportResult, ChainEvent>()({
  arguments: runArguments,
  options: {
    ...confinementOptions,
    step: option.text('--step <step>', 'the step that was done', { required: true }),
    attempt: option.integer('--attempt <number>', 'its attempt, as the instructions name it', {
      least: 1,
      most: 999_999,
    }),
    status: option.choice(
      '--status <status>',
      'success, failure or critical; question waits for the user (only in a rail)',
      { choices: ['success', 'failure', 'critical', 'question'], required: true },
    ),
    result: option.text('--result <text>', 'what was done, in one sentence'),
    error: option.list('--error <text>', 'one error (repeatable)'),
    metric: option.list('--metric <name=number>', 'one measurement (repeatable)'),
  },
  examples: ['chain report 0mh2k9x0ab12cd --step review --status success --result "no findings"'],
  async run(context, { arguments: [named = '', ...words], ...values }) {
    const { step, attempt, status: reported, error: errors, result = '' } = values
    const { project, journal } = await openRun(context, named, values)
    const { runId } = journal.run
    const claim = { status: reported, result, errors }
    const claimed = claimInRail(context.runtime, { runId, step, attempt, claim })
    if (claimed) return { runId, ...claimed }
    if (reported === 'question') {
      const hint = 'Ask the user, then report how the step ended.'
      throw wrongUse('--status question is for a chain that runs as a rail', hint)
    }
    const output: StepOutput = {
      status: reported,
      result,
      errors: errors.map((message) => ({ code: 'reported', message })),
      metrics: Object.fromEntries(values.metric.map((text) => metricOf(text))),
      evidence: 'self-reported',
    }
    const run = await continuedRun(project, journal, words)
    return await reportAboutStep(project, run, { step, attempt, output }, values)
  },
  progress: runProgress,
  render: (answer, screen) =>
    isClaim(answer)
      ? `Recorded. End your turn now: ${safeLine(answer.chain)} continues there.\n`
      : renderStepper(answer, screen),
  exitCode: (answer) => (isClaim(answer) ? exitCode.done : codeOfStepper(answer)),
})

function isClaim(answer: ReportResult): answer is { runId: string } & ClaimedStep {
  return 'chain' in answer
}

interface StatusResult {
  runId: string
  status: RunResult['status']
  /** With the command line that continues the run, if the step's time is over. */
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
    const { result, answer } = await standingOfSteps(project, journal)
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
