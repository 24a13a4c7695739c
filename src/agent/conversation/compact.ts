import type { ModelMessage, ToolResultPart } from 'ai'
import { estimateMessages, resultText, skillsIn, skillToolName, withoutSkills } from './messages.ts'

export interface ConversationLimits {
  /** Tokens that the messages may take, estimated as characters / 4; default 100,000. */
  budget?: number | undefined
  /** Default {@link dropOldest}. */
  strategy?: CompactionStrategy | undefined
}

const defaultBudget = 100_000

/** The share that is left after a conversation was shortened, so that this is not done at every step. */
const room = 0.7

/** Makes a conversation fit before it is sent, and remembers how it did. */
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
    this.#kept = await this.#strategy(candidate, Math.floor(this.#budget * room))
    this.#all = [...messages]
    return this.#kept
  }

  /**
   * What the model has seen or will see of these messages. The same beginning is sent at every step,
   * which providers cache.
   */
  visible(messages: readonly ModelMessage[]): readonly ModelMessage[] {
    const isSame = this.#all.every((message, index) => message === messages[index])
    return isSame ? [...this.#kept, ...messages.slice(this.#all.length)] : messages
  }
}

/**
 * Makes a conversation shorter. It gets all messages and the tokens that are left to aim at; it must
 * keep calls and results of tools together, and the content of activated skills.
 */
export type CompactionStrategy = (
  messages: readonly ModelMessage[],
  target: number,
) => readonly ModelMessage[] | Promise<readonly ModelMessage[]>

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
  const skills = latestSkills(pieces)
  const fresh = pieces.length - freshExchanges
  const shortened = pieces.map((piece, index) => {
    const once = piece.map((message) =>
      withSkillsOnce(message, (name) => (skills.get(name) ?? index) > index),
    )
    return index >= fresh ? once : once.map(withoutResults)
  })
  return leaveOut(shortened, neededPieces(pieces, skills), target)
}

/** The piece with the latest content of each skill. */
function latestSkills(pieces: readonly (readonly ModelMessage[])[]): ReadonlyMap<string, number> {
  const latest = new Map<string, number>()
  pieces.forEach((piece, index) => {
    for (const name of piece.flatMap(skillsIn)) latest.set(name, index)
  })
  return latest
}

/** Pieces that stay: the first prompt, the last prompt, the last piece, and each skill's content. */
function neededPieces(
  pieces: readonly (readonly ModelMessage[])[],
  skills: ReadonlyMap<string, number>,
): ReadonlySet<number> {
  const isPrompt = (piece: readonly ModelMessage[]): boolean => piece[0]?.role === 'user'
  const prompts = [pieces.findIndex(isPrompt), pieces.findLastIndex(isPrompt)]
  return new Set([...prompts, pieces.length - 1, ...skills.values()])
}

function withSkillsOnce(message: ModelMessage, isLater: (name: string) => boolean): ModelMessage {
  if (!skillsIn(message).some(isLater)) return message
  if (message.role === 'user') {
    const { content } = message
    if (typeof content === 'string') return { ...message, content: withoutSkills(content, isLater) }
    return {
      ...message,
      content: content.map((part) =>
        part.type === 'text' ? { ...part, text: withoutSkills(part.text, isLater) } : part,
      ),
    }
  }
  if (message.role !== 'tool') return message
  return {
    ...message,
    content: message.content.map((part) =>
      part.type === 'tool-result' && part.toolName === skillToolName
        ? withText(part, withoutSkills(resultText(part), isLater))
        : part,
    ),
  }
}

function withoutResults(message: ModelMessage): ModelMessage {
  if (message.role !== 'tool') return message
  return {
    ...message,
    content: message.content.map((part) =>
      part.type === 'tool-result' && part.toolName !== skillToolName ? shortened(part) : part,
    ),
  }
}

function shortened(part: ToolResultPart): ToolResultPart {
  if (resultText(part).length < shortResult) return part
  return withText(part, leftOutResult)
}

function withText(part: ToolResultPart, value: string): ToolResultPart {
  return { ...part, output: { type: 'text', value } }
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
  const first = Math.min(...gone)
  return pieces.flatMap((piece, index) => {
    if (!gone.has(index)) return piece
    return index === first ? [leftOutNotice(gone.size)] : []
  })
}

function leftOutNotice(count: number): ModelMessage {
  const what = count === 1 ? 'One earlier exchange was' : `${count} earlier exchanges were`
  return { role: 'user', content: `[${what} left out here to save room.]` }
}

/**
 * A conversation in pieces that can be left out without breaking it: calls of tools stay with their
 * results. Every message is in one piece, in order.
 */
function exchanges(messages: readonly ModelMessage[]): readonly (readonly ModelMessage[])[] {
  const pieces: ModelMessage[][] = []
  for (const message of messages) {
    const last = pieces.at(-1)
    if (message.role === 'tool' && last !== undefined) last.push(message)
    else pieces.push([message])
  }
  return pieces
}
