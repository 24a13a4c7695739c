import type { Diagnostic } from '../base/index.ts'
import type { ChainDeclaration } from '../skill/index.ts'

/** Policies that contradict themselves. */
export function checkPolicy(chain: ChainDeclaration, path: string): Diagnostic[] {
  const found = conflicts.flatMap(({ applies, ...finding }) => (applies(chain) ? [finding] : []))
  const place = { path, line: chain.line }
  return found.map((finding) => ({ ...finding, ...place }))
}

interface Conflict extends Pick<Diagnostic, 'code' | 'severity' | 'message' | 'hint'> {
  applies: (chain: ChainDeclaration) => boolean
}

const conflicts: readonly Conflict[] = [
  {
    code: 'race-without-async',
    severity: 'error',
    message: 'race_mode needs async: true; steps in sequence cannot race',
    hint: 'Set async: true, or remove race_mode.',
    applies: ({ policy }) => policy.raceMode && !policy.async,
  },
  {
    code: 'continue-on-success-with-async',
    severity: 'error',
    message: 'continue_on_success needs an order, and async: true has none',
    hint: 'Remove one of the two.',
    applies: ({ policy }) => policy.continueOnSuccess && policy.async,
  },
  {
    code: 'race-ignores-stop-conditions',
    severity: 'warning',
    message:
      'with race_mode the first success decides; continue_on_error: false and early_exit_on are ignored',
    hint: 'Remove them.',
    applies: ({ policy }) =>
      policy.raceMode && (!policy.continueOnError || policy.earlyExitOn !== 'none'),
  },
]
