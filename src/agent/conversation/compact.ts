import type { ModelMessage, ToolResultPart } from 'ai'
import { estimateTokens } from '#core/text'

export interface ConversationLimits {
  /** Tokens that the messages may take, estimated as characters / 4; default 100,000. */
  budget?: number | undefined
  strategy?: CompactionStrategy | undefined
}

/**
 * Makes a conversation shorter. It gets all messages and the tokens that are left to aim at; it must
 * keep calls and results of tools together, and the content of activated skills. `ask` asks the model
 * of the agent, without tools; its tokens are counted.
 */
export type CompactionStrategy = (
  messages: readonly ModelMessage[],
  target: number,
  ask: (prompt: string) => Promise<string>,
) => readonly ModelMessage[] | Promise<readonly ModelMessage[]>

const defaultBudget = 100_000

async function noModel(): Promise<never> {
  throw new Error('No model can be asked here.')
}

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
  async fit(
    messages: readonly ModelMessage[],
    ask: Parameters<CompactionStrategy>[2] = noModel,
  ): Promise<readonly ModelMessage[]> {
    const candidate = this.visible(messages)
    if (estimateMessages(candidate) <= this.#budget) return candidate
    this.#kept = await this.#strategy(candidate, Math.floor(this.#budget * shareKept), ask)
    this.#all = [...messages]
    return this.#kept
  }

  /** What the model has seen or will see of these messages: always the same beginning, for caches. */
  visible(messages: readonly ModelMessage[]) {
    if (this.#all.length === 0) return messages
    const isSame = this.#all.every((message, index) => message === messages[index])
    return isSame ? [...this.#kept, ...messages.slice(this.#all.length)] : messages
  }
}

/** Results of this many of the last exchanges stay as they are. */
const freshExchanges = 4

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
  const latest = latestContents(pieces)
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
  return leaveOut(shortened, neededOf(pieces), target)
}

const longestText = 4000

/**
 * The strategy by summary: the model sums up the oldest exchanges in one message. What `dropOldest`
 * keeps whole stays whole here too. Where the model fails, the oldest exchanges are left out.
 *
 * @example new Agent({ model, limits: { strategy: summarizeOldest } })
 */
export const summarizeOldest: CompactionStrategy = async (messages, target, ask) => {
  const pieces = exchanges(messages)
  const kept = new Set(neededOf(pieces))
  let room = target / 2
  for (let index = pieces.length - 1; index >= 0 && room > 0; index--) {
    room -= estimateMessages(pieces[index] ?? [])
    if (room > 0) kept.add(index)
  }
  const old = pieces.filter((_, index) => !kept.has(index))
  if (old.length === 0) return dropOldest(messages, target)
  // The end matters more, where there is more than the model can read.
  const lines = old.flat().flatMap(linesOf).join('\n')
  const request = `Sum up this part of a conversation in at most 400 words, for the assistant that continues it. Keep the task, decisions, names, paths, figures, and what is left to do. Answer with the summary alone.\n\n${lines.slice(-target * charactersOfToken)}`
  try {
    const summary = (await ask(request)).slice(0, longestText)
    const content = `[Summary of ${old.length} earlier exchanges]\n${summary}`
    return dropOldest(inPlaceOf(old, pieces, content), target)
  } catch {
    return dropOldest(messages, target)
  }
}

const charactersOfToken = 4

function linesOf(message: ModelMessage): string[] {
  const parts = typeof message.content === 'string' ? [] : message.content
  const made = parts.flatMap((part) =>
    part.type === 'tool-call' ? `calls ${part.toolName} ${JSON.stringify(part.input ?? {})}` : [],
  )
  const texts = [...messageTexts(message), ...made]
  return texts.map((text) => `${message.role}: ${text.slice(0, longestText)}`)
}

/** Pieces that stay: the first and the last prompt, the last piece, the content of skills. */
function neededOf(pieces: readonly Piece[]): Set<number> {
  const isPrompt = (piece: Piece) => piece[0]?.role === 'user'
  const [first, last] = [pieces.findIndex(isPrompt), pieces.findLastIndex(isPrompt)]
  return new Set([first, last, pieces.length - 1, ...latestContents(pieces).values()])
}

function latestContents(pieces: readonly Piece[]): Map<string, number> {
  const latest = new Map<string, number>()
  for (const [index, piece] of pieces.entries()) {
    for (const text of piece.flatMap(skillTexts)) {
      for (const name of skillNames(text)) latest.set(name, index)
    }
  }
  return latest
}

function leaveOut(
  pieces: readonly Piece[],
  needed: ReadonlySet<number>,
  target: number,
): readonly ModelMessage[] {
  let tokens = estimateMessages(pieces.flat())
  const gone: Piece[] = []
  for (const [index, piece] of pieces.entries()) {
    if (tokens <= target) break
    if (needed.has(index)) continue
    gone.push(piece)
    tokens -= estimateMessages(piece)
  }
  const what =
    gone.length === 1 ? 'One earlier exchange was' : `${gone.length} earlier exchanges were`
  return inPlaceOf(gone, pieces, `[${what} left out here to save room.]`)
}

/** The messages with a text where the first of the pieces that are gone was. */
function inPlaceOf(gone: readonly Piece[], pieces: readonly Piece[], content: string) {
  return pieces.flatMap((piece): Piece => {
    if (!gone.includes(piece)) return piece
    return piece === gone[0] ? [{ role: 'user', content }] : []
  })
}

type Piece = readonly ModelMessage[]

function exchanges(messages: readonly ModelMessage[]): readonly Piece[] {
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
function skillTexts(message: ModelMessage) {
  if (message.role === 'user') return messageTexts(message)
  if (message.role !== 'tool') return []
  return message.content.flatMap((part) =>
    part.type === 'tool-result' && part.toolName === skillToolName ? [resultText(part)] : [],
  )
}

function skillNames(text: string) {
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

export function hasText(messages: readonly ModelMessage[], text: string): boolean {
  return messages.some((message) => messageTexts(message).some((part) => part.includes(text)))
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
      else if (part.type === 'tool-result' && part.output.type === 'content') {
        sum += part.output.value.filter(({ type }) => type !== 'text').length * tokensOfFile
      }
    }
  }
  return sum
}
