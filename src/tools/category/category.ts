/** A group of tools: a label for people, a prior for routing and a trigger of workflows; never a filter. */
export interface Category {
  /** Canonical, lowercase-hyphenated: `browser`. */
  name: string
  /** One sentence. */
  description: string
  keywords: readonly string[]
  /** Ids of its tools, in code-point order. */
  tools: readonly string[]
}
