import { type Context, defineCommand, option, type Screen } from '#core/command'
import { SkillrailError } from '#core/errors'
import type { Runtime } from '#core/runtime'
import { isYes, linesText, safeLine } from '#core/text'
import type { ChainEvent, RunResult } from '#chain/engine'
import { ApprovalRefusedError, RunStateError, stepUnknown } from '#chain/errors'
import type {
  ApprovalRecord,
  ChainRecord,
  DoneRecord,
  GateRecord,
  RunJournal,
} from '#chain/run-journal'
import { allSteps, isChain, type Plan } from '#chain/plan-model'
import { readResult, refuseImported, type RunSetup } from '#chain/run-chain'
import { argumentsOf, keepsArguments, type RunLine } from '#chain/run-line'
import { walkResult } from '#chain/step-result'
import { drive } from '#chain/stepper'
import { renderTimeline } from '#chain/timeline'
import {
  choiceOf,
  type ConfinementChoice,
  confinementOptions,
  type ExecuteChoice,
  executeOptions,
  executeRun,
  openRun,
  planToContinue,
  resumeOn,
  runArgument,
  runArguments,
  startOn,
  findRun,
} from './execute.ts'
import { planKept, usablePlan } from './project.ts'
import { answerWith, resultLines, type RunAnswer, runShown, shortText } from './run-text.ts'
import { stepped, type StepperResult, stepperShown } from './stepper.ts'

export const resume = defineCommand<RunAnswer, ChainEvent>()({
  arguments: runArguments,
  options: {
    ...confinementOptions,
    force: option.flag('--force', 'continue although the skills have changed'),
    ...executeOptions,
  },
  examples: ['runs resume 0mh2k9x0ab12cd'],
  async run(context, { arguments: [named = '', ...given], force, ...values }) {
    const { project, runId, journal } = await openRun(context, named, values)
    if (journal.status === 'success') {
      context.note(`The run ${runId} has ended; nothing was executed.`)
      return answerWith(await readResult(journal, context.runtime), project)
    }
    const plan = await planToContinue(project, journal, 'resume', force)
    const resumption = { runId, plan, force, arguments: given }
    return await executeRun(project, plan, choiceOf(journal, values), async (setup) =>
      resumeOn(project, journal, resumption, setup),
    )
  },
  ...runShown,
})

type RepeatedRun = RunAnswer | StepperResult

const repeatShown = {
  progress: runShown.progress,
  render: (result: RepeatedRun, screen: Screen) =>
    isRun(result) ? runShown.render(result, screen) : stepperShown.render(result, screen),
  exitCode: (result: RepeatedRun) =>
    isRun(result) ? runShown.exitCode(result) : stepperShown.exitCode(result),
}

export const retry = defineCommand<RepeatedRun, ChainEvent>()({
  arguments: runArguments,
  options: { ...confinementOptions, ...executeOptions },
  examples: ['runs retry 0mh2k9x0ab12cd'],
  run: async (context, { arguments: [runId = '', ...given], ...values }) =>
    repeatRun(context, { runId, given }, { kind: 'retry' }, values),
  ...repeatShown,
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
  ...repeatShown,
})

function isRun(result: RepeatedRun): result is RunAnswer {
  return 'attempts' in result
}

async function repeatRun(
  context: Context<ChainEvent>,
  old: { runId: string; given: readonly string[] },
  choice: Repetition,
  values: ExecuteChoice,
): Promise<RepeatedRun> {
  const { project, runId, journal } = await openRun(context, old.runId, values)
  refuseImported(journal)
  const { request, mode, requireVerified, server = {} } = journal.run
  const plan = await usablePlan(project, planKept(project, journal.run))
  const result = await readResult(journal, context.runtime)
  const reused = reusedResults(journal, result, plan, choice)
  context.note(`${reused.length} results are taken over from ${runId}`, 'detail')
  const given = argumentsOf(journal, old.given)
  const origin = { runId, kind: choice.kind }
  const run = { plan, arguments: given, mode, requireVerified, request, reused, origin }
  const start = async (setup: RunSetup): Promise<RunResult> => startOn(project, server, run, setup)
  if (mode === 'run') return await executeRun(project, plan, choiceOf(journal, values), start)
  return await stepped(project, { plan, given }, values, (setup) => drive(setup, start))
}

type Repetition = { kind: 'retry' } | { kind: 'fork'; from: string }

/** What a new run takes over: `retry` the successes, `fork` every result before `from`. */
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

const stepOption = option.text('--step <step>', 'which step, if several wait')

export const approve = defineCommand<RunAnswer, ChainEvent>()({
  arguments: runArguments,
  options: { ...confinementOptions, step: stepOption },
  examples: ['runs approve 0mh2k9x0ab12cd'],
  run: async (context, { arguments: [runId = '', ...given], step, ...values }) =>
    decideGate(context, runId, step, { approved: true, given }, values),
  ...runShown,
})

export const reject = defineCommand<RunAnswer, ChainEvent>()({
  arguments: runArgument,
  options: { step: stepOption },
  examples: ['runs reject 0mh2k9x0ab12cd'],
  run: async (context, { arguments: [runId = ''], step }) =>
    decideGate(context, runId, step, { approved: false, given: [] }, {}),
  ...runShown,
})

async function decideGate(
  context: Context<ChainEvent>,
  named: string,
  step: string | undefined,
  { approved, given }: { approved: boolean; given: readonly string[] },
  values: ConfinementChoice,
): Promise<RunAnswer> {
  const { project, runId, journal } = await findRun(context, named, values)
  const { store, line } = project
  const gate = await waitingGate(journal, context.runtime, step, line)
  // Rejecting executes only what runs always, so it works even when the skills have changed.
  const usable = await planToContinue(project, journal, 'approve').catch((error: unknown) => {
    if (approved || !(error instanceof SkillrailError)) throw error
    return undefined
  })
  const plan = usable ?? journal.plan
  const runsAlways = keepsArguments(journal) && allSteps(plan.root).some(({ always }) => always)
  // Refused before anybody is asked.
  if (approved) argumentsOf(journal, given)
  const again = line(approved ? 'runs approve' : 'runs reject', runId)
  const shown = await confirm(context, { runId, step: gate.step, approved, again }, journal)
  const at = new Date(context.runtime.now()).toISOString()
  const decision = { approved, at, user: context.runtime.user(), shown }
  const resumption = {
    runId,
    plan,
    prepare: recordDecision(gate, decision, line),
    arguments: given,
    command: 'approve',
    executesNothing: !approved && (usable === undefined || !runsAlways),
  } as const
  if (!resumption.executesNothing) {
    return await executeRun(project, plan, choiceOf(journal, values), async (setup) =>
      resumeOn(project, journal, resumption, setup),
    )
  }
  const { runtime, settings, signal } = context
  const { workspace } = project
  const setup = { runtime, workspace, store, settings: settings.run, signal, line }
  return answerWith(await resumeOn(project, journal, resumption, setup), project)
}

async function confirm(
  context: Context<ChainEvent>,
  about: { runId: string; step: string; approved: boolean; again: string },
  journal: RunJournal,
): Promise<NonNullable<ApprovalRecord['shown']>> {
  const { runId, step, approved, again } = about
  const result = await readResult(journal, context.runtime)
  const outputs = result.attempts.at(-1)?.chain_state.previous_outputs ?? []
  const failed = outputs.filter((output) => output.status !== 'success')
  const refused = (code: string, message: string): ApprovalRefusedError =>
    new ApprovalRefusedError(code, message, `In a terminal: ${again}`)
  const answer = await context.ask({
    text: `${approved ? 'Approve' : 'Reject'} ${safeLine(step)} in run ${runId}? [y/N] `,
    about: (screen) =>
      linesText([
        ...failed.map(({ step: name, status, errors }) => {
          const why = errors[0]?.message ?? status
          return screen.style('red', `FAILED before ${safeLine(`${step}: ${name}: ${why}`)}`)
        }),
        ...renderTimeline(result, screen),
        ...resultLines(result),
      ]),
    otherwise: () =>
      refused('approval-needs-terminal', `${step} needs the approval of a user at a terminal`),
  })
  if (!isYes(answer)) throw refused('approval-not-given', `no decision was made about ${step}`)
  return outputs.map(({ step: name, status, result: said }) => ({
    step: name,
    status,
    result: shortText(said),
  }))
}

/** The gate that a run waits at. `step` names one where several steps of a group wait. */
async function waitingGate(
  journal: RunJournal,
  clock: Runtime,
  step: string | undefined,
  line: RunLine,
): Promise<GateRecord> {
  const gates = walkResult(await readResult(journal, clock)).flatMap((walked) => {
    const gate = journal.gates.get(walked.key)
    // A chain with waiting steps below has passed its own gate.
    const waits = walked.leaf && walked.step.status === 'waiting'
    return waits && gate ? [gate] : []
  })
  const matching = step === undefined ? gates : gates.filter((gate) => gate.step === step)
  const [gate, second] = matching
  if (gate && !second) return gate
  const { runId } = journal.run
  if (gates.length === 0) {
    const message = `the run ${runId} does not wait for an approval`
    throw new RunStateError('no-gate-waits', message, `See: ${line('runs show', runId)}`)
  }
  const names = gates.map((candidate) => candidate.step)
  throw new RunStateError(
    gate ? 'gate-ambiguous' : 'no-gate-waits',
    `these steps of the run ${runId} wait for approval: ${names.join(', ')}`,
    `Choose one: --step ${names[0]}`,
  )
}

/**
 * Writes the decision of a user about the gate that was shown. Called while the journal is locked,
 * so that the gate cannot change. Throws {@link RunStateError} when the run waits for something
 * else by now.
 */
function recordDecision(
  shown: GateRecord,
  decision: Pick<ApprovalRecord, 'approved' | 'at' | 'user' | 'shown'>,
  line: RunLine,
): (journal: RunJournal, append: (record: ChainRecord) => void) => void {
  return (journal, append) => {
    const gate = journal.gates.get(shown.key)
    if (gate?.stateDigest !== shown.stateDigest || gate.planDigest !== shown.planDigest) {
      throw new RunStateError(
        'gate-changed',
        `the run ${journal.run.runId} waits for something else now`,
        `Look again: ${line('runs show', journal.run.runId)}`,
      )
    }
    const { key, planDigest, stateDigest } = gate
    const about = { key, planDigest, stateDigest }
    const record: ApprovalRecord = { type: 'approval', ...about, by: 'person', ...decision }
    append(record)
    journal.approvals.set(key, record)
  }
}
