import { SkillrailError } from '#core/errors'
import { allSteps } from '#chain/plan-model'
import type { GateRecord, RunJournal } from '#chain/run-journal'
import { keepsArguments } from '#chain/run-line'
import type { ChainProject } from './chains.ts'
import { approveOptions, requiredGate, waitingGates } from './gates.ts'

/** A gate that a run waits at, with every way to approve it. */
export interface WaitingApproval {
  step: string
  /** What the gate asks for. */
  strength: 'prompted' | 'attended' | 'signed'
  approveWith: readonly ApprovalLine[]
}

/**
 * A line to type. `session`: as a prompt in the session of the client that executes the chain; `view`: in a
 * terminal, to approve in the browser.
 */
export type ApprovalLine =
  | { channel: 'session'; client: string; line: string }
  | { channel: 'terminal' | 'view'; line: string }

/** The gates that a run waits at; none if its journal cannot be read. */
export async function approvalsOf(
  project: ChainProject,
  runId: string,
): Promise<WaitingApproval[]> {
  try {
    const journal = project.store.read(runId)
    const gates = await waitingGates(journal, project.context.runtime)
    return gates.map((gate) => waitingApproval(project, journal, gate))
  } catch (error) {
    if (error instanceof SkillrailError) return []
    throw error
  }
}

/** What a gate asks for, and the lines that approve it. */
export function waitingApproval(
  { context: { settings, runtime }, line }: ChainProject,
  journal: RunJournal,
  { step }: GateRecord,
): WaitingApproval {
  const { run, plan } = journal
  const { runId, rail } = run
  const planned = allSteps(plan.root).find((one) => one.step === step)
  const required = requiredGate(planned?.gate, settings)
  const strength = required === true ? 'prompted' : required
  const signing = approveOptions(plan, step, settings)
  const approveWith: ApprovalLine[] = []
  // A prompt opens a plain gate only.
  if (rail && strength === 'prompted') {
    approveWith.push({ channel: 'session', client: rail.client, line: `rail approve ${step}` })
  }
  const terminal = line('runs approve', runId, ['--step', step, ...signing])
  approveWith.push({ channel: 'terminal', line: terminal })
  // The view signs nothing and takes no grants or arguments. On Windows it cannot tell which browser asks.
  const isForView = strength !== 'signed' && !hasGrants(journal) && keepsArguments(journal)
  if (isForView && runtime.platform !== 'win32') {
    approveWith.push({ channel: 'view', line: line('view', runId, ['--open']) })
  }
  return { step, strength, approveWith }
}

/** Whether a command gave scripts more than their sandbox: a journal never gives that again. */
export function hasGrants({ run: { confinement } }: RunJournal): boolean {
  if (!confinement) return false
  const { sandbox, ...grants } = confinement
  const isGiven = (value: unknown): boolean =>
    Array.isArray(value) ? value.length > 0 : value === true
  return sandbox === 'off' || Object.values(grants).some(isGiven)
}
