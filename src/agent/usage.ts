import type { TokenUsage, UsageEntry } from './types.ts'

/** What was used so far, at one moment. Sums of parts add up to `total`. */
export interface UsageReport {
  total: TokenUsage
  /** Of the agent's own model calls. */
  own: TokenUsage
  /** Of all delegations. */
  descendants: TokenUsage
  /** By the model that answered, as it names itself. */
  byModel: Readonly<Record<string, TokenUsage>>
  byAgent: Readonly<Record<string, TokenUsage>>
  byDelegation: Readonly<Record<string, TokenUsage>>
  /** One a model, agent and delegation, in the order of their first bookings. */
  entries: readonly UsageEntry[]
}

/**
 * Records every model call when its usage is known, so that a run that fails or is cancelled
 * later is complete too.
 */
export interface UsageLedger {
  record(entry: UsageEntry): void
  report(): UsageReport
}

export function createUsageLedger(): UsageLedger {
  const entries = new Map<string, UsageEntry>()
  return {
    record(entry) {
      const key = JSON.stringify([entry.model, entry.agent, entry.delegation])
      const used = entries.get(key)?.usage ?? noUsage
      entries.set(key, { ...entry, usage: addUsage(used, entry.usage) })
    },
    report: () => reportOf([...entries.values()]),
  }
}

function reportOf(entries: readonly UsageEntry[]): UsageReport {
  return {
    total: sumOf(entries),
    own: sumOf(entries.filter(({ delegation }) => delegation === undefined)),
    descendants: sumOf(entries.filter(({ delegation }) => delegation !== undefined)),
    byModel: sumsBy(entries, ({ model }) => model),
    byAgent: sumsBy(entries, ({ agent }) => agent),
    byDelegation: sumsBy(entries, ({ delegation }) => delegation),
    entries,
  }
}

function sumOf(entries: readonly UsageEntry[]): TokenUsage {
  return addUsage(...entries.map(({ usage }) => usage))
}

function sumsBy(
  entries: readonly UsageEntry[],
  keyOf: (entry: UsageEntry) => string | undefined,
): Record<string, TokenUsage> {
  const sums = new Map<string, TokenUsage>()
  for (const entry of entries) {
    const key = keyOf(entry)
    if (key !== undefined) sums.set(key, addUsage(sums.get(key) ?? noUsage, entry.usage))
  }
  return Object.fromEntries(sums)
}

export const noUsage: TokenUsage = {
  inputTokens: 0,
  outputTokens: 0,
  cachedInputTokens: 0,
  reasoningTokens: 0,
  requests: 0,
}

/** The sum, as a new value. */
export function addUsage(...parts: readonly TokenUsage[]): TokenUsage {
  const sum = { ...noUsage }
  for (const part of parts) {
    sum.inputTokens += part.inputTokens
    sum.outputTokens += part.outputTokens
    sum.cachedInputTokens += part.cachedInputTokens
    sum.reasoningTokens += part.reasoningTokens
    sum.requests += part.requests
  }
  return sum
}

/** What came since `before`. */
export function subtractUsage(now: TokenUsage, before: TokenUsage): TokenUsage {
  const negative = Object.entries(before).map(([key, value]) => [key, -value])
  return addUsage(now, { ...before, ...Object.fromEntries(negative) })
}
