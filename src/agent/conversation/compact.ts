import type { ModelMessage } from 'ai'
import { estimateMessages, messageTexts, resultText, skillToolName } from './messages.ts'

export interface ConversationLimits {
  /** Maximum number of tokens in the messages, estimated as characters / 4; default 100,000. */
  budget?: number | undefined
  strategy?: CompactionStrategy | undefined
}

/**
 * Shortens a conversation. It gets all messages and the number of tokens to aim at. It must keep
 * each tool call with its result, and the content of activated skills. `ask` calls the agent's model
 * without tools; its tokens are counted.
 */
export type CompactionStrategy = (
  messages: readonly ModelMessage[],
  target: number,
  ask: AskModel,
) => readonly ModelMessage[] | Promise<readonly ModelMessage[]>

export type AskModel = (prompt: string) => Promise<string>

const defaultBudget = 100_000

/** A strategy aims below the budget, so that not every further step compacts again. */
const targetShare = 0.7

/** Sends a long conversation in a compacted form, and reuses that form while the conversation grows. */
export class Compactor {
  readonly #budget: number
  readonly #strategy: CompactionStrategy
  /** The messages that were compacted last, and what they became. */
  #original: readonly ModelMessage[] = []
  #compacted: readonly ModelMessage[] = []

  constructor({ budget = defaultBudget, strategy = dropOldest }: ConversationLimits = {}) {
    this.#budget = budget
    this.#strategy = strategy
  }

  /** Compacts these messages if they exceed the budget. Between two calls they may only grow. */
  async fit(
    messages: readonly ModelMessage[],
    ask: AskModel = refuseToAsk,
  ): Promise<readonly ModelMessage[]> {
    const current = this.visible(messages)
    if (estimateMessages(current) <= this.#budget) return current
    this.#compacted = await this.#strategy(current, Math.floor(this.#budget * targetShare), ask)
    this.#original = [...messages]
    return this.#compacted
  }

  /**
   * Returns the form of these messages that the model has read or would read. Its beginning stays the
   * same until the next compaction, so that the provider's cache remains valid.
   */
  visible(messages: readonly ModelMessage[]): readonly ModelMessage[] {
    if (this.#original.length === 0) return messages
    const isContinuation = this.#original.every((message, index) => message === messages[index])
    if (!isContinuation) return messages
    return [...this.#compacted, ...messages.slice(this.#original.length)]
  }
}

async function refuseToAsk(): Promise<never> {
  throw new Error('No model can be asked here.')
}

/**
 * Compacts without a model: first the old tool results go, then the oldest exchanges. The first
 * prompt, the last prompt, the last exchange and the latest content of each activated skill stay
 * whole. A conversation that is short enough is returned unchanged.
 */
export function dropOldest(
  messages: readonly ModelMessage[],
  target: number,
): readonly ModelMessage[] {
  if (estimateMessages(messages) <= target) return messages
  const exchanges = splitExchanges(messages)
  return omitOldest(shortenOldResults(exchanges), requiredExchanges(exchanges), target)
}

/**
 * Compacts with a summary: the model sums up the oldest exchanges in one message. The exchanges that
 * `dropOldest` keeps whole stay whole here too. If the model fails, the oldest exchanges are left out.
 *
 * @example new Agent({ model, limits: { strategy: summarizeOldest } })
 */
export const summarizeOldest: CompactionStrategy = async (messages, target, ask) => {
  const exchanges = splitExchanges(messages)
  const oldExchanges = exchangesToSummarize(exchanges, target)
  if (oldExchanges.length === 0) return dropOldest(messages, target)
  try {
    const summary = (await ask(summaryPrompt(oldExchanges, target))).slice(0, longestText)
    const note = `[Summary of ${oldExchanges.length} earlier exchanges]\n${summary}`
    return dropOldest(replaceExchanges(exchanges, oldExchanges, note), target)
  } catch {
    return dropOldest(messages, target)
  }
}

/** A message, and the tool results that follow it: a call is never separated from its result. */
type Exchange = readonly ModelMessage[]

function splitExchanges(messages: readonly ModelMessage[]): readonly Exchange[] {
  const exchanges: ModelMessage[][] = []
  for (const message of messages) {
    const last = exchanges.at(-1)
    if (message.role === 'tool' && last !== undefined) last.push(message)
    else exchanges.push([message])
  }
  return exchanges
}

/** Indices of the exchanges that stay: first and last prompt, last exchange, contents of skills. */
function requiredExchanges(exchanges: readonly Exchange[]): Set<number> {
  const isPrompt = (exchange: Exchange) => exchange[0]?.role === 'user'
  return new Set([
    exchanges.findIndex(isPrompt),
    exchanges.findLastIndex(isPrompt),
    exchanges.length - 1,
    ...latestContents(exchanges).values(),
  ])
}

/** Returns for each activated skill the index of the last exchange with its content. */
function latestContents(exchanges: readonly Exchange[]): Map<string, number> {
  const latest = new Map<string, number>()
  for (const [index, exchange] of exchanges.entries()) {
    for (const text of exchange.flatMap(skillTexts)) {
      for (const name of skillNames(text)) latest.set(name, index)
    }
  }
  return latest
}

/** Texts that can contain skills. The results of other tools may only look like it. */
function skillTexts(message: ModelMessage): string[] {
  if (message.role === 'user') return messageTexts(message)
  if (message.role !== 'tool') return []
  return message.content.flatMap((part) =>
    part.type === 'tool-result' && part.toolName === skillToolName ? [resultText(part)] : [],
  )
}

function skillNames(text: string): string[] {
  return Array.from(text.matchAll(/<skill_content name="([^"]*)">/g), ([, name = '']) => name)
}

/** The tool results of this many exchanges at the end are not shortened. */
const recentExchanges = 4

/** A shorter result costs hardly more than the note that would replace it. */
const shortResult = 400

const omittedResult = '[This result was left out to save room. Call the tool again if you need it.]'

/** Replaces long results of old exchanges by a note; of a skill, all contents but the latest. */
function shortenOldResults(exchanges: readonly Exchange[]): readonly Exchange[] {
  const latest = latestContents(exchanges)
  return exchanges.map((exchange, index) =>
    exchange.map((message): ModelMessage => {
      if (message.role !== 'tool') return message
      const content = message.content.map((part) => {
        if (part.type !== 'tool-result') return part
        const text = resultText(part)
        const isObsolete =
          part.toolName === skillToolName
            ? skillNames(text).some((name) => latest.get(name) !== index)
            : index < exchanges.length - recentExchanges
        if (!isObsolete || text.length < shortResult) return part
        return { ...part, output: { type: 'text' as const, value: omittedResult } }
      })
      return { ...message, content }
    }),
  )
}

function omitOldest(
  exchanges: readonly Exchange[],
  required: ReadonlySet<number>,
  target: number,
): readonly ModelMessage[] {
  let tokens = estimateMessages(exchanges.flat())
  const omittedExchanges: Exchange[] = []
  for (const [index, exchange] of exchanges.entries()) {
    if (tokens <= target) break
    if (required.has(index)) continue
    omittedExchanges.push(exchange)
    tokens -= estimateMessages(exchange)
  }
  const subject =
    omittedExchanges.length === 1
      ? 'One earlier exchange was'
      : `${omittedExchanges.length} earlier exchanges were`
  return replaceExchanges(exchanges, omittedExchanges, `[${subject} left out here to save room.]`)
}

/** Removes exchanges; a note from the user takes the place of the first one. */
function replaceExchanges(
  exchanges: readonly Exchange[],
  removedExchanges: readonly Exchange[],
  note: string,
): readonly ModelMessage[] {
  return exchanges.flatMap((exchange): Exchange => {
    if (!removedExchanges.includes(exchange)) return exchange
    return exchange === removedExchanges[0] ? [{ role: 'user', content: note }] : []
  })
}

/** All exchanges but the required ones and the last ones that fit into half of the target. */
function exchangesToSummarize(exchanges: readonly Exchange[], target: number): Exchange[] {
  const requiredIndexes = requiredExchanges(exchanges)
  let room = target / 2
  for (let index = exchanges.length - 1; index >= 0 && room > 0; index--) {
    room -= estimateMessages(exchanges[index] ?? [])
    if (room > 0) requiredIndexes.add(index)
  }
  return exchanges.filter((_, index) => !requiredIndexes.has(index))
}

const charactersPerToken = 4

/** If the exchanges are longer than the model can read, the prompt contains their end. */
function summaryPrompt(exchanges: readonly Exchange[], target: number): string {
  const transcript = exchanges.flat().flatMap(transcriptLines).join('\n')
  return `Sum up this part of a conversation in at most 400 words, for the assistant that continues it. Keep the task, decisions, names, paths, figures, and what is left to do. Answer with the summary alone.\n\n${transcript.slice(-target * charactersPerToken)}`
}

/** Maximum number of characters in a summary and in one text of a transcript. */
const longestText = 4000

function transcriptLines(message: ModelMessage): string[] {
  const parts = typeof message.content === 'string' ? [] : message.content
  const calls = parts.flatMap((part) =>
    part.type === 'tool-call' ? `calls ${part.toolName} ${JSON.stringify(part.input ?? {})}` : [],
  )
  return [...messageTexts(message), ...calls].map(
    (text) => `${message.role}: ${text.slice(0, longestText)}`,
  )
}
