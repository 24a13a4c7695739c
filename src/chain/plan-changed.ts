import { type ChainError, RunStateError, RunTrustError } from './errors.ts'
import { planDigest } from './plan.ts'
import { isChain, type Plan, type PlannedChain, type PlannedStep } from './plan-model.ts'
import type { RunJournal } from './run-journal.ts'
import { type RunLine, runLine } from './run-line.ts'

/**
 * Why a run cannot continue the plan as it is now; undefined where the plan is the same. A change
 * of trust alone is reported as such. `command` continues the run: `resume`, or `approve` where it
 * waits.
 */
export function planChanged(
  journal: Pick<RunJournal, 'run' | 'plan' | 'status'>,
  now: Plan,
  command: 'resume' | 'approve' = 'resume',
  line: RunLine = runLine,
): ChainError | undefined {
  const { run, plan: before, status } = journal
  const { runId } = run
  if (now.digest === before.digest) return undefined
  // A run that waits on a server keeps the plan that it was given.
  const isHeld = run.server !== undefined && status === 'waiting'
  const first = isHeld ? `After ${line('runs cancel', runId)}: ` : ''
  const force = line('runs resume', runId, ['--force'])
  if (planDigest(withoutTrust(before.root)) === planDigest(withoutTrust(now.root))) {
    const trusting = line(`runs ${command}`, runId, ['--trust-workspace'])
    return trustChanged(runId, before, trusting, `${first}${force}`)
  }
  return new RunStateError({
    code: 'plan-changed',
    message: `the skills of the run ${runId} were changed since it was planned`,
    hint: `${first}${line('runs retry', runId)} makes a new run that reuses its successes; ${force} continues with the changed plan.`,
  })
}

function trustChanged(runId: string, before: Plan, trusting: string, force: string): RunTrustError {
  const wasTrusted = isTrusted(before.root)
  return new RunTrustError({
    code: 'run-trust-changed',
    message: wasTrusted
      ? `the skills of the run ${runId} were trusted when it was planned, and now they are not; nothing in them was changed`
      : `not all skills of the run ${runId} were trusted when it was planned as they are now; nothing in them was changed`,
    hint: wasTrusted
      ? `${trusting} continues as it started; skillrail trust trusts them for good.`
      : `${force} continues with the skills trusted as they are now.`,
  })
}

function isTrusted(step: PlannedStep): boolean {
  return step.trust === 'trusted' && (!isChain(step) || step.steps.every(isTrusted))
}

function withoutTrust(chain: PlannedChain): PlannedChain {
  return {
    ...chain,
    trust: 'untrusted',
    sandboxed: undefined,
    steps: chain.steps.map((step) =>
      isChain(step)
        ? withoutTrust(step)
        : { ...step, trust: 'untrusted' as const, sandboxed: undefined },
    ),
  }
}
