import { estimateTokens } from '../../core/text.ts'
import type { ModelMessage, ToolResultPart } from 'ai'

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

  /**
   * What the model has seen or will see of these messages. The same beginning is sent at every step,
   * which providers cache.
   */
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
  const skills = new Map<string, number>()
  for (const [index, piece] of pieces.entries()) {
    for (const name of piece.flatMap(skillsIn)) skills.set(name, index)
  }
  const isPrompt = (piece: readonly ModelMessage[]): boolean => piece[0]?.role === 'user'
  const needed = new Set([
    pieces.findIndex(isPrompt),
    pieces.findLastIndex(isPrompt),
    pieces.length - 1,
    ...skills.values(),
  ])
  const shortened = pieces.map((piece, index) => {
    const isLater = (name: string): boolean => (skills.get(name) ?? index) > index
    const isOld = index < pieces.length - freshExchanges
    return piece.map((message) => withoutRepeated(message, isLater, isOld))
  })
  return leaveOut(shortened, needed, target)
}

/**
 * The message without contents of skills that come again later, and where it is old without long
 * results of other tools.
 */
function withoutRepeated(
  message: ModelMessage,
  isLater: (name: string) => boolean,
  isOld: boolean,
): ModelMessage {
  if (message.role === 'user' && skillsIn(message).some(isLater)) {
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
  const content = message.content.map((part) => {
    if (part.type !== 'tool-result') return part
    const text = resultText(part)
    const isOfSkill = part.toolName === skillToolName
    if (isOfSkill) return withText(part, text, withoutSkills(text, isLater))
    return isOld && text.length >= shortResult ? withText(part, text, leftOutResult) : part
  })
  return { ...message, content }
}

function withText(part: ToolResultPart, before: string, value: string): ToolResultPart {
  return value === before ? part : { ...part, output: { type: 'text', value } }
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
  const notice: ModelMessage = {
    role: 'user',
    content: `[${what} left out here to save room.]`,
  }
  return pieces.flatMap((piece, index) => {
    if (!gone.has(index)) return piece
    return index === first ? [notice] : []
  })
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

/** The tool that activates a skill; its results are kept whole wherever others are cut. */
export const skillToolName = 'skill'

/**
 * The skills whose content a message holds: in a prompt, where the user activated them, or in the
 * result of the skill tool. What other tools return may look the same and is not.
 */
function skillsIn(message: ModelMessage): readonly string[] {
  const texts = message.role === 'user' ? messageTexts(message) : []
  for (const part of message.role === 'tool' ? message.content : []) {
    if (part.type !== 'tool-result' || part.toolName !== skillToolName) continue
    texts.push(resultText(part))
  }
  return texts.flatMap((text) =>
    Array.from(text.matchAll(/<skill_content name="([^"]*)">/g), ([, name = '']) => name),
  )
}

const ending = '</skill_content>'
const whole = /<skill_content name="([^"]*)">[\s\S]*?<\/skill_content>/g

/** The text with a note in place of each content that comes again later. */
function withoutSkills(text: string, isLater: (name: string) => boolean): string {
  // Behind the last end none is whole: what only begins there is not searched for an end each time.
  const end = text.lastIndexOf(ending) + ending.length
  if (end < ending.length) return text
  const shorter = text
    .slice(0, end)
    .replaceAll(whole, (content, name: string) =>
      isLater(name) ? `[The content of the skill ${name} follows later.]` : content,
    )
  return shorter + text.slice(end)
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
