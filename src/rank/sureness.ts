/** What speaks for the first document being meant; shares are 0 to 1. */
export interface Evidence {
  /** Its score, as a part of what the words of the sentence can reach. */
  reached: number
  /** How far it is ahead of the second, as a part of its score. */
  lead: number
  /** The part of the sentence's words that it has. */
  covered: number
  /** The part of its name that the sentence says. */
  name: number
  /** Likeness to its nearest example. */
  example: number
  /** How many words the sentence has. */
  words: number
  /** How many others score nearly as much. */
  rivals: number
}

/**
 * Returns the probability that the first document is meant: a logistic regression that was fitted
 * on MetaTool without and with examples, and on single steps over large and small catalogues.
 */
export function sureness(evidence: Evidence): number {
  const { reached, lead, covered, name, example, words, rivals } = evidence
  if (reached <= 0) return 0
  const sum =
    -4.2 +
    Math.log(1 + reached) +
    1.4 * lead +
    1.3 * Math.sqrt(lead * Math.min(1, reached)) +
    2 * covered +
    0.6 * name -
    0.5 * example +
    0.9 * Math.log(1 + words) -
    0.4 * Math.log(1 + rivals)
  const probability = 1 / (1 + Math.exp(-sum))
  return example > 0.95 && lead > 0.1 ? Math.max(probability, 0.95) : probability
}
