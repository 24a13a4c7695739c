import { type Context, defineCommand, option } from '../../core/command.ts'
import { SkillrailError } from '../../core/errors.ts'
import { safeLine } from '../../core/text.ts'
import { ApprovalRefusedError } from '../errors.ts'
import { allSteps } from '../plan-model.ts'
import { argumentsOf, keepsArguments } from '../run-line.ts'
import type { ChainEvent } from '../engine.ts'
import { readResult } from '../run-chain.ts'
import type { ApprovalRecord } from '../journal-records.ts'
import { recordDecision, waitingGate } from '../decisions.ts'
import {
  type ConfinementChoice,
  confinementOptions,
  executedAs,
  executeRun,
  runArguments,
} from './execute.ts'
import { planToContinue, resumeOn, upToDate } from './engine.ts'
import { linesAgain, openProject } from './project.ts'
import {
  answerWith,
  codeOfRun,
  renderRun,
  resultLines,
  type RunAnswer,
  runProgress,
  shortText,
  timelineOf,
} from './run-text.ts'

const waitingRun = { '<run>': 'the ID of a waiting run, the beginning of one, or latest' } as const

const stepOption = option.text('--step <step>', 'which step, if several wait')

export const approve = defineCommand<RunAnswer, ChainEvent>()({
  arguments: { ...runArguments, ...waitingRun },
  options: { ...confinementOptions, step: stepOption },
  examples: ['runs approve 0mh2k9x0ab12cd'],
  run: async (context, { arguments: [runId = '', ...given], step, ...values }) =>
    decideGate(context, { runId, step, approved: true, given }, values),
  progress: runProgress,
  render: renderRun,
  exitCode: codeOfRun,
})

export const reject = defineCommand<RunAnswer, ChainEvent>()({
  arguments: waitingRun,
  options: { step: stepOption },
  examples: ['runs reject 0mh2k9x0ab12cd'],
  run: async (context, { arguments: [runId = ''], step }) =>
    decideGate(context, { runId, step, approved: false, given: [] }, {}),
  render: renderRun,
  exitCode: codeOfRun,
})

interface GateDecision {
  runId: string
  step: string | undefined
  approved: boolean
  given: readonly string[]
}

/** Shows a user what the decision is about, asks at the terminal, and continues the run. */
async function decideGate(
  context: Context<ChainEvent>,
  { runId: named, step, approved, given }: GateDecision,
  values: ConfinementChoice,
): Promise<RunAnswer> {
  const project = openProject(context)
  const runId = project.store.idOf(named)
  const { journal } = await upToDate(project, runId)
  context.diagnose(journal.diagnostics)
  const line = linesAgain(context, values)
  const gate = await waitingGate(journal, context.runtime, step, line)
  const current = planToContinue(project, journal, { command: 'approve', line })
  // Rejecting executes only what runs always, so it works even when the skills have changed.
  const usable = await current.catch((error: unknown) => {
    if (approved || !(error instanceof SkillrailError)) throw error
    return undefined
  })
  const plan = usable ?? journal.plan
  const runsAlways = keepsArguments(journal) && allSteps(plan.root).some(({ always }) => always)
  // Refused before anybody is asked.
  if (approved) argumentsOf(journal, given)
  const again = line(approved ? 'runs approve' : 'runs reject', runId)
  const shown = await confirm(
    context,
    { runId, step: gate.step, approved, again },
    await readResult(journal, context.runtime),
  )
  const at = new Date(context.runtime.now()).toISOString()
  const decision = { approved, at, user: context.runtime.user(), shown }
  const prepare = recordDecision(gate, decision, line)
  const resumption = { runId, plan, prepare }
  if (approved || (usable !== undefined && runsAlways)) {
    const { request, server } = journal.run
    const choice = { ...values, ...executedAs(request), engine: server?.engine }
    return await executeRun(project, plan, choice, async (setup) =>
      resumeOn(project, journal, { ...resumption, arguments: given, command: 'approve' }, setup),
    )
  }
  const { workspace, store } = project
  const { runtime, settings, signal } = context
  const setup = { runtime, workspace, store, settings: settings.run, signal }
  const result = await resumeOn(project, journal, { ...resumption, executesNothing: true }, setup)
  return answerWith(result, { line: linesAgain(context) })
}

/** Returns the results that were shown. */
async function confirm(
  context: Context<ChainEvent>,
  {
    runId,
    step,
    approved,
    again,
  }: Pick<GateDecision, 'runId' | 'approved'> & { step: string; again: string },
  result: Awaited<ReturnType<typeof readResult>>,
): Promise<NonNullable<ApprovalRecord['shown']>> {
  const hint = `In a terminal: ${again}`
  const outputs = result.attempts.at(-1)?.chain_state.previous_outputs ?? []
  const failed = outputs.filter((output) => output.status !== 'success')
  const answer = await context.ask({
    text: `${approved ? 'Approve' : 'Reject'} ${safeLine(step)} in run ${runId}? [y/N] `,
    about: (screen) =>
      [
        ...failed.map(({ step: name, status, errors }) => {
          const why = errors[0]?.message ?? status
          return screen.style('red', `FAILED before ${safeLine(`${step}: ${name}: ${why}`)}`)
        }),
        ...timelineOf(result, screen),
        ...resultLines(result),
      ]
        .map((shown) => `${shown}\n`)
        .join(''),
    otherwise: () =>
      new ApprovalRefusedError({
        code: 'approval-needs-terminal',
        message: `${step} needs the approval of a user at a terminal`,
        hint,
      }),
  })
  if (/^y(?:es)?$/i.test(answer.trim())) {
    return outputs.map(({ step: name, status, result: said }) => ({
      step: name,
      status,
      result: shortText(said),
    }))
  }
  throw new ApprovalRefusedError({
    code: 'approval-not-given',
    message: `no decision was made about ${step}`,
    hint,
  })
}
