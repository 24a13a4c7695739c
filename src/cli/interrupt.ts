import { constants } from 'node:os'
import { exitCode, type ExitCode, SkillrailError } from '../base/index.ts'

/**
 * Runs `work` with a signal that Ctrl-C, TERM and a closed terminal abort, so that it can end its
 * children and leave a run that can be resumed. A second Ctrl-C ends the process at once. Under `nohup`
 * it is the same: Node forgets at its start which signals were ignored.
 */
export async function interruptible(
  work: (signal: AbortSignal) => Promise<ExitCode>,
): Promise<ExitCode> {
  const controller = new AbortController()
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  const onSignal = (name: (typeof signals)[number]): void => {
    if (controller.signal.aborted) process.exit(128 + constants.signals[name])
    controller.abort(new Error(`interrupted by ${name}`))
  }
  for (const name of signals) process.on(name, onSignal)
  try {
    const code = await work(controller.signal)
    return controller.signal.aborted ? exitCode.interrupted : code
  } catch (error) {
    throw controller.signal.aborted ? new CancelledError(error) : error
  } finally {
    for (const name of signals) process.off(name, onSignal)
  }
}

/** The person ended the command; what broke off because of that is no failure of its own. */
class CancelledError extends SkillrailError {
  constructor(cause: unknown) {
    super({ code: 'cancelled', message: 'Cancelled.', cause })
  }

  override get exitCode(): ExitCode {
    return exitCode.interrupted
  }
}
