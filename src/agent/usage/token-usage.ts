import type { TokenUsage } from '../model.ts'

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
  return {
    inputTokens: now.inputTokens - before.inputTokens,
    outputTokens: now.outputTokens - before.outputTokens,
    cachedInputTokens: now.cachedInputTokens - before.cachedInputTokens,
    reasoningTokens: now.reasoningTokens - before.reasoningTokens,
    requests: now.requests - before.requests,
  }
}
