import type { ModelMessage } from 'ai'
import { type CompactionStrategy, dropOldest } from './compact.ts'
import { estimateMessages } from './estimate.ts'

export interface ConversationLimits {
  /** Tokens that the messages may take, estimated as characters / 4; default 100,000. */
  budget?: number | undefined
  /** Default {@link dropOldest}. */
  strategy?: CompactionStrategy | undefined
}

/** Makes a conversation fit before it is sent, and remembers how it did. */
export interface Compactor {
  /** What is sent instead of these messages. They may only have grown since the last time. */
  fit(messages: readonly ModelMessage[]): readonly ModelMessage[] | Promise<readonly ModelMessage[]>
  /** What the model has seen or will see of these messages. */
  visible(messages: readonly ModelMessage[]): readonly ModelMessage[]
}

export const defaultBudget = 100_000

/** How much is left after a conversation was made shorter, so that this is not done at every step. */
const room = 0.7

export function createCompactor(limits: ConversationLimits = {}): Compactor {
  const { budget = defaultBudget, strategy = dropOldest } = limits
  let before: { all: readonly ModelMessage[]; kept: readonly ModelMessage[] } = {
    all: [],
    kept: [],
  }
  let estimated: { messages: readonly ModelMessage[]; tokens: number } = { messages: [], tokens: 0 }

  /** The same beginning is sent at every step, which providers keep and charge less for. */
  function visible(messages: readonly ModelMessage[]): readonly ModelMessage[] {
    const { all, kept } = before
    if (all.length === 0) return messages
    const isSame = all.every((message, index) => message === messages[index])
    return isSame ? [...kept, ...messages.slice(all.length)] : messages
  }

  return {
    visible,
    fit(messages) {
      const candidate = visible(messages)
      return tokensOf(candidate) <= budget ? candidate : shorten(messages, candidate)
    },
  }

  /** Messages do not change, so only those that came since the last time are estimated. */
  function tokensOf(messages: readonly ModelMessage[]): number {
    const known = estimated.messages
    const isGrown = known.every((message, index) => message === messages[index])
    const tokens = isGrown
      ? estimated.tokens + estimateMessages(messages.slice(known.length))
      : estimateMessages(messages)
    estimated = { messages, tokens }
    return tokens
  }

  async function shorten(
    messages: readonly ModelMessage[],
    candidate: readonly ModelMessage[],
  ): Promise<readonly ModelMessage[]> {
    const kept = await strategy(candidate, Math.floor(budget * room))
    before = { all: [...messages], kept }
    return kept
  }
}
