import { SkillrailError } from '#core/errors'
import { allSteps } from '#chain/plan-model'
import type { ChainProject } from './chains.ts'
import { requiredGate, waitingGates } from './gates.ts'

/** A gate that a run waits at, with every way to approve it. */
export interface WaitingApproval {
  step: string
  /** What the gate asks for. */
  strength: 'prompted' | 'attended' | 'signed'
  approveWith: readonly ApprovalLine[]
}

/** A line to type. `session`: as a prompt in the session of the client that executes the chain. */
export type ApprovalLine =
  | { channel: 'session'; client: string; line: string }
  | { channel: 'terminal'; line: string }

/** The gates that a run waits at; none if its journal cannot be read. */
export async function approvalsOf(
  { store, context, line }: ChainProject,
  runId: string,
): Promise<WaitingApproval[]> {
  try {
    const journal = store.read(runId)
    const gates = await waitingGates(journal, context.runtime)
    const steps = allSteps(journal.plan.root)
    return gates.map(({ step }) => {
      const planned = steps.find((one) => one.step === step)
      const required = requiredGate(planned?.gate, context.settings)
      const strength = required === true ? 'prompted' : required
      const signing = strength === 'signed' ? ['--sign'] : []
      const terminal = line('runs approve', runId, ['--step', step, ...signing])
      const { rail } = journal.run
      // A prompt opens a plain gate only.
      const session: ApprovalLine[] =
        rail && strength === 'prompted'
          ? [{ channel: 'session', client: rail.client, line: `rail approve ${step}` }]
          : []
      return { step, strength, approveWith: [...session, { channel: 'terminal', line: terminal }] }
    })
  } catch (error) {
    if (error instanceof SkillrailError) return []
    throw error
  }
}
