import type { ModelMessage } from 'ai'
import { estimateTokens } from '../../skill/index.ts'
import { messageTexts } from './message-text.ts'

/** An image or a file, whose bytes say nothing of its tokens. */
const tokensOfFile = 1500

/** What the roles and names around a message cost. */
const tokensOfMessage = 4

/** Tokens of the messages, estimated as characters / 4. */
export function estimateMessages(messages: readonly ModelMessage[]): number {
  return messages.reduce((sum, message) => sum + estimateMessage(message), 0)
}

function estimateMessage(message: ModelMessage): number {
  const { content } = message
  if (typeof content === 'string') return tokensOfMessage + estimateTokens(content)
  const texts = messageTexts(message).reduce((sum, text) => sum + estimateTokens(text), 0)
  return tokensOfMessage + texts + otherParts(content)
}

function otherParts(content: Exclude<ModelMessage['content'], string>): number {
  let sum = 0
  for (const part of content) {
    if (part.type === 'tool-call') sum += estimateTokens(JSON.stringify(part.input ?? null))
    else if (part.type === 'file' || part.type === 'image') sum += tokensOfFile
  }
  return sum
}
