import type { Diagnostic } from '../core/diagnostic.ts'
import { createDiskLookup } from './lookup.ts'
import { planRun } from './plan.ts'

/**
 * What is wrong with the chain of a skill on the disk besides the skill itself: steps that are
 * missing, cycles, contradictions. What the user has to trust first is left out.
 *
 * @param workspace absolute; paths in diagnostics are relative to it
 */
export function chainProblems(directory: string, workspace: string): readonly Diagnostic[] {
  const trust = { level: 'trusted', reason: '' } as const
  const lookup = createDiskLookup({ workspace, trustOf: () => trust })
  const { facts, diagnostics } = lookup.load(directory)
  if (facts?.chain === undefined) return []
  const plan = planRun(facts, lookup, { instructions: { kind: 'driven' } })
  const known = new Set(diagnostics.map(({ code, line }) => `${code} ${line}`))
  return plan.diagnostics.filter(
    ({ code, line }) => code !== 'race-driven' && !known.has(`${code} ${line}`),
  )
}
