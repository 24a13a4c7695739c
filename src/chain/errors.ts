import { exitCode, type ExitCode, SkillrailError, type SkillrailErrorFacts } from '#core/errors'
import { didYouMean } from '#core/text'

export class ChainError extends SkillrailError {
  constructor(code: string, message: string, hint?: string, more?: Partial<SkillrailErrorFacts>) {
    super({ code, message, hint, ...more })
  }
}

/** The chain cannot run as declared; `diagnostics` lists all of its problems. */
export class ChainPlanError extends ChainError {
  override readonly exitCode: ExitCode = exitCode.notFound
}

export class RunNotFoundError extends ChainError {
  override readonly exitCode: ExitCode = exitCode.notFound
}

/** The error for `latest` in a project without runs. */
export function noRuns(): RunNotFoundError {
  const hint = 'skillrail run SKILL makes one.'
  return new RunNotFoundError('run-not-found', 'this project has no runs', hint)
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

/** The journal or the files for a step could not be written. The run stops, and can continue later. */
export class RunFilesError extends ChainError {}

export class RunBusyError extends ChainError {}

/** The run cannot continue: it has ended, its skills have changed, or it waits for something else. */
export class RunStateError extends ChainError {}

/** The trust of the skills has changed since the run was planned. */
export class RunTrustError extends ChainError {
  override readonly exitCode: ExitCode = exitCode.refused
}

/** Only a user at a terminal may make this decision. */
export class ApprovalRefusedError extends ChainError {
  override readonly exitCode: ExitCode = exitCode.refused
}
