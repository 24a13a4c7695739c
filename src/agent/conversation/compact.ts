import type { ModelMessage, ToolResultPart } from 'ai'
import { estimateTokens } from '../../core/text.ts'

export interface ConversationLimits {
  /** Tokens that the messages may take, estimated as characters / 4; default 100,000. */
  budget?: number | undefined
  strategy?: CompactionStrategy | undefined
}

/**
 * Makes a conversation shorter. It gets all messages and the tokens that are left to aim at; it must
 * keep calls and results of tools together, and the content of activated skills.
 */
export type CompactionStrategy = (
  messages: readonly ModelMessage[],
  target: number,
) => readonly ModelMessage[] | Promise<readonly ModelMessage[]>

const defaultBudget = 100_000

/** The share that is left after a conversation was shortened, so that this is not done at every step. */
const shareKept = 0.7

export class Compactor {
  readonly #budget: number
  readonly #strategy: CompactionStrategy
  #all: readonly ModelMessage[] = []
  #kept: readonly ModelMessage[] = []

  constructor({ budget = defaultBudget, strategy = dropOldest }: ConversationLimits = {}) {
    this.#budget = budget
    this.#strategy = strategy
  }

  /** What is sent instead of these messages. They may only have grown since the last time. */
  async fit(messages: readonly ModelMessage[]): Promise<readonly ModelMessage[]> {
    const candidate = this.visible(messages)
    if (estimateMessages(candidate) <= this.#budget) return candidate
    this.#kept = await this.#strategy(candidate, Math.floor(this.#budget * shareKept))
    this.#all = [...messages]
    return this.#kept
  }

  /** What the model has seen or will see of these messages: always the same beginning, for caches. */
  visible(messages: readonly ModelMessage[]): readonly ModelMessage[] {
    const isSame = this.#all.every((message, index) => message === messages[index])
    return isSame ? [...this.#kept, ...messages.slice(this.#all.length)] : messages
  }
}

/** Results of this many of the last exchanges stay as they are. */
const freshExchanges = 4

/** A result shorter than this is not worth a notice. */
const shortResult = 400

const leftOutResult = '[This result was left out to save room. Call the tool again if you need it.]'

/**
 * The strategy without a model: old results of tools go first, then the oldest exchanges. The first
 * prompt, the last exchanges, and the latest content of every activated skill stay whole. A
 * conversation that is short enough is returned as it is.
 */
export function dropOldest(
  messages: readonly ModelMessage[],
  target: number,
): readonly ModelMessage[] {
  if (estimateMessages(messages) <= target) return messages
  const pieces = exchanges(messages)
  /** The piece with the latest content of each skill. */
  const latest = new Map<string, number>()
  for (const [index, piece] of pieces.entries()) {
    for (const text of piece.flatMap(skillTexts)) {
      for (const name of skillNames(text)) latest.set(name, index)
    }
  }
  const shortened = pieces.map((piece, index) =>
    piece.map((message): ModelMessage => {
      if (message.role !== 'tool') return message
      const content = message.content.map((part) => {
        if (part.type !== 'tool-result') return part
        const text = resultText(part)
        const isLeftOut =
          part.toolName === skillToolName
            ? skillNames(text).some((name) => latest.get(name) !== index)
            : index < pieces.length - freshExchanges
        if (!isLeftOut || text.length < shortResult) return part
        return { ...part, output: { type: 'text' as const, value: leftOutResult } }
      })
      return { ...message, content }
    }),
  )
  const isPrompt = (piece: readonly ModelMessage[]): boolean => piece[0]?.role === 'user'
  const [first, last] = [pieces.findIndex(isPrompt), pieces.findLastIndex(isPrompt)]
  return leaveOut(shortened, new Set([first, last, pieces.length - 1, ...latest.values()]), target)
}

function leaveOut(
  pieces: readonly (readonly ModelMessage[])[],
  needed: ReadonlySet<number>,
  target: number,
): readonly ModelMessage[] {
  let tokens = estimateMessages(pieces.flat())
  const gone = new Set<number>()
  for (const [index, piece] of pieces.entries()) {
    if (tokens <= target) break
    if (needed.has(index)) continue
    gone.add(index)
    tokens -= estimateMessages(piece)
  }
  const [first] = gone
  const what = gone.size === 1 ? 'One earlier exchange was' : `${gone.size} earlier exchanges were`
  const content = `[${what} left out here to save room.]`
  return pieces.flatMap((piece, index): readonly ModelMessage[] => {
    if (!gone.has(index)) return piece
    return index === first ? [{ role: 'user', content }] : []
  })
}

/** A conversation in pieces that can be left out: calls of tools stay with their results. */
function exchanges(messages: readonly ModelMessage[]): readonly (readonly ModelMessage[])[] {
  const pieces: ModelMessage[][] = []
  for (const message of messages) {
    const last = pieces.at(-1)
    if (message.role === 'tool' && last !== undefined) last.push(message)
    else pieces.push([message])
  }
  return pieces
}

/** The tool that activates a skill; its results are kept whole wherever others are cut. */
export const skillToolName = 'skill'

/** Texts that may hold content of skills. What other tools return may look the same and is not. */
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

/** Every text in a message: of prompts, answers, and results of tools. Not the inputs of calls. */
export function messageTexts({ content }: ModelMessage): string[] {
  if (typeof content === 'string') return [content]
  return content.flatMap((part) => {
    if (part.type === 'text' || part.type === 'reasoning') return [part.text]
    return part.type === 'tool-result' ? [resultText(part)] : []
  })
}

function resultText({ output }: ToolResultPart): string {
  switch (output.type) {
    case 'text':
    case 'error-text':
      return output.value
    case 'json':
    case 'error-json':
      return JSON.stringify(output.value)
    case 'execution-denied':
      return output.reason ?? ''
    case 'content':
      return output.value.map((part) => (part.type === 'text' ? part.text : '')).join('\n')
  }
}

/** An image or a file, whose bytes say nothing of its tokens. */
const tokensOfFile = 1500

/** What the roles and names around a message cost. */
const tokensOfMessage = 4

export function estimateMessages(messages: readonly ModelMessage[]): number {
  let sum = messages.length * tokensOfMessage
  for (const message of messages) {
    for (const text of messageTexts(message)) sum += estimateTokens(text)
    for (const part of typeof message.content === 'string' ? [] : message.content) {
      if (part.type === 'tool-call') sum += estimateTokens(JSON.stringify(part.input ?? null))
      else if (part.type === 'file' || part.type === 'image') sum += tokensOfFile
    }
  }
  return sum
}
