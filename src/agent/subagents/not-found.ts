import { basename } from 'node:path'
import { type Diagnostic, hasErrors, nearest, safeLine } from '../../base/index.ts'
import { SubagentDelegationError, SubagentNotFoundError } from '../errors.ts'
import type { BrokenAgent, WithheldAgent } from './discover-agents.ts'

/** What a search found that cannot be delegated to. */
export interface UnusableAgents {
  withheld: readonly WithheldAgent[]
  broken: readonly BrokenAgent[]
}

/**
 * The error for a name that no subagent has: what there is, what was meant, what is withheld, and what
 * is wrong with a file that should define it.
 */
export function subagentNotFound(
  name: string,
  known: readonly string[],
  { withheld, broken }: UnusableAgents = { withheld: [], broken: [] },
): SubagentNotFoundError {
  const refused = withheld.find((agent) => agent.name === name)
  if (refused !== undefined) {
    return new SubagentNotFoundError({
      code: 'subagent-untrusted',
      message: `The subagent ${safeLine(name)} is not used: ${refused.reason} (${refused.path}).`,
      hint: refused.hint,
    })
  }
  const unreadable = broken.find(
    (file) => file.name === name || basename(file.path, '.md') === name,
  )
  if (unreadable !== undefined) return fileBroken(name, unreadable)
  const meant = nearest(name, known)
  const guess = meant === undefined ? '' : `Did you mean ${meant}? `
  const list = known.length === 0 ? 'There are none.' : `There are ${known.join(', ')}.`
  return new SubagentNotFoundError({
    code: 'subagent-not-found',
    message: `There is no subagent called ${safeLine(name)}.`,
    hint: `${guess}${list}`,
  })
}

function fileBroken(name: string, { path, diagnostics }: BrokenAgent): SubagentNotFoundError {
  const errors: Diagnostic[] = diagnostics.filter((one) => hasErrors([one]))
  return new SubagentNotFoundError({
    code: 'subagent-broken',
    message: `The subagent ${safeLine(name)} cannot be used, because its file is broken: ${path}`,
    diagnostics: errors,
    hint: 'Mend the file; skillrail agents validate checks it.',
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
