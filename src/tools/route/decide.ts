import { decisionLimits } from './weights.ts'

export interface Standing {
  /** Score of the first candidate, where 1 is one word that no other tool has. */
  first: number
  /** Score of the second; 0 without one. */
  second: number
  /** How many tools the request calls by name. */
  named: number
  /** Whether confirmed examples speak for the first. */
  hasExamples: boolean
}

/**
 * Whether to answer, to offer or to ask. The lead counts in proportion to the root of the score: a
 * small lead is enough when little speaks for anything, and a large one when much speaks for many.
 */
export function decide({
  first,
  second,
  named,
  hasExamples,
}: Standing): 'answer' | 'shortlist' | 'ask' {
  if (named === 1) return 'answer'
  if (named > 1) return 'shortlist'
  if (first < decisionLimits.evidence) return 'ask'
  const limit = hasExamples ? decisionLimits.leadWithExamples : decisionLimits.lead
  return confidence(first, second) >= limit ? 'answer' : 'shortlist'
}

/** The measure that {@link decide} compares; grows with the probability that the first is right. */
export function confidence(first: number, second: number): number {
  return first <= 0 ? 0 : (first - second) / Math.sqrt(first)
}
