import { refuseBelowAgent } from '#core/agent-ancestry'
import type { Context } from '#core/command'
import { isYes, linesText, safeLine } from '#core/text'
import type { ChainEvent } from '#chain/engine'
import { ApprovalRefusedError } from '#chain/errors'
import { lostGates } from '#chain/lost-gates'
import { allSteps, type Plan } from '#chain/plan-model'
import { answerWith, type RunAnswer } from '#chain/run-answer'
import { planChanged, refuseImported } from '#chain/continuation'
import { readResult } from '#chain/run-chain'
import type { RemovedGates, RunJournal } from '#chain/run-journal'
import { isFailed } from '#chain/step-result'
import { type ChainProject, planKept, usablePlan } from './chains.ts'
import { resumeOn } from './engines.ts'
import { answerPlace, requiredGate, terminalStrength } from './gates.ts'
import type { ExecuteChoice } from './run-setup.ts'
import { executeRun } from './runs.ts'
import { openRun } from './stored-runs.ts'

/** Continues a run that was interrupted, cancelled or has failed. */
export async function resumeStored(
  context: Context<ChainEvent>,
  run: { name: string; arguments: readonly string[]; force: boolean },
  options: ExecuteChoice,
): Promise<RunAnswer> {
  const { name, arguments: words, force } = run
  const { project, runId, journal } = await openRun(context, name, options)
  if (journal.status === 'success') {
    context.note(`The run ${runId} has ended; nothing was executed.`)
    return answerWith(
      await readResult(journal, context.runtime),
      answerPlace(project, journal.plan),
    )
  }
  const plan = await planToContinue(project, journal, 'resume', force)
  const again = project.line('runs resume', runId, ['--force'])
  const removedGates = await confirmLostGates(context, journal, plan, again)
  const resumption = { runId, plan, force, removedGates, arguments: words }
  return await executeRun(project, plan, choiceOf(journal, options), async (setup) =>
    resumeOn(project, journal, resumption, setup),
  )
}

/** The options of a run that continues: its own client, model and engine, with the rights that are given now. */
export function choiceOf({ run }: RunJournal, values: ExecuteChoice): ExecuteChoice {
  const { via, model, baseUrl, tools } = run.request
  return { ...values, via, model, baseUrl, tools, engine: run.server?.engine }
}

/** A changed plan is refused before the user is asked anything. */
export async function planToContinue(
  project: ChainProject,
  journal: RunJournal,
  command: 'resume' | 'approve',
  force = false,
): Promise<Plan> {
  refuseImported(journal)
  const { run, status } = journal
  const plan = await usablePlan(project, planKept(project, run))
  // A run that has ended is refused by the caller, as such.
  const change = isFailed(status) ? undefined : planChanged(journal, plan, command, project.line)
  if (change && !force) throw change
  return plan
}

/** Asks before a run continues, or starts again, without a gate that it had. */
export async function confirmLostGates(
  context: Context<ChainEvent>,
  { run: { runId, skill }, plan: before }: RunJournal,
  now: Plan,
  again: string,
): Promise<RemovedGates | undefined> {
  const steps = lostGates(before.root, now.root)
  if (steps.length === 0) return undefined
  const names = steps.join(', ')
  refuseBelowAgent(context, `removing the approval of ${names}`)
  refuseWeakRemoval(context, { runId, skill, steps, before })
  const refused = (code: string, message: string): ApprovalRefusedError =>
    new ApprovalRefusedError(
      code,
      message,
      `Put back the gates, or answer the question in a terminal: ${again}`,
    )
  const answer = await context.ask({
    text: `Remove from run ${runId} the approval of ${safeLine(names)}? [y/N] `,
    about: () =>
      linesText(
        steps.map((step) =>
          safeLine(
            `The run had a gate at ${step}. Without it, the run continues there without a question.`,
          ),
        ),
      ),
    otherwise: () =>
      refused('gate-removal-needs-terminal', `the run ${runId} needs an approval of ${names}`),
  })
  if (!isYes(answer)) throw refused('gate-removal-refused', `the run keeps its gates: ${names}`)
  return { steps, user: context.runtime.user() }
}

/**
 * A gate is removed by a question that is at least as hard to forge as its approval, and nothing that a
 * question gets is a signature.
 */
function refuseWeakRemoval(
  { runtime, settings }: Context<ChainEvent>,
  about: { runId: string; skill: string; steps: readonly string[]; before: Plan },
): void {
  const { runId, skill, steps, before } = about
  const stepsWith = (strength: 'attended' | 'signed'): string[] =>
    allSteps(before.root).flatMap(({ step, gate }) =>
      steps.includes(step) && requiredGate(gate, settings) === strength ? [step] : [],
    )
  const signed = stepsWith('signed')
  if (signed.length > 0) {
    throw new ApprovalRefusedError(
      'signed-gate-kept',
      `the run ${runId} needs a signed approval of ${signed.join(', ')}, which no question removes`,
      `Put the gate back, or start a new run: skillrail run ${skill}`,
    )
  }
  const attended = stepsWith('attended')
  if (attended.length === 0 || terminalStrength(runtime) === 'attended') return
  throw new ApprovalRefusedError(
    'gate-removal-too-weak',
    `the gate of ${attended.join(', ')} is attended, so an answer at this terminal does not remove it`,
    'Remove it in a terminal that no agent client has started, or put the gate back.',
  )
}
