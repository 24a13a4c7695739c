import { refuseBelowAgent } from '#core/agent-ancestry'
import type { Context } from '#core/command'
import { SkillrailError } from '#core/errors'
import { sha256 } from '#core/json'
import { printedText } from '#core/printed-text'
import { cell, isYes, linesText, safeLine, shellWord } from '#core/text'
import type { Resumption } from '#chain/continuation'
import type { ChainEvent, RunResult } from '#chain/engine'
import { ApprovalRefusedError } from '#chain/errors'
import { allSteps, type Plan } from '#chain/plan-model'
import { resultLines, shortText } from '#chain/result-text'
import { answerWith, type RunAnswer } from '#chain/run-answer'
import { readResult, type RunSetup } from '#chain/run-chain'
import {
  type ApprovalRecord,
  type GateRecord,
  isStrongEnough,
  type RunJournal,
} from '#chain/run-journal'
import { argumentsOf, keepsArguments } from '#chain/run-line'
import { renderTimeline } from '#chain/timeline'
import type { ChainProject } from './chains.ts'
import { choiceOf, planToContinue } from './continue-run.ts'
import { resumeOn } from './engines.ts'
import {
  answerPlace,
  recordDecision,
  requiredGate,
  terminalStrength,
  waitingGate,
} from './gates.ts'
import { Git } from './git.ts'
import { type ConfinementChoice, idleSetup } from './run-setup.ts'
import { executeRun } from './runs.ts'
import { signApproval, statementOf } from './signed-approvals.ts'
import { stepsOnOtherFiles } from './step-trees.ts'
import { findRun } from './stored-runs.ts'

export interface GateDecision {
  /** The run as a user names it. */
  name: string
  /** Needed if several gates wait. */
  step: string | undefined
  /** Why; the steps that a rejection leads back to are told. */
  reason: string | undefined
  arguments: readonly string[]
  approved: boolean
  /** Whether the user signs the approval with a key. */
  sign?: boolean
}

/** Asks a user at a terminal about the gate that a run waits at, and continues the run. */
export async function decideGate(
  context: Context<ChainEvent>,
  { name, step, reason, arguments: words, approved, sign = false }: GateDecision,
  options: ConfinementChoice,
): Promise<RunAnswer> {
  refuseBelowAgent(context, approved ? 'runs approve' : 'runs reject')
  const { project, runId, journal } = await findRun(context, name, options)
  const { line } = project
  const gate = await waitingGate(journal, context.runtime, step, line)
  const continuation = await continuationAfter(project, journal, gate, approved)
  const strength = sign ? 'signed' : terminalStrength(context.runtime)
  if (approved) {
    const about = { plan: continuation.plan, runId, step: gate.step, line }
    refuseWeakApproval(context, about, { channel: 'terminal', strength })
  }
  // Refused before anybody is asked.
  if (approved) argumentsOf(journal, words)
  const again = line(approved ? 'runs approve' : 'runs reject', runId, sign ? ['--sign'] : [])
  const question = { step: gate.step, approved, again }
  const shown = await confirm(context, question, project, journal)
  const at = new Date(context.runtime.now()).toISOString()
  const about = { channel: 'terminal', strength, user: context.runtime.user() } as const
  const signature = sign ? signApproval(context, statementOf(runId, gate, at)) : undefined
  const decision = { approved, at, ...about, signature, ...shownRecord(shown), reason }
  const resumption = {
    runId,
    ...continuation,
    prepare: recordDecision(gate, decision, line),
    arguments: words,
    command: 'approve',
    refusesCancelled: true,
  } as const
  return await continueDecided(project, journal, resumption, options)
}

/** How a run continues after a decision. A rejection that ends it executes nothing. */
type Continuation = Pick<Resumption, 'plan'> & { executesNothing: boolean }

/** @throws {ChainError} if the run cannot continue after this approval */
export async function continuationAfter(
  project: ChainProject,
  journal: RunJournal,
  gate: GateRecord,
  approved: boolean,
): Promise<Continuation> {
  // Where a rejection executes nothing, or cannot, it works even when the skills have changed.
  const usable = await planToContinue(project, journal, 'approve').catch((error: unknown) => {
    if (approved || !(error instanceof SkillrailError)) throw error
    return undefined
  })
  const plan = usable ?? journal.plan
  const continues = keepsArguments(journal) && continuesAfterRejection(plan, gate.step)
  return { plan, executesNothing: !approved && (usable === undefined || !continues) }
}

/**
 * Records the decision that a resumption prepares, and continues the run.
 *
 * @param onRecorded called when the decision is in the journal
 */
export async function continueDecided(
  project: ChainProject,
  journal: RunJournal,
  resumption: Resumption,
  options: ConfinementChoice,
  onRecorded?: () => void,
): Promise<RunAnswer> {
  const resume = async (setup: RunSetup): Promise<RunResult> => {
    const onEvent = (event: ChainEvent): void => {
      // The first event, after the records.
      if (event.type === 'run-started') onRecorded?.()
      setup.onEvent?.(event)
    }
    return resumeOn(project, journal, resumption, { ...setup, onEvent })
  }
  if (resumption.executesNothing !== true) {
    return await executeRun(project, resumption.plan, choiceOf(journal, options), resume)
  }
  const { plan } = resumption
  return answerWith(await resume(idleSetup(project)), answerPlace(project, plan))
}

/** Whether a rejection leads back to an earlier step, or some steps run always. */
function continuesAfterRejection({ root }: Plan, gated: string): boolean {
  return allSteps(root).some(
    ({ step, always, rework }) => always === true || (step === gated && rework !== undefined),
  )
}

export function refuseWeakApproval(
  { settings, interactive }: Pick<Context, 'settings'> & Partial<Pick<Context, 'interactive'>>,
  {
    plan,
    runId,
    step,
    line,
  }: { plan: Plan; runId: string; step: string } & Pick<ChainProject, 'line'>,
  means: Required<Pick<ApprovalRecord, 'channel' | 'strength'>>,
): void {
  const planned = allSteps(plan.root).find((one) => one.step === step)
  const required = requiredGate(planned?.gate, settings)
  if (isStrongEnough(required, means)) return
  const place = means.channel === 'view' ? 'the view' : 'this terminal'
  const isHere = means.channel === 'view' || interactive === true
  const own = isHere ? `, and the one from ${place} is ${means.strength}` : ''
  throw new ApprovalRefusedError(
    'approval-too-weak',
    `${step} needs an approval that is ${String(required)}${own}`,
    required === 'signed'
      ? `Sign it with your SSH key: ${line('runs approve', runId, ['--sign'])}`
      : 'Approve it in a terminal that no agent client has started.',
  )
}

/** The results before a gate, as a user sees them. */
export type ShownResults = NonNullable<ApprovalRecord['shown']>

export function shownResults(result: RunResult): ShownResults {
  const outputs = result.attempts.at(-1)?.chain_state.previous_outputs ?? []
  return outputs.map(({ step, status, result: said }) => ({
    step,
    status,
    result: shortText(said),
  }))
}

/** The results with their digest, for the record. */
export function shownRecord(shown: ShownResults): { shown: ShownResults; shownDigest: string } {
  return { shown, shownDigest: sha256(JSON.stringify(shown)) }
}

/** The run in the words of a user: its chain with the arguments, and the commit that is checked out. */
function subjectOf(
  { workspace, context: { runtime } }: ChainProject,
  { run: { skill, arguments: words, runId } }: RunJournal,
): string {
  const head = Git.in(workspace, runtime)?.line('rev-parse', '--short', '--verify', 'HEAD')
  const call = cell([skill, ...words.map(shellWord)].join(' '), 60)
  return `${call} (${head === undefined ? '' : `commit ${head}, `}run ${runId})`
}

async function confirm(
  context: Context<ChainEvent>,
  about: { step: string; approved: boolean; again: string },
  project: ChainProject,
  journal: RunJournal,
): Promise<ShownResults> {
  const { step, approved, again } = about
  const result = await readResult(journal, context.runtime)
  const outputs = result.attempts.at(-1)?.chain_state.previous_outputs ?? []
  const failed = outputs.filter((output) => output.status !== 'success')
  const unseen = stepsOnOtherFiles(project, journal, result)
  const refused = (code: string, message: string): ApprovalRefusedError =>
    new ApprovalRefusedError(code, message, `In a terminal: ${again}`)
  const answer = await context.ask({
    text: `${approved ? 'Approve' : 'Reject'} ${safeLine(step)} of ${subjectOf(project, journal)}? [y/N] `,
    about: (screen) =>
      linesText([
        ...failed.map(({ step: name, status, errors }) => {
          const why = errors[0]?.message ?? status
          return screen.style(
            'red',
            `FAILED before ${safeLine(printedText(`${step}: ${name}: ${why}`))}`,
          )
        }),
        ...(unseen.length === 0
          ? []
          : [
              screen.style(
                'red',
                `FILES CHANGED since these steps ran: ${safeLine(unseen.join(', '))}`,
              ),
            ]),
        ...renderTimeline(result, screen),
        ...resultLines(result),
      ]),
    otherwise: () =>
      refused('approval-needs-terminal', `${step} needs the approval of a user at a terminal`),
  })
  if (!isYes(answer)) throw refused('approval-not-given', `no decision was made about ${step}`)
  return shownResults(result)
}
