import { nearest, safeLine } from '../../base/index.ts'
import { SubagentDelegationError, SubagentNotFoundError } from '../errors.ts'
import type { WithheldAgent } from './discover-agents.ts'

/** The error for a name that no subagent has: what there is, what was meant, what is withheld. */
export function subagentNotFound(
  name: string,
  known: readonly string[],
  withheld: readonly WithheldAgent[] = [],
): SubagentNotFoundError {
  const refused = withheld.find((agent) => agent.name === name)
  if (refused !== undefined) {
    return new SubagentNotFoundError({
      code: 'subagent-untrusted',
      message: `The subagent ${safeLine(name)} is not used: ${refused.reason} (${refused.path}).`,
      hint: refused.hint,
    })
  }
  const meant = nearest(name, known)
  const guess = meant === undefined ? '' : `Did you mean ${meant}? `
  const list = known.length === 0 ? 'There are none.' : `There are ${known.join(', ')}.`
  return new SubagentNotFoundError({
    code: 'subagent-not-found',
    message: `There is no subagent called ${safeLine(name)}.`,
    hint: `${guess}${list}`,
  })
}

/** The error for a delegation that is asked to go on before it is over. */
export function stillRunning(id: string, name: string): SubagentDelegationError {
  return new SubagentDelegationError({
    code: 'delegation-running',
    message: `The delegation ${id} to ${name} is not over.`,
    hint: 'Send it a message, or wait for its result.',
  })
}

/** The error for a delegation that nobody knows any more. */
export function notKept(id: string, known: readonly string[]): SubagentDelegationError {
  const list = known.length === 0 ? 'There are none.' : `There are ${known.join(', ')}.`
  return new SubagentDelegationError({
    code: 'delegation-unknown',
    message: `There is no finished delegation ${id} to resume.`,
    hint: `Only the last ones are kept. ${list}`,
  })
}
