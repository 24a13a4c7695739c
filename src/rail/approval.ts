import { RunStateError } from '#chain/errors'
import { allSteps } from '#chain/plan-model'
import { resumeRun } from '#chain/run-chain'
import { type ApprovalRecord, isStrongEnough } from '#chain/run-journal'
import type { ChainProject } from '#project/chains'
import { approveOptions, recordDecision, requiredGate, waitingGate } from '#project/gates'
import { driveSteps, type StepperResult, type StepperRun } from '#project/stepper'

export type Decision =
  | { approved: true; step: string | undefined }
  | { approved: false; step: string | undefined; why: string }

/** The way in which a user decided, and how hard it is for an agent to forge it. */
export type DecisionMeans = Required<Pick<ApprovalRecord, 'channel' | 'strength'>> &
  Pick<ApprovalRecord, 'shownDigest'>

/**
 * Records a user's decision in the agent's session, and continues the run.
 *
 * @throws {RunStateError} if nothing waits for an approval, or the gate asks for a stronger one
 */
export async function decideAtGate(
  project: ChainProject,
  run: StepperRun,
  decision: Decision,
  means: DecisionMeans,
): Promise<StepperResult> {
  const { store, line, context } = project
  const { runtime } = context
  const gate = await waitingGate(store.read(run.runId), runtime, decision.step, line)
  const planned = allSteps(run.plan.root).find(({ step }) => step === gate.step)
  const required = requiredGate(planned?.gate, context.settings)
  if (decision.approved && !isStrongEnough(required, means)) {
    const wanted = required === true ? 'prompted' : required
    throw new RunStateError(
      'approval-too-weak',
      `\`${gate.step}\` needs an approval that is \`${wanted}\`, and this one is \`${means.strength}\``,
      `In a terminal of your own: ${line('runs approve', run.runId, approveOptions(run.plan, gate.step, context.settings))}`,
    )
  }
  const record = recordDecision(
    gate,
    {
      approved: decision.approved,
      at: new Date(runtime.now()).toISOString(),
      user: runtime.user(),
      ...means,
      ...(decision.approved ? {} : { reason: decision.why }),
    },
    line,
  )
  return await driveSteps(project, run, {}, async (setup) =>
    resumeRun({ ...run, prepare: record, refusesCancelled: true }, setup),
  )
}
