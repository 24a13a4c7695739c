import { systemReason } from '../base/index.ts'
import type { ProcessEnd, ProcessRequest } from './process.ts'
import { whatIsMissing } from './what-is-missing.ts'

/**
 * The end of a program that could not be started. The system says ENOENT of the program also where
 * something else is missing: then that is named first.
 *
 * @param message of the system, in the words of Node.
 */
export function startFailure(
  request: Pick<ProcessRequest, 'file' | 'cwd'>,
  message: string,
): ProcessEnd {
  const code = / (E[A-Z0-9]+)$/.exec(message)?.[1]
  const reason = code === 'ENOENT' ? whatIsMissing(request) : systemReason(code)
  return {
    kind: 'not-started',
    message: reason === undefined ? message : `${reason} (${message})`,
  }
}
