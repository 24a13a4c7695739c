import { exitCode, type ExitCode, SkillrailError, type SkillrailErrorFacts } from '#core/errors'
import { didYouMean } from '#core/text'

export class ChainError extends SkillrailError {
  constructor(code: string, message: string, hint?: string, more?: Partial<SkillrailErrorFacts>) {
    super({ code, message, hint, ...more })
  }
}

/** The chain cannot run as it is declared; `diagnostics` lists everything that is wrong with it. */
export class ChainPlanError extends ChainError {
  override readonly exitCode: ExitCode = exitCode.notFound
}

export class RunNotFoundError extends ChainError {
  override readonly exitCode: ExitCode = exitCode.notFound
}

export function runNotFound(runId: string): RunNotFoundError {
  return new RunNotFoundError(
    'run-not-found',
    `there is no run ${runId}`,
    'skillrail runs list shows the runs of this project.',
  )
}

class StepNotFoundError extends ChainError {
  override readonly exitCode: ExitCode = exitCode.notFound
}

/** The error for a step that `owner`, a skill or a run, does not have. */
export function stepUnknown(
  owner: string,
  step: string,
  names: readonly string[],
): StepNotFoundError {
  return new StepNotFoundError(
    'step-unknown',
    `${owner} has no step ${step}`,
    didYouMean(step, names) || `Its steps are ${names.join(', ')}.`,
  )
}

/** The journal, or what a step is given, could not be written: the run stops, and can continue later. */
export class RunFilesError extends ChainError {}

export class RunBusyError extends ChainError {}

/** The run cannot continue as asked: it has ended, its skills have changed, it waits for something else. */
export class RunStateError extends ChainError {}

/** The skills of the run are trusted otherwise than when it was planned. */
export class RunTrustError extends ChainError {
  override readonly exitCode: ExitCode = exitCode.refused
}

/** A user has to decide, and only a user at a terminal may. */
export class ApprovalRefusedError extends ChainError {
  override readonly exitCode: ExitCode = exitCode.refused
}
