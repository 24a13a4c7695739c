import { type ExitCode, safeLine, safeText } from '../base/index.ts'
import {
  ApprovalRefusedError,
  argumentsOf,
  readResult,
  recordDecision,
  renderTimeline,
  type Resumption,
  type RunJournal,
  waitingGate,
} from '../chain/index.ts'
import { type ChainProject, openProject } from './_chain-project.ts'
import { resumeOn, upToDate } from './_engine.ts'
import type { ConfinementOptions } from './_confinement.ts'
import { executeRun } from './_execute-run.ts'
import { instructionChoice } from './_instructions.ts'
import { linesAgain } from './_lines-again.ts'
import { planToGoOn } from './_open-run.ts'
import { answerRun } from './_run-answer.ts'
import type { CommandContext } from './command.ts'

export interface GateDecision {
  runId: string
  /** Where several wait. */
  step: string | undefined
  approved: boolean
  /** The arguments of the run again, where they held a secret. */
  given: readonly string[]
}

/**
 * Shows a person what the decision is about, asks, records the answer and goes on with the run. Only
 * a person at a terminal is asked: nothing else can give an approval.
 */
export async function decideGate(
  context: CommandContext,
  { runId, step, approved, given }: GateDecision,
  options: ConfinementOptions,
): Promise<ExitCode> {
  const project = openProject(context)
  const { journal } = await upToDate(project, runId)
  context.output.diagnostics(journal.diagnostics)
  const line = linesAgain(context, options)
  const gate = await waitingGate(journal, context.runtime, step, line)
  // To reject executes nothing, so it is possible whatever became of the skills.
  const plan = approved ? planToGoOn(project, journal, { command: 'approve', line }) : journal.plan
  // What would be refused later is refused before anybody is asked.
  if (approved) argumentsOf(journal, given)
  const again = line(approved ? 'runs approve' : 'runs reject', runId)
  await confirm(context, { runId, step: gate.step, approved, again }, async () => {
    const result = await readResult(journal, context.runtime)
    const { width, style } = context.output
    context.output.styled(renderTimeline(result, { width, style }).join('\n'))
    for (const { step: name, result: said } of result.attempts.at(-1)?.chain_state
      .previous_outputs ?? []) {
      context.output.note(`${safeLine(name)}: ${safeText(said)}`)
    }
  })
  const at = new Date(context.runtime.now()).toISOString()
  const prepare = recordDecision(gate, approved, at, line)
  const resumption = { runId, plan, prepare }
  if (!approved) return await reject(project, journal, resumption)
  const { request, server } = journal.run
  const executed = { ...options, ...instructionChoice(request), engine: server?.engine }
  return await executeRun(project, plan, executed, async (world) =>
    resumeOn(project, journal, { ...resumption, arguments: given, command: 'approve' }, world),
  )
}

async function reject(
  project: ChainProject,
  journal: RunJournal,
  resumption: Resumption,
): Promise<ExitCode> {
  const { context, workspace, store } = project
  const { runtime, settings, signal } = context
  const world = { runtime, workspace, store, settings: settings.run, signal }
  const result = await resumeOn(project, journal, { ...resumption, executesNothing: true }, world)
  return answerRun(context, result)
}

async function confirm(
  context: CommandContext,
  {
    runId,
    step,
    approved,
    again,
  }: Pick<GateDecision, 'runId' | 'approved'> & { step: string; again: string },
  show: () => Promise<void>,
): Promise<void> {
  await show()
  const verb = approved ? 'Approve' : 'Reject'
  const answer = await context.ask(`${verb} ${safeLine(step)} in run ${runId}? [y/N] `)
  if (answer !== undefined && /^y(?:es)?$/i.test(answer.trim())) return
  throw new ApprovalRefusedError({
    code: answer === undefined ? 'approval-needs-terminal' : 'approval-not-given',
    message:
      answer === undefined
        ? `a person at a terminal must decide about ${step}, and nobody did`
        : `nothing was decided about ${step}`,
    hint: `In a terminal: ${again}`,
  })
}
