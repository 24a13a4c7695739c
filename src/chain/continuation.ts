import { type ChainError, RunStateError, RunTrustError } from './errors.ts'
import { lostGates, signedGates } from './lost-gates.ts'
import { type Plan, type PlannedChain, wholeChain } from './plan-model.ts'
import { type RunLine, runLine } from './run-line.ts'
import type { ChainRecord, RemovedGates, RunJournal } from './run-journal.ts'
import { isFinal } from './step-result.ts'

/** How a run continues, with the user's decisions. */
export interface Resumption {
  runId: string
  /** The current plan, which was accepted. */
  plan: Plan
  /** The command that continues the run, for hints. */
  command?: 'resume' | 'approve' | undefined
  /** Applies the decisions that `prepare` records, and executes no step. */
  executesNothing?: boolean
  /** Continues although the plan has changed. */
  force?: boolean
  /** The gates that a user removed from the run, after a question that named them. */
  removedGates?: RemovedGates | undefined
  /** Required if the arguments contain a secret: the journal does not store secrets. */
  arguments?: readonly string[] | undefined
  /** Refuses a cancelled run, which only a user can resume. */
  refusesCancelled?: true
  /** Looks at the journal, and may write to it, before the run continues. */
  prepare?:
    | ((journal: RunJournal, append: (record: ChainRecord) => void) => void | Promise<void>)
    | undefined
}

/** Returns the plan to record if it has changed. Throws if the run must not continue. */
export function acceptedPlan(
  journal: RunJournal,
  { plan, command, force, refusesCancelled, removedGates }: Resumption,
  line: RunLine,
): { plan?: Plan; removedGates?: RemovedGates | undefined } {
  const { status } = journal
  const { runId } = journal.run
  refuseImported(journal)
  if (status === 'cancelled' && refusesCancelled) {
    throw new RunStateError(
      'run-cancelled',
      `the run ${runId} was cancelled by a user`,
      `A user can resume it: ${line('runs resume', runId)}`,
    )
  }
  refuseEnded(journal, line)
  const change = planChanged(journal, plan, command, line)
  if (!change) return {}
  const { steps: removedSteps = [] } = removedGates ?? {}
  const lost = lostGates(journal.plan.root, plan.root)
  const signed = signedGates(journal.plan.root, lost)
  const missingGates = lost.filter((step) => !removedSteps.includes(step) || signed.includes(step))
  if (!force || missingGates.length > 0) throw change
  return { plan, removedGates }
}

/** Throws {@link RunStateError} for an imported run, whose records must not start anything. */
export function refuseImported({ run }: RunJournal): void {
  if (!run.imported) return
  throw new RunStateError(
    'run-imported',
    `the run ${run.runId} was imported; it can only be shown`,
    `Start its skill again: skillrail run ${run.skill}`,
  )
}

/** Throws {@link RunStateError} for a run that has a final result. */
export function refuseEnded({ run, status }: RunJournal, line: RunLine = runLine): void {
  if (!isFinal(status)) return
  throw new RunStateError(
    'run-ended',
    `the run ${run.runId} has ended: ${status}`,
    `${line('runs show', run.runId)} shows it; ${line('runs retry', run.runId)} repeats what failed.`,
  )
}

/**
 * Returns why a run cannot continue with the current plan; undefined if the plan is the same. A change
 * of trust alone has an error of its own. `command` continues the run: `approve` if the run waits, else
 * `resume`.
 */
export function planChanged(
  journal: RunJournal,
  now: Plan,
  command: 'resume' | 'approve' = 'resume',
  line: RunLine,
): ChainError | undefined {
  const { run, plan: recordedPlan, status } = journal
  const { runId } = run
  if (now.digest === recordedPlan.digest) return undefined
  // While a run waits on a server, the server keeps the old plan.
  const waitsOnServer = run.server !== undefined && status === 'waiting'
  const first = waitsOnServer ? `After ${line('runs cancel', runId)}: ` : ''
  const force = line('runs resume', runId, ['--force'])
  if (withoutTrust(recordedPlan.root) === withoutTrust(now.root)) {
    const wasTrusted = wholeChain(recordedPlan.root).every(({ trust }) => trust === 'trusted')
    const trustLine = line(`runs ${command}`, runId, ['--trust-workspace'])
    return new RunTrustError(
      'run-trust-changed',
      `only the trust of the skills of the run ${runId} has changed since it was planned`,
      wasTrusted
        ? `Run ${trustLine}, or skillrail trust.`
        : `${first}${force} continues as they are now.`,
    )
  }
  const retry = line('runs retry', runId)
  const missingGates = lostGates(recordedPlan.root, now.root)
  if (missingGates.length > 0) {
    const removingLine = run.mode === 'stepper' ? retry : force
    const backText = `Put back ${missingGates.length === 1 ? 'the gate' : 'the gates'}`
    const canRemove = signedGates(recordedPlan.root, missingGates).length === 0
    return new RunStateError(
      'gates-removed',
      `the run ${runId} needs an approval of ${missingGates.join(', ')}, which its skills no longer ask for`,
      canRemove
        ? `${backText}. ${first}${removingLine} asks a user in a terminal to remove ${missingGates.length === 1 ? 'it' : 'them'} from the run.`
        : `${backText}, or start a new run: no question removes a signed gate.`,
    )
  }
  return new RunStateError(
    'plan-changed',
    `the skills of the run ${runId} were changed since it was planned`,
    `${first}${retry} reuses its successes; ${force} continues with the changed plan.`,
  )
}

function withoutTrust(root: PlannedChain): string {
  const isTrust = (key: string) => key === 'trust' || key === 'sandboxed'
  return JSON.stringify(root, (key, value: unknown) => (isTrust(key) ? undefined : value))
}
